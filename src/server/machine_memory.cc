#include "server/machine_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace weir {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

// Of a file that holds one number; a word such as "max" is no bound.
uint64_t NumberIn(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : kUnknown;
}

uint64_t OfMachine(const std::string& proc) {
  std::ifstream file(proc + "/meminfo");
  std::string word;
  while (file >> word) {
    uint64_t kib = 0;
    if (word == "MemTotal:" && file >> kib) return kib * 1024;
  }
  return kUnknown;
}

// The group's own bound, and those of the groups that it is in.
uint64_t OfGroups(const std::string& proc, const std::string& cgroups) {
  uint64_t least = kUnknown;
  std::ifstream file(proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    const bool v2 = kind.empty();
    if (!v2 && kind != "memory") continue;
    const std::string root = cgroups + (v2 ? "" : "/memory");
    const char* const name = v2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (std::string group = line.substr(second + 1);;) {
      least = std::min(least, NumberIn(root + (group == "/" ? "" : group) + name));
      if (group.size() <= 1) break;
      group.resize(std::max<size_t>(group.rfind('/'), 1));
    }
  }
  return least;
}

}  // namespace

uint64_t MemoryThatThereIs(const std::string& proc, const std::string& cgroups) {
  const uint64_t least = std::min(OfMachine(proc), OfGroups(proc, cgroups));
  return least == kUnknown ? uint64_t{1} << 30 : least;
}

uint64_t MemoryThatThereIs() { return MemoryThatThereIs("/proc", "/sys/fs/cgroup"); }

uint64_t ConnectionMemory(uint64_t asked) {
  constexpr uint64_t kLeast = uint64_t{8} << 20;
  return asked > 0 ? asked : std::max(kLeast, MemoryThatThereIs() / 4);
}

}  // namespace weir
