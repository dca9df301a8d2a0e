// `weir try RULES`: a limiter at the prompt, or at the end of a pipe.
#pragma once

#include <istream>
#include <string>

#include "base/terminal.h"

namespace weir {

struct TryOptions {
  std::string rules;    // a file or a directory
  std::string start;    // RFC 3339: time stands still there until a line moves it
  bool prompt = false;  // somebody is typing
};

// Reads lines (cli/command.h) until the end or `quit`. Returns the exit code: 1 if the rules
// cannot be read.
int RunTry(const TryOptions& options, std::istream& in, Terminal& out, Terminal& errors);

}  // namespace weir
