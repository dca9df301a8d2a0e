// What is wrong with a cluster as one of its nodes sees it, in words that say what to do.
#pragma once

#include <string>

#include "weir/instant.h"

namespace weir::cluster {

struct Problem {
  std::string code;     // for machines: peer_dead, wrong_cluster_key, …
  std::string about;    // the node that it is about; empty: this one, or none
  std::string message;  // for people; without numbers that change by themselves
  Instant since{};
  bool operator==(const Problem&) const = default;
};

}  // namespace weir::cluster
