#include "server/json_formatter.h"

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <spdlog/details/log_msg.h>

#include "base/plain_text.h"

namespace weir {

void JsonFormatter::format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) {
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(message.time.time_since_epoch())
          .count();
  const nlohmann::ordered_json line = {
      {"time",
       fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(message.time), millis % 1000)},
      {"level", std::string(spdlog::level::to_string_view(message.level).data())},
      {"message", std::string(message.payload.data(), message.payload.size())}};
  // JSON escapes ASCII's control characters; PlainText does the others, as JSON would.
  const std::string text =
      PlainText(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
  out.append(text.data(), text.data() + text.size());
}

}  // namespace weir
