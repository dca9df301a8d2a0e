// `weir top`: the rates of a running server, its busiest and its most refused subjects, redrawn every
// second.
#pragma once

#include <ostream>
#include <string>

#include "server/client/client_commands.h"

namespace weir {

struct TopArguments {
  std::string namespace_name, resource;  // empty: all
  bool once = false;
  bool terminal = false;  // redraw in place; otherwise one table after the other
};

// Until interrupted. Exit code 2 if the server cannot be asked.
int RunTop(const ClientOptions& options, const TopArguments& arguments, std::ostream& out,
           std::ostream& errors);

}  // namespace weir
