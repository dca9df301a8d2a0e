#include "cluster/net/peer_lookup.h"

#include <algorithm>

namespace weir::cluster {
namespace {

bool Has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

std::optional<std::vector<Member>> PeerLookup::Look(const PeerSource& source,
                                                    std::string& trouble) {
  trouble.clear();
  if (source.kind != PeerSource::Kind::kDns) return LookUpNamed(source.named, trouble);
  HostPort name = source.name;
  if (name.port.empty()) name.port = std::to_string(own_.port());
  std::vector<std::string> found = ask_(name, own_.reaches());
  if (found.empty()) {
    trouble = "\"" + name.host + "\" cannot be found";
  } else {
    found_ = std::move(found);
  }
  if (!found_) return std::nullopt;
  return Others(*found_);
}

std::vector<Member> PeerLookup::LookUpNamed(const std::vector<NamedPeer>& named,
                                            std::string& trouble) {
  std::vector<Member> members;
  for (const NamedPeer& peer : named) {
    const std::vector<std::string> found = ask_(peer.place, own_.reaches());
    std::string& known = known_[peer.place.host + ":" + peer.place.port];
    if (peer.id == self_ && found.empty()) continue;  // it need not find itself
    if (found.empty()) {
      trouble += (trouble.empty() ? "\"" : ", \"") + peer.place.host + "\" (" + peer.id + ")";
    } else if (!Has(found, known)) {
      known = found.front();
    }
    members.push_back({peer.id, known});
  }
  if (!trouble.empty()) trouble += " cannot be found";
  return members;
}

std::vector<Member> PeerLookup::Others(const std::vector<std::string>& found) const {
  const std::vector<std::string> own = OwnAddresses(own_);
  std::vector<Member> members;
  for (const std::string& address : found) {
    if (!Has(own, address)) members.push_back({"", address});
  }
  return members;
}

}  // namespace weir::cluster
