// What --peers comes to when its names are looked up: whom there is to talk to, and what is amiss.
//
//   named    all of them, each with an address that it had before, if it still has it
//   dns      the addresses of the name but this node's own
//
// What cannot be found stays as it was. A name that was never found is not one without addresses: who
// starts then does not know whether it is alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/membership.h"
#include "cluster/net/peer_source.h"

namespace weir::cluster {

class PeerLookup {
 public:
  using Ask = std::function<std::vector<std::string>(const HostPort&, int family)>;

  // `own`: where this node listens. `ask`: as LookUp() does.
  PeerLookup(std::string self, const SocketAddress& own, Ask ask = LookUp)
      : self_(std::move(self)), own_(own), ask_(std::move(ask)) {}

  // Nothing if it was never found. `trouble`: what could not be found; empty if there is nothing.
  std::optional<std::vector<Member>> Look(const PeerSource& source, std::string& trouble);

 private:
  std::vector<Member> LookUpNamed(const std::vector<NamedPeer>& named, std::string& trouble);
  std::vector<Member> Others(const std::vector<std::string>& found) const;

  const std::string self_;
  const SocketAddress own_;
  const Ask ask_;
  std::map<std::string, std::string> known_;       // addresses of named peers
  std::optional<std::vector<std::string>> found_;  // of the one name
};

}  // namespace weir::cluster
