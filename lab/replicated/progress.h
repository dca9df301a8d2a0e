// A bar on a terminal, in place; nothing elsewhere.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <string>

namespace weir::lab {

class ProgressBar {
 public:
  ~ProgressBar() { Clear(); }
  void Show(const std::string& what, int done, int of) {
    if (!terminal_) return;
    constexpr int kWidth = 30;
    const int full = of > 0 ? kWidth * done / of : 0;
    std::string bar;
    for (int i = 0; i < kWidth; ++i) bar += i < full ? "█" : "░";
    fmt::print(stderr, "\r\x1b[K{} {:>3} %  {}", bar, of > 0 ? 100 * done / of : 0, what);
    std::fflush(stderr);
    shown_ = true;
  }
  void Clear() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
    shown_ = false;
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
};

}  // namespace weir::lab
