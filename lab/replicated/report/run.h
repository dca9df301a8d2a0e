// `weir-lab run NAME` and `weir-lab list`: experiments on all variants, in tables.
#pragma once

#include <span>
#include <string>

namespace weir::lab {

int RunCommand(std::span<const std::string> arguments);
int ListCommand(std::span<const std::string> arguments);

}  // namespace weir::lab
