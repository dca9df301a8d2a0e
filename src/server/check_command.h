// `weir check PATH`: are these rules right, and what do they come to?
#pragma once

#include <ostream>
#include <string>

namespace weir {

struct CheckOptions {
  std::string path;  // a file or a directory
  bool colours = false;
  bool cluster = false;  // for a server that is a node of a cluster
};

// Prints the normalised rules and what normalisation changed, or every mistake with file, line and
// column. Returns the exit code: 1 if there are mistakes.
int RunCheck(const CheckOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace weir
