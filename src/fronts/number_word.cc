#include "fronts/number_word.h"

#include <charconv>

#include "fronts/numbers.h"

namespace weir {

NumberWord ReadNumber(std::string_view word) {
  const bool negative = !word.empty() && word[0] == '-';
  if (negative) word.remove_prefix(1);
  NumberWord number;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number.value);
  if (error == std::errc::invalid_argument || stop != end || (word.size() > 1 && word[0] == '0')) {
    number.mistake = "is not a whole number";
  } else if (negative) {
    number.mistake = "is negative";
  } else if (error != std::errc() || number.value > kMostCost) {
    number.mistake = "is greater than 9007199254740992 (2^53)";
  }
  return number;
}

}  // namespace weir
