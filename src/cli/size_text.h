// Amounts of memory as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

// "512MiB", "2GiB", "1.5g", "65536"; units b, k, m, g, t with b or ib behind them or not, in any
// case, all powers of 1024. Nothing if it is no such text or does not fit.
std::optional<uint64_t> ParseSize(std::string_view text);

// The same: "1GiB", "1536MiB", "1000B".
std::string SizeText(uint64_t bytes);

}  // namespace weir
