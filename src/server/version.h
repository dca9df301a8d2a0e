#pragma once

#include <string_view>

namespace weir {

// Of this build: "0.1.0".
std::string_view Version();

}  // namespace weir
