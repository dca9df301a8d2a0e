// `weir-lab run NAME`: an experiment on all variants, in a table.
#pragma once

#include <span>
#include <string>

namespace weir::lab {

int RunCommand(std::span<const std::string> arguments);

}  // namespace weir::lab
