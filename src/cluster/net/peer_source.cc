#include "cluster/net/peer_source.h"

#include <fstream>
#include <sstream>

#include "cluster/membership.h"

namespace weir::cluster {
namespace {

constexpr std::string_view kFilePrefix = "file:", kDnsPrefix = "dns:";
constexpr std::string_view kSpace = " \t\r";

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

Result<NamedPeer> ParseOne(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Error{Code::kBadRequest, "\"" + std::string(text) + "\" is not ID=HOST:PORT", "peers"};
  }
  const Result<HostPort> place = SplitHostPort(text.substr(equals + 1));
  if (!place) return place.error();
  if (place->host.empty() || place->port == "0") {
    return Error{Code::kBadRequest,
                 "\"" + std::string(text) + "\" needs a host and a port that others can reach",
                 "peers"};
  }
  return NamedPeer{std::string(text.substr(0, equals)), *place};
}

Result<std::vector<NamedPeer>> ParseList(std::string_view text, char separator,
                                         const std::string& self) {
  std::vector<NamedPeer> peers;
  std::vector<Member> members;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    one = Trimmed(separator == '\n' ? one.substr(0, one.find('#')) : one);
    if (one.empty()) continue;
    Result<NamedPeer> peer = ParseOne(one);
    if (!peer) return peer.error();
    members.push_back({peer->id, ""});
    peers.push_back(std::move(*peer));
  }
  if (const auto error = Membership(self, {}).SetMembers(members, Instant{})) return *error;
  return peers;
}

Result<HostPort> ParseDns(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    if (!text.empty()) return HostPort{std::string(text), ""};
    return Error{Code::kBadRequest, "dns: needs a name, as dns:weir.example", "peers"};
  }
  return SplitHostPort(text);
}

}  // namespace

Result<PeerSource> PeerSource::Parse(std::string_view text, const std::string& self) {
  PeerSource source;
  if (text.starts_with(kFilePrefix)) {
    source.kind = Kind::kFile;
    source.path = text.substr(kFilePrefix.size());
    const std::optional<std::string> lines = ReadTextFile(source.path);
    if (!lines) return Error{Code::kBadRequest, source.path + ": cannot be read", "peers"};
    Result<std::vector<NamedPeer>> named = ParseLines(*lines, self);
    if (!named)
      return Error{Code::kBadRequest, source.path + ": " + named.error().message, "peers"};
    return source;
  }
  if (text.starts_with(kDnsPrefix)) {
    source.kind = Kind::kDns;
    Result<HostPort> name = ParseDns(text.substr(kDnsPrefix.size()));
    if (!name) return name.error();
    source.name = std::move(*name);
    return source;
  }
  Result<std::vector<NamedPeer>> named = ParseList(text, ',', self);
  if (!named) return named.error();
  source.named = std::move(*named);
  return source;
}

Result<std::vector<NamedPeer>> PeerSource::ParseLines(std::string_view text,
                                                      const std::string& self) {
  return ParseList(text, '\n', self);
}

std::optional<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace weir::cluster
