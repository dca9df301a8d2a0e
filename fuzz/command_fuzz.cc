// The lines of `weir try`: any bytes are a command or one clear line about what is wrong.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/time_text.h"
#include "cli/command.h"
#include "weir/decision.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const weir::Result<weir::Command> command = weir::ParseCommand(text);
  if (!command && command.error().message.empty()) std::abort();
  if (const auto duration = weir::ParseDuration(text)) {
    if (weir::ParseDuration(weir::DurationText(*duration)) != duration) std::abort();
  }
  weir::ParseInstant(text, weir::Instant{});
  if (const auto ticket = weir::Ticket::Parse(text)) {
    if (weir::Ticket::Parse(ticket->ToString()) != ticket) std::abort();
  }
  return 0;
}
