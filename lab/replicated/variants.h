// The ways of replicating a limit that are compared, by name.
//
//   counter          the thesis' baseline, which tells a whole bucket when a row of it has changed
//   counter+rows     the same, but only the row is told
//   queue            the thesis' queue; +linf, +frequency, +both: with its extensions
//   queue+margin     the dead are kept for a margin (section 5.4), and queue+frequency+margin; where
//                    it shows, which is set D, or where a margin is set
//   debt             ours
#pragma once

#include <string>
#include <vector>

#include "lab/replicated/settings.h"
#include "lab/replicated/spotify.h"

namespace weir::lab {

struct Variant {
  std::string name;
  MakeReplica make;
};

// Throws std::invalid_argument if the settings name one that is not there.
std::vector<Variant> VariantsFor(const SpotifyExperiment& experiment, const Settings& settings,
                                 uint64_t seed);

}  // namespace weir::lab
