// How much memory a process may take, from the kernel's files.
#include "server/machine_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weir::machine_memory_test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class MachineMemory : public ::testing::Test {
 protected:
  MachineMemory() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-memory-XXXXXX").string();
    root_ = mkdtemp(name.data());
    Write("proc/meminfo", "MemFree: 7 kB\nMemTotal:       1048576 kB\n");
  }
  ~MachineMemory() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  uint64_t There() { return MemoryThatThereIs(root_ + "/proc", root_ + "/cgroup"); }

  std::string root_;
};

TEST_F(MachineMemory, IsTheMachinesWithoutAGroup) {
  EXPECT_EQ(There(), 1024 * kMiB);
  Write("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(There(), 1024 * kMiB);
}

TEST_F(MachineMemory, IsThatOfTheNarrowestGroup) {
  Write("proc/self/cgroup", "0::/a/b\n");
  Write("cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(There(), 1024 * kMiB);
  Write("cgroup/a/memory.max", std::to_string(64 * kMiB));
  EXPECT_EQ(There(), 64 * kMiB);
  Write("cgroup/a/b/memory.max", std::to_string(32 * kMiB));
  EXPECT_EQ(There(), 32 * kMiB);
}

TEST_F(MachineMemory, IsThatOfAnOldGroupToo) {
  Write("proc/self/cgroup", "3:cpu:/x\n2:memory:/a\n0::/\n");
  Write("cgroup/memory/a/memory.limit_in_bytes", std::to_string(48 * kMiB));
  EXPECT_EQ(There(), 48 * kMiB);
}

TEST_F(MachineMemory, ASmallerMachineCounts) {
  Write("proc/self/cgroup", "0::/a\n");
  Write("cgroup/a/memory.max", std::to_string(4096 * kMiB));
  EXPECT_EQ(There(), 1024 * kMiB);
}

}  // namespace
}  // namespace weir::machine_memory_test
