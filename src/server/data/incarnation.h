// The number of a node's life: greater than those of all its lives before, as far as they can be known.
//
// It is the time of the start in quarters of a second since 2020, or one more than the last that is
// kept in the file, if that is greater: so it grows although the wall clock was set back. A life whose
// predecessors are not known says nothing before its quarter is over: so whoever starts after it has spoken, on a clock
// that goes on, has a greater number, and no two that have spoken one after the other share one.
#pragma once

#include <cstdint>
#include <string>

#include "weir/error.h"
#include "weir/instant.h"

namespace weir {

struct Incarnation {
  uint32_t number = 0;
  Duration silent_for{};  // from its start
};

// `path`: where the last is kept, and this one from now on; empty: nowhere.
Result<Incarnation> NextIncarnation(const std::string& path, Instant now);

}  // namespace weir
