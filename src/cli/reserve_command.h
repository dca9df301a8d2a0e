// `weir reserve NAMESPACE RESOURCE SUBJECT -- COMMAND …`: runs a command while holding copies.
//
// They are held by a connection to the Redis front: whatever ends this process, even SIGKILL,
// releases them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/terminal.h"
#include "net/client_stream.h"
#include "weir/instant.h"

namespace weir {

struct ReserveArguments {
  std::string resp = "127.0.0.1:6380";
  std::string token;
  ClientTls tls;
  std::string namespace_name, resource, subject;
  uint64_t copies = 1;
  Duration wait{};
  Duration deadline = std::chrono::seconds(1);  // for an answer, beyond `wait`
  std::vector<std::string> command;
};

inline constexpr int kExitRefused = 75;  // EX_TEMPFAIL: try again later

// The exit code of the command (128 + n if signal n ended it); 75 if the copies were refused, 2 if
// the server could not be asked, 126 or 127 if the command could not be run.
int RunReserve(const ReserveArguments& arguments, Terminal& errors);

}  // namespace weir
