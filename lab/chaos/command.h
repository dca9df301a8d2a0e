// `weir-lab chaos`: many seeds, a table, and a shrunk trace of what fails.
#pragma once

#include <span>
#include <string>

namespace weir::chaos {

int ChaosCommand(std::span<const std::string> arguments);

}  // namespace weir::chaos
