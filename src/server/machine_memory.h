// How much memory there is for this process.
#pragma once

#include <cstdint>
#include <string>

namespace weir {

// Of the machine, or less if its control group allows less.
uint64_t MemoryThatThereIs();

// The same from files: `proc` is /proc, `cgroups` is /sys/fs/cgroup.
uint64_t MemoryThatThereIs(const std::string& proc, const std::string& cgroups);

// What all connections may take: what was asked for, or a quarter of what there is.
uint64_t ConnectionMemory(uint64_t asked);

}  // namespace weir
