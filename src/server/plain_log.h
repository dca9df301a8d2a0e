// The server's log: every line is one line and nothing but text, whatever is told in it
// (base/plain_text.h). Done where lines are written out, so nobody who logs has to think of it.
#pragma once

#include <memory>

#include <spdlog/formatter.h>
#include <spdlog/logger.h>

namespace weir {

// Makes the message plain before another formatter gets it.
class PlainFormatter final : public spdlog::formatter {
 public:
  explicit PlainFormatter(std::unique_ptr<spdlog::formatter> next) : next_(std::move(next)) {}
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override;
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<PlainFormatter>(next_->clone());
  }

 private:
  const std::unique_ptr<spdlog::formatter> next_;
};

// To standard error. `level`: "debug", "info", "warning" or "error".
std::shared_ptr<spdlog::logger> MakeLog(bool json, const std::string& level);

}  // namespace weir
