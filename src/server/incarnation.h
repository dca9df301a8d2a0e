// The number of a node's life: greater than those of all its lives before, as far as they can be known.
//
// It is the time of the start in quarters of a second since 2020, or one more than the last that is
// kept in the file, if that is greater: so it grows although the wall clock was set back.
#pragma once

#include <cstdint>
#include <string>

#include "weir/error.h"
#include "weir/instant.h"

namespace weir {

// `path`: where the last is kept, and this one from now on; empty: nowhere.
Result<uint32_t> NextIncarnation(const std::string& path, Instant now);

}  // namespace weir
