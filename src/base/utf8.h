// One character of UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir {

struct Utf8Character {
  char32_t code = 0;
  size_t bytes = 0;  // 0: the text does not begin with a well-formed character
};

// The one at the front of `text`, which is not empty. Well-formed is the shortest form of a code
// point up to U+10FFFF that is no surrogate.
Utf8Character FirstCharacter(std::string_view text);

}  // namespace weir
