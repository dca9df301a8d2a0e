// Where the other nodes are, as --peers says it:
//
//   ID=HOST:PORT,ID=HOST:PORT,…    these, by name
//   file:PATH                      the same, one a line; # begins a comment
//   dns:NAME[:PORT]                every address of a name; who is there is learnt from themselves
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/net/socket_address.h"

namespace weir::cluster {

struct NamedPeer {
  std::string id;
  HostPort place;
};

struct PeerSource {
  enum class Kind { kNamed, kFile, kDns };
  Kind kind = Kind::kNamed;
  std::vector<NamedPeer> named;
  std::string path;
  HostPort name;  // a port of "": this node's own

  // `self`: the id of this node, which is skipped.
  static Result<PeerSource> Parse(std::string_view text, const std::string& self);
  // The lines of a file.
  static Result<std::vector<NamedPeer>> ParseLines(std::string_view text, const std::string& self);
};

// What a file has; nothing if it cannot be read.
std::optional<std::string> ReadTextFile(const std::string& path);

}  // namespace weir::cluster
