#include "server/plain_log.h"

#include <spdlog/details/log_msg.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/plain_text.h"
#include "server/json_formatter.h"

namespace weir {

void PlainFormatter::format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) {
  const std::string_view told(message.payload.data(), message.payload.size());
  if (IsPlainText(told)) return next_->format(message, out);
  const std::string plain = PlainText(told);
  spdlog::details::log_msg copy = message;
  copy.payload = plain;
  next_->format(copy, out);
  message.color_range_start = copy.color_range_start;
  message.color_range_end = copy.color_range_end;
}

std::shared_ptr<spdlog::logger> MakeLog(bool json, const std::string& level) {
  auto log = json ? spdlog::stderr_logger_mt("weir") : spdlog::stderr_color_mt("weir");
  log->set_level(spdlog::level::from_str(level));
  if (json) {
    log->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    log->set_formatter(std::make_unique<PlainFormatter>(
        std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v")));
  }
  return log;
}

}  // namespace weir
