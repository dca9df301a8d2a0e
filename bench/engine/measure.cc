#include "bench/engine/measure.h"

#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <thread>

namespace weir::bench {
namespace {

double Seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

double CpuNanos(size_t operations, int runs, const std::function<void()>& loop) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < runs; ++i) {
    const double start = Seconds(CLOCK_THREAD_CPUTIME_ID);
    loop();
    best = std::min(best, Seconds(CLOCK_THREAD_CPUTIME_ID) - start);
  }
  return best / static_cast<double>(operations) * 1e9;
}

double ElapsedNanos(size_t operations, int runs, int threads,
                    const std::function<void(size_t first, size_t step)>& loop) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < runs; ++i) {
    const double start = Seconds(CLOCK_MONOTONIC);
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) {
      others.emplace_back(loop, static_cast<size_t>(t), static_cast<size_t>(threads));
    }
    loop(0, static_cast<size_t>(threads));
    for (std::thread& other : others) other.join();
    best = std::min(best, Seconds(CLOCK_MONOTONIC) - start);
  }
  return best / static_cast<double>(operations) * 1e9;
}

size_t ResidentBytes() {
  size_t total = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void PrintTable(const std::vector<Row>& rows) {
  fmt::print("{:<44} {:>9} {:>10} {:>7} {:>9} {:>9}\n", "what", "keys", "popularity", "threads",
             "ns", "bytes/key");
  for (const Row& row : rows) {
    fmt::print("{:<44} {:>9} {:>10} {:>7} {:>9.1f} {:>9}\n", row.what, row.keys, row.popularity,
               row.threads, row.nanos,
               row.bytes_per_key > 0 ? fmt::format("{:.1f}", row.bytes_per_key) : "");
  }
}

void PrintJson(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    fmt::print(
        "{{\"what\":\"{}\",\"keys\":{},\"popularity\":\"{}\",\"threads\":{},\"ns\":{:.2f},"
        "\"bytes_per_key\":{:.2f}}}\n",
        row.what, row.keys, row.popularity, row.threads, row.nanos, row.bytes_per_key);
  }
}

}  // namespace weir::bench
