// The transfers of holds that no server knows of: all there is to know, in a form that the Python
// client reads and writes as well.
#pragma once

#include <optional>
#include <string>

#include "clients/cpp/src/commands.h"

namespace weir::client {

struct LocalTransfer {
  Target target;
  uint64_t copies = 0;
};

std::string WriteLocalTransfer(const LocalTransfer& transfer);
// Nothing if it is a server's; an Error if it is neither.
std::optional<LocalTransfer> ReadLocalTransfer(const std::string& text);

}  // namespace weir::client
