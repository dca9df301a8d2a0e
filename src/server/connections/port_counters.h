// What a port counts, on one thread. Written by that thread alone, read by any.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "weir/instant.h"

namespace weir {

// A number that one thread writes: no lock prefix, no shared line.
class OwnCounter {
 public:
  void Add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// How often something took how long: bucket i counts what took less than 2^i microseconds.
struct LatencyHistogram {
  static constexpr size_t kBuckets = 22;  // the last: everything above a second
  std::array<OwnCounter, kBuckets> buckets;
  OwnCounter nanos;

  void Add(Duration took) {
    const auto n = static_cast<uint64_t>(took.count() < 0 ? 0 : took.count());
    const auto bucket = static_cast<size_t>(std::bit_width(n / 1000));
    buckets[bucket < kBuckets ? bucket : kBuckets - 1].Add(1);
    nanos.Add(n);
  }
};

struct alignas(64) PortCounters {
  OwnCounter accepted, closed;
  OwnCounter turned_away;  // no room for another connection
  OwnCounter made_room;    // idle connections closed for others
  OwnCounter timed_out;    // a request that did not end, or answers that were not read
  OwnCounter greedy;       // closed: they held the most when memory was short
  OwnCounter refused;      // requests that had waited too long to be decided
  OwnCounter bytes_in, bytes_out;
  LatencyHistogram batch;  // from reading some requests to having answered them
};

}  // namespace weir
