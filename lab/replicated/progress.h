// A bar on a terminal, in place; nothing elsewhere.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <string>

namespace weir::lab {

class ProgressBar {
 public:
  ~ProgressBar() { Clear(); }
  // `done`: from 0 to 1.
  void Show(const std::string& what, double done) {
    if (!terminal_) return;
    constexpr int kCells = 30;
    std::string bar;
    for (int i = 0; i < kCells; ++i) bar += i < static_cast<int>(kCells * done) ? "█" : "░";
    const std::string line = fmt::format("{} {:>3.0f} %  {}", bar, std::floor(100 * done), what);
    if (line == shown_) return;
    fmt::print(stderr, "\r\x1b[K{}", line);
    std::fflush(stderr);
    shown_ = line;
  }
  void Clear() {
    if (!shown_.empty()) fmt::print(stderr, "\r\x1b[K");
    shown_.clear();
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  std::string shown_;
};

}  // namespace weir::lab
