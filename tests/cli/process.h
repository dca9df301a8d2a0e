// Runs the real program, as a user does: with a pipe, or at a terminal.
#pragma once

#include <string>
#include <vector>

namespace weir {

struct Ran {
  int exit_code = -1;
  std::string out;
  std::string errors;
};

// Standard input is `input`, and ends there.
Ran RunWithPipe(const std::vector<std::string>& command, const std::string& input);

struct TerminalSize {
  unsigned short columns = 80, rows = 24;
};
// The same at a terminal: what it shows, echo included, is in `out`, with plain newlines.
Ran RunAtTerminal(const std::vector<std::string>& command, const std::string& input,
                  TerminalSize size = {});

}  // namespace weir
