// The same experiment on real processes over loopback, beside the simulation of it.
//
// Requests go out when their time has come, each to the node that the simulation sends it to, and
// to the resources of all variants one after the other. `speed` runs everything so many times
// faster: the requests' times and the refill, not the gossip; the simulation is of the faster one
// too.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace weir::lab {

// weir-lab live NAME [--nodes N] [--capacity N] [--speed N] [--seed N] [--json] [--weir PROGRAM]
int LiveCommand(std::span<const std::string> arguments);

}  // namespace weir::lab
