#include "cli/size_text.h"

#include <absl/strings/ascii.h>

namespace weir {
namespace {

constexpr std::string_view kLetters = "bkmgt";

// The power of 1024 that a unit is; nothing if it is none.
std::optional<unsigned> PowerOf(std::string_view unit) {
  const std::string name = absl::AsciiStrToLower(absl::string_view(unit.data(), unit.size()));
  if (name.empty()) return 0;
  const size_t power = kLetters.find(name[0]);
  if (power == std::string_view::npos) return std::nullopt;
  const std::string rest = name.substr(1);
  const bool good = rest.empty() || (power > 0 && (rest == "b" || rest == "ib"));
  return good ? std::optional(static_cast<unsigned>(power)) : std::nullopt;
}

bool IsDigitOfSize(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<uint64_t> ParseSize(std::string_view text) {
  unsigned __int128 value = 0, scale = 1;
  bool fraction = false, digits = false;
  size_t at = 0;
  for (; at < text.size() && (IsDigitOfSize(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
      digits = false;
      continue;
    }
    digits = true;
    value = value * 10 + static_cast<unsigned>(text[at] - '0');
    if (fraction) scale *= 10;
    if (value >> 64 || scale >> 60) return std::nullopt;
  }
  if (!digits || text[0] == '.') return std::nullopt;
  const std::optional<unsigned> power = PowerOf(text.substr(at));
  if (!power) return std::nullopt;
  const unsigned __int128 bytes = (value << (10 * *power)) / scale;
  if (bytes >> 64) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

std::string SizeText(uint64_t bytes) {
  size_t power = 0;
  while (bytes != 0 && bytes % 1024 == 0 && power + 1 < kLetters.size()) bytes /= 1024, ++power;
  std::string text = std::to_string(bytes);
  if (power > 0) text += {absl::ascii_toupper(static_cast<unsigned char>(kLetters[power])), 'i'};
  return text + "B";
}

}  // namespace weir
