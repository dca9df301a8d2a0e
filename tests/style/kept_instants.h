// An instant belongs to a turn of a loop (base/turn.h) and must not outlive it: whoever runs later
// and decides at a kept instant decides in the past. A Turn cannot be copied; what is left to find,
// in fronts and server, are
//
//   a capture of the turn by reference, or of an Instant made from it      [&now], [at = now.at()]
//   work that is posted with references to what is gone when it runs       Post([&] ...)
//   an Instant that is kept: a field, or a variable                        Instant since_;
//   a look at the clock by others than those who run the loops             clock.Now(), Turn(clock)
//
// The few that are right stand in a list, each with its reason.
#pragma once

#include <string_view>
#include <vector>

#include "tests/style/source_file.h"

namespace weir::style {

struct KeptInstant {
  std::string_view path;
  std::string_view name;  // of the field or variable; "clock": it reads the clock
  std::string_view reason;
};
const std::vector<KeptInstant>& KeptInstants();

Findings CheckKeptInstants(const SourceFile& file);

}  // namespace weir::style
