// The ways of replicating a limit that are compared, by name.
#pragma once

#include <string>
#include <vector>

#include "lab/replicated/spotify.h"

namespace weir::lab {

struct Variant {
  std::string name;
  MakeReplica make;
};

std::vector<Variant> VariantsFor(const SpotifyExperiment& experiment, uint64_t seed);

}  // namespace weir::lab
