#include "rules/text/scalar_text.h"

#include <algorithm>
#include <array>

#include "base/plain_text.h"
#include "base/utf8.h"

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

// What cannot be seen is written in figures, as base/plain_text.h does it, but as YAML spells what is above U+FFFF.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const Utf8Character c = FirstCharacter(text);
    const size_t bytes = std::max<size_t>(1, c.bytes);
    if (c.bytes > 0 && IsUnsafe(c.code)) {
      quoted += c.code > 0xffff ? fmt::format("\\U{:08x}", static_cast<uint32_t>(c.code))
                                : fmt::format("\\u{:04x}", static_cast<uint32_t>(c.code));
    } else {
      if (text[0] == '"' || text[0] == '\\') quoted += '\\';
      quoted += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
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
