// Is it text, and can it be shown? A terminal takes control characters for commands: those of ASCII
// and the other 32 of Unicode (U+0080 to U+009F).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir {

// The place of the first byte that is not part of well-formed UTF-8, or that is a control character
// other than tab and line end; the size if there is none.
size_t FirstBadByte(std::string_view text);

// How many bytes the control character at the front has; 0 if it is none. Tab and line end are.
inline size_t ControlLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  return byte(0) == 0xc2 && text.size() > 1 && byte(1) < 0xa0 ? 2 : 0;
}
bool HasControlCharacter(std::string_view text);

// The first `most` bytes or less, in whole characters, control characters made blanks.
std::string Shortened(std::string_view text, size_t most);

}  // namespace weir
