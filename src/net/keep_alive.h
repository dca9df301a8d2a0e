// When the kernel asks a silent peer whether it is still there, and when it gives it up.
//
// It gives up only when one of its questions falls due, so the last of them has to fall on the very
// second: first `idle_s`, then every `interval_s`, until `give_up_s`. It counts in whole seconds and
// asks at least once: nobody is given up before two seconds.
#pragma once

#include <algorithm>
#include <chrono>

#include "weir/instant.h"

namespace weir {

struct KeepAlive {
  int idle_s = 0;
  int interval_s = 0;
  int give_up_s = 0;
};

inline constexpr int kKeepAliveQuestions = 4;

inline KeepAlive KeepAliveFor(Duration cut_off) {
  const int64_t whole = std::chrono::duration_cast<std::chrono::seconds>(cut_off).count();
  const int seconds = static_cast<int>(std::clamp<int64_t>(whole, 1, 3600));
  const int interval = std::max(1, seconds / 6);
  return {std::max(1, seconds - kKeepAliveQuestions * interval), interval, seconds};
}

}  // namespace weir
