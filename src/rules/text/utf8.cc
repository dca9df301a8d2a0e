#include "rules/text/utf8.h"

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace weir {
namespace {

bool IsPlainByte(char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

size_t FirstBadByte(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (IsPlainByte(text[at])) {
      ++at;
      continue;
    }
    const size_t length = FirstCharacter(text.substr(at)).bytes;
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
