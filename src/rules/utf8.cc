#include "rules/utf8.h"

#include <algorithm>
#include <cstdint>

namespace weir {
namespace {

struct Form {
  uint8_t lead_mask, lead, length;
  uint32_t least;  // anything smaller has a shorter form
};
constexpr Form kForms[] = {{0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};

// How many bytes the character at the front of `text` has; 0 if it is none.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  for (const Form& form : kForms) {
    if ((byte(0) & form.lead_mask) != form.lead) continue;
    if (text.size() < form.length) return 0;
    uint32_t c = byte(0) & static_cast<uint8_t>(~form.lead_mask);
    for (size_t i = 1; i < form.length; ++i) {
      if ((byte(i) & 0xc0) != 0x80) return 0;
      c = c << 6 | (byte(i) & 0x3f);
    }
    const bool surrogate = c >= 0xd800 && c < 0xe000;
    return c < form.least || c > 0x10ffff || surrogate ? 0 : form.length;
  }
  return 0;
}

bool IsPlain(char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

size_t FirstBadByte(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (IsPlain(text[at])) {
      ++at;
      continue;
    }
    const size_t length = CharacterLength(text.substr(at));
    if (length == 0 || ControlLength(text.substr(at)) != 0) return at;
    at += length;
  }
  return text.size();
}

bool HasControlCharacter(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (ControlLength(text.substr(i)) != 0) return true;
  }
  return false;
}

std::string Shortened(std::string_view text, size_t most) {
  size_t end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  std::string shown;
  for (size_t i = 0; i < end;) {
    const size_t control = ControlLength(text.substr(i));
    shown += control == 0 ? text[i] : ' ';
    i += control == 0 ? 1 : control;
  }
  return shown;
}

}  // namespace weir
