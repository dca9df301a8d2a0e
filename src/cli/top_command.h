// `weir top`: the rates of a running server, its busiest and its most refused subjects, redrawn every
// second (top_screen.h shows how).
#pragma once

#include <string>

#include "cli/client_options.h"

namespace weir {

struct TopArguments {
  std::string namespace_name, resource;  // empty: all
  bool once = false;
  bool terminal = false;  // redraw in place; otherwise one table after the other
};

// Until `q` or a signal. With --json, one object a line instead. Exit code 2 if the server cannot be
// asked at first (later, it is waited for), or knows no such namespace or resource.
int RunTop(const ClientOptions& options, const TopArguments& arguments, Terminal& out,
           Terminal& errors);

}  // namespace weir
