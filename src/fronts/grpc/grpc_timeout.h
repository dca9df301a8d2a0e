// The value of the header grpc-timeout: one to eight digits and a unit, as in "250m".
#pragma once

#include <optional>
#include <string_view>

#include "weir/instant.h"

namespace weir {

// None if it is not one. What does not fit is kNever.
inline std::optional<Duration> ParseGrpcTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > 9) return std::nullopt;
  int64_t count = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    count = count * 10 + (c - '0');
  }
  int64_t nanos = 0;
  switch (text.back()) {
    case 'H': nanos = 3'600'000'000'000; break;
    case 'M': nanos = 60'000'000'000; break;
    case 'S': nanos = 1'000'000'000; break;
    case 'm': nanos = 1'000'000; break;
    case 'u': nanos = 1'000; break;
    case 'n': nanos = 1; break;
    default: return std::nullopt;
  }
  int64_t product = 0;
  if (__builtin_mul_overflow(count, nanos, &product)) return kNever;
  return Duration(product);
}

}  // namespace weir
