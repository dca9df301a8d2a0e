// Words of a protocol, which do not care for the case of ASCII letters.
#pragma once

#include <string_view>

namespace weir {

constexpr char LowerLetter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// `lower` is written in small letters.
constexpr bool IsWord(std::string_view word, std::string_view lower) {
  if (word.size() != lower.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (LowerLetter(word[i]) != lower[i]) return false;
  }
  return true;
}

// Neither has to be.
constexpr bool SameWord(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (LowerLetter(a[i]) != LowerLetter(b[i])) return false;
  }
  return true;
}

}  // namespace weir
