// The words of WEIR.REQUEST and CL.THROTTLE, taken for requests. Views point into the words.
#pragma once

#include <string_view>

#include "fronts/resp/command.h"
#include "weir/decision.h"

namespace weir::resp {

// What is wrong with a command: both are empty if nothing is.
struct Mistake {
  std::string_view field;
  std::string_view what;
  explicit operator bool() const { return !what.empty(); }
};

// Behind the command's name: namespace resource subject [COST n] [MIN n] [SETTLE].
Mistake ReadRequest(const Words& words, Request& request);

// Behind the command's name: key max_burst count period_s [quantity].
Mistake ReadThrottle(const Words& words, AdhocRequest& request);

}  // namespace weir::resp
