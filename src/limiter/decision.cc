#include "weir/decision.h"

#include <algorithm>

namespace weir {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

std::optional<uint64_t> ParseHex(std::string_view text) {
  uint64_t value = 0;
  for (const char c : text) {
    const auto digit = std::string_view(kDigits).find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value << 4 | digit;
  }
  return value;
}

}  // namespace

std::string Ticket::ToString() const {
  std::string text(32, '0');
  for (size_t i = 0; i < 16; ++i) {
    text[15 - i] = kDigits[high >> (4 * i) & 15];
    text[31 - i] = kDigits[low >> (4 * i) & 15];
  }
  return text;
}

std::optional<Ticket> Ticket::Parse(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const std::optional<uint64_t> high = ParseHex(text.substr(0, 16));
  const std::optional<uint64_t> low = ParseHex(text.substr(16));
  if (!high || !low) return std::nullopt;
  return Ticket{*high, *low};
}

void Decision::Clear() {
  error = Code::kOk;
  message = field = {};
  allowed = degraded = false;
  granted = remaining = 0;
  retry_after = reset_after = {};
  limit = {};
  ticket = {};
  tiers.reset();
  count_ = 0;
  more_.clear();
}

LimitStatus& Decision::AddMore() {
  if (more_.empty()) more_.assign(few_.statuses, few_.statuses + count_);
  return more_.emplace_back();
}

}  // namespace weir
