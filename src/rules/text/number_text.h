// Numbers as rules write them: decimal digits and nothing else. What YAML would also take for a
// number (1_000, 1e3, 0x10, 010, .inf, -0, +5, 1.0) is refused, for readers disagree on it.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir {

// Nothing if the text is no such number or does not fit.
inline std::optional<uint64_t> ParseNumber(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

inline bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace weir
