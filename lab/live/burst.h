// A burst at all nodes of a real cluster at once: central, counter, queue and debt side by side.
//
// Every node is asked as fast as it answers, for every variant, in turn; `central` is one node that
// all ask. What one limiter would have let through is known: its capacity and what flowed in.
#pragma once

#include <span>
#include <string>

namespace weir::lab {

// weir-lab burst [--nodes N] [--seconds N] [--limit N] [--capacity N] [--rate N] [--weir PROGRAM]
int BurstCommand(std::span<const std::string> arguments);

}  // namespace weir::lab
