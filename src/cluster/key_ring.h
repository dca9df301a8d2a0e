// The keys of a cluster, as a key file has them, one a line:
//
//   KEY            the first seals
//   KEY            and all open
//   names: KEY     what the keys of limits are named by: its hash secret; else the first key is that
//
// So a key is changed while the cluster runs: everybody learns to open the new one, then seals with it, then
// forgets the old one. The names must not change meanwhile, for then a subject counts anew: hence the
// third line. Empty lines, and those that begin with #, do not count.
#pragma once

#include <optional>
#include <vector>

#include "cluster/cluster_key.h"

namespace weir::cluster {

class KeyRing {
 public:
  static constexpr size_t kMostKeys = 2;

  KeyRing(ClusterKey key) : keys_{std::move(key)} {}  // NOLINT: one key is a ring of one
  static Result<KeyRing> FromText(std::string_view text);

  const ClusterKey& sealing() const { return keys_.front(); }
  const std::vector<ClusterKey>& keys() const { return keys_; }
  // What names keys of limits.
  const ClusterKey& naming() const { return naming_ ? *naming_ : keys_.front(); }

 private:
  explicit KeyRing(std::vector<ClusterKey> keys) : keys_(std::move(keys)) {}

  std::vector<ClusterKey> keys_;
  std::optional<ClusterKey> naming_;
};

}  // namespace weir::cluster
