// A number as clients write it: decimal digits, at most 2^53. Mistakes are of fixed text, so that
// they cost no memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir {

struct NumberWord {
  uint64_t value = 0;
  std::string_view mistake;  // "is negative"; empty: none
};

NumberWord ReadNumber(std::string_view word);

}  // namespace weir
