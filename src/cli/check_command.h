// `weir check PATH`: are these rules right, and what do they come to?
#pragma once

#include <string>

#include "base/terminal.h"

namespace weir {

struct CheckOptions {
  std::string path;      // a file or a directory
  bool cluster = false;  // for a server that is a node of a cluster
};

// Prints the normalised rules and what normalisation changed, or every mistake with file, line and
// column. Returns the exit code: 1 if there are mistakes.
int RunCheck(const CheckOptions& options, Terminal& out, Terminal& errors);

}  // namespace weir
