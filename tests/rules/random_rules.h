// Rules drawn at random: right ones, of every kind.
#pragma once

#include <functional>
#include <string>

namespace weir {

// `dice(n)` is from 0 to n - 1. Rules in YAML that parse with every flag given.
std::string RandomRules(const std::function<uint64_t(uint64_t)>& dice);

}  // namespace weir
