#include "base/terminal.h"

#include <algorithm>
#include <array>

namespace weir {
namespace {

constexpr std::array<std::string_view, 6> kInks = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m",
                                                   "\x1b[31m", "\x1b[32m", "\x1b[33m"};

}  // namespace

std::string Terminal::Painted(Ink ink, std::string_view text, bool colours) {
  if (!colours || ink == Ink::kPlain) return std::string(text);
  return fmt::format("{}{}{}", kInks[static_cast<size_t>(ink)], text, kInks[0]);
}

void Terminal::PaintedLines(std::string_view text) {
  while (!text.empty()) {
    const auto is_here = [&](std::string_view ink) { return text.starts_with(ink); };
    const auto* const ink = std::find_if(kInks.begin(), kInks.end(), is_here);
    if (colours_ && ink != kInks.end()) {
      out_ << *ink;
      text.remove_prefix(ink->size());
      continue;
    }
    const size_t next = std::min(text.find('\x1b', 1), text.size());
    out_ << PlainLines(text.substr(0, next));
    text.remove_prefix(next);
  }
}

}  // namespace weir
