// `weir request|peek|settle`: asks a running server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/client_options.h"

namespace weir {

struct RequestArguments {
  std::string namespace_name, resource, subject;
  uint64_t cost = 1;
  std::optional<uint64_t> min_cost;
  bool settle = false;
  bool peek = false;
};

struct SettleArguments {
  std::string ticket;
  uint64_t cost = 0;
};

// Exit codes: 0 allowed (or settled), 1 refused, 2 an error.
int RunRequest(const ClientOptions& options, const RequestArguments& arguments, Terminal& out,
               Terminal& errors);
int RunSettle(const ClientOptions& options, const SettleArguments& arguments, Terminal& out,
              Terminal& errors);

}  // namespace weir
