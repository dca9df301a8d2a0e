// Log lines as JSON objects, one a line: {"time", "level", "message"}. They are plain text
// (base/plain_text.h), and the message in them is what was told.
#pragma once

#include <memory>

#include <spdlog/formatter.h>

namespace weir {

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override;
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

}  // namespace weir
