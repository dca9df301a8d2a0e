// Numbers between the limiter and a text protocol: times are rounded up, so that nobody is told to
// come back too early, and are -1 where waiting does not help.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>

#include "weir/instant.h"

namespace weir {

// Costs above it are refused: such numbers are not exact in many readers of JSON.
inline constexpr uint64_t kMostCost = uint64_t{1} << 53;

constexpr int64_t RoundedUp(Duration time, Duration unit) {
  if (time == kNever) return -1;
  return time / unit + (time % unit > Duration::zero() ? 1 : 0);
}
constexpr int64_t WholeMillis(Duration time) {
  return RoundedUp(time, std::chrono::milliseconds(1));
}
constexpr int64_t WholeSeconds(Duration time) { return RoundedUp(time, std::chrono::seconds(1)); }

// kNever where it is longer than can be counted.
constexpr Duration FromMillis(uint64_t millis) {
  constexpr auto kMost = static_cast<uint64_t>(kNever / std::chrono::milliseconds(1));
  return millis > kMost ? kNever : Duration(std::chrono::milliseconds(millis));
}

template <std::integral Number>
void AppendNumber(std::string& out, Number number) {
  char text[24];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), number);
  out.append(text, static_cast<size_t>(end - text));
}

}  // namespace weir
