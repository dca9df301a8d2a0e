#include "rules/text/scalar_text.h"

#include <algorithm>
#include <array>

#include "rules/text/utf8.h"

namespace weir {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsPlain(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
}

// What some version of YAML takes for a boolean or for nothing.
bool IsReserved(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no",  "on",
                                                      "off",  "y",     "n",   "null"};
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

std::string Quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string quoted = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t control = ControlLength(text.substr(i));
    if (control > 0) {
      i += control - 1;  // the last byte is the number of the character
      const auto code = static_cast<unsigned char>(text[i]);
      quoted += {'\\', 'u', '0', '0', kHex[code >> 4], kHex[code & 15]};
    } else if (text[i] == '"' || text[i] == '\\') {
      quoted += {'\\', text[i]};
    } else {
      quoted += text[i];
    }
  }
  return quoted + "\"";
}

}  // namespace

std::string PrintScalar(std::string_view text) {
  const bool plain = !text.empty() && IsLetter(text[0]) &&
                     std::all_of(text.begin(), text.end(), IsPlain) && !IsReserved(text);
  return plain ? std::string(text) : Quoted(text);
}

}  // namespace weir
