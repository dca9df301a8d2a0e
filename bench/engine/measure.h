// Measuring: the processor time of a loop, the best of several runs, and what memory it took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weir::bench {

struct Row {
  std::string what;
  size_t keys = 0;
  std::string popularity;
  int threads = 1;
  double nanos = 0;  // one thread: processor time per operation; more: elapsed time per operation
  double bytes_per_key = 0;  // 0: not measured
};

// Nanoseconds of processor time per operation of `loop(operations)`, best of `runs`.
double CpuNanos(size_t operations, int runs, const std::function<void()>& loop);
// Elapsed nanoseconds per operation while `threads` threads share the operations, best of `runs`:
// loop(first, step).
double ElapsedNanos(size_t operations, int runs, int threads,
                    const std::function<void(size_t first, size_t step)>& loop);

size_t ResidentBytes();

void PrintTable(const std::vector<Row>& rows);
void PrintJson(const std::vector<Row>& rows);

// Keeps the compiler from leaving out what computes `value`.
template <typename T>
void Keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace weir::bench
