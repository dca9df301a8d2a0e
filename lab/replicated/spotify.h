// The experiments of the thesis on replicated limits, on generated traffic.
//
//   a               10 users, five minutes, 68.3 c requests; shares of the users as 1/1 … 1/10
//   b-extreme       one user, a minute, 21.5 c
//   b-substantial   3.2 c
//   b-barely        1.1 c; b-barely-bursty: the same in bursts of a half to a second, 5 to 15 of them
//   b-under         just below the refill rate, two minutes
//   c               5000 users, an hour; most ask seldom, some often (log-normal rates)
//   d               c = 5, a token a second, a request every 0.9 s, 100 s; gossip every 300 ms, and
//                   as d-450 and d-900 less often
//
// The thesis' own traces are not public. Arrivals here are uniform over the time (a Poisson process
// of which the number is known), but for b-under and d, which are regular.
#pragma once

#include <string>
#include <vector>

#include "lab/replicated/simulation.h"

namespace weir::lab {

struct SpotifyExperiment {
  std::string name;
  ReplicatedBucket limit;
  Duration interval = std::chrono::milliseconds(300);  // of gossip, where there is one
  std::vector<SimulatedRequest> requests;
};

struct SpotifyDescription {
  std::string name;
  std::string what;
  std::string takes;  // one run of all usual variants
  int runs = 10;      // unless others are asked for
};

// As they are run: "spotify-a", ….
const std::vector<SpotifyDescription>& SpotifyDescriptions();
// Throws std::invalid_argument if there is no such.
SpotifyExperiment MakeSpotify(const std::string& name, uint64_t capacity, uint64_t seed);

}  // namespace weir::lab
