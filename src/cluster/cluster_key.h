// The secret that all nodes of a cluster share, and what is derived from it (HKDF with SHA-256).
//
// Nothing is ever sealed with the secret itself: every purpose has a key of its own, and so has every
// life of every node. Whoever learns one of them learns none of the others.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "weir/error.h"

namespace weir::cluster {

using AeadBytes = std::array<uint8_t, 32>;

class ClusterKey {
 public:
  static constexpr size_t kLeastBytes = 32;

  // The text of a key file; white space around it does not count.
  static Result<ClusterKey> FromText(std::string_view text);

  // 32 bytes for `purpose`; `context` tells keys of one purpose apart.
  AeadBytes Derive(std::string_view purpose, std::string_view context = "") const;
  // What keys of limits are hashed with: so that all nodes name a key alike.
  std::array<uint64_t, 2> HashSecret() const;
  // Tells from which key that is, and nothing of it: two nodes compare theirs.
  uint32_t MarkOfNames() const;

  bool operator==(const ClusterKey&) const = default;

 private:
  explicit ClusterKey(std::string secret) : secret_(std::move(secret)) {}

  std::string secret_;
};

}  // namespace weir::cluster
