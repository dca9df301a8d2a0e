// `weir request|peek|settle`: asks a running server.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "weir/instant.h"

namespace weir {

struct ClientOptions {
  std::string server = "127.0.0.1:8080";
  std::string token;
  Duration deadline = std::chrono::milliseconds(200);
  bool json = false;
  bool colours = false;
};

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
int RunRequest(const ClientOptions& options, const RequestArguments& arguments, std::ostream& out,
               std::ostream& errors);
int RunSettle(const ClientOptions& options, const SettleArguments& arguments, std::ostream& out,
              std::ostream& errors);

}  // namespace weir
