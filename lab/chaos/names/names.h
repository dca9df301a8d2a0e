// Chaos of names: real nodes of a cluster (cluster/node.h) in simulated time, whose processes are killed, paused,
// cut off and started again, with clocks that were set back; and now and then somebody starts a second node
// of a name, at another address, by mistake.
//
//   second   one that is started while the node of that name lives, and nothing else is wrong, is told so and
//            ends within seconds; the other lives on
//   yield    who yields has met another that runs under its name
//   settled  after the last fault every name has one process, all see all, each in its own life; and
//            what is taken at one is known to all
//   progress nobody is due for ever: a run ends, also in violation (progress.h)
//
// One thread; a seed gives the same run every time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/instant.h"

namespace weir::chaos {

// What is put to the test; anything but the defaults is a planted bug.
struct NamesSubject {
  bool challenges = true;  // false: whoever bears a name is never asked whether it lives
  bool yields = true;      // false: who has yielded goes on
  bool rests = true;       // false: a node is always due
};

struct NamesOutcome {
  uint64_t seconds = 0;  // second nodes of a name that were started,
  uint64_t clean = 0;    // of those, while nothing else was wrong
  uint64_t restarts = 0, pauses = 0, cuts = 0, yielded = 0;
  Duration simulated{};
  std::string violation;  // empty: none
};

struct PlantedNamesBug {
  const char* name;
  const char* mistake;
  NamesSubject subject;
};
std::vector<PlantedNamesBug> PlantedNamesBugs();

// `trace`: what happens, a line each; may be null.
NamesOutcome RunNames(uint64_t seed, const NamesSubject& subject = {},
                      std::vector<std::string>* trace = nullptr);

}  // namespace weir::chaos
