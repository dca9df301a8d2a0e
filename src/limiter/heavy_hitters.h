// The subjects that come most often, by name, in little memory (Space-Saving, Metwally et al.).
//
// kMost names with counters. A name that is not among them takes the place of the one with the
// smallest count, and inherits that count: so a count is never too small, a subject with more than
// total/kMost hits is always there, and `error` says by how much a count may be too great. Counts
// are halved every ten seconds, so the list speaks of the recent past.
//
// Under load only some of the hits are looked at, and each stands for several: at most about 20,000
// looks a second. A thread that finds another one writing does not wait; its hit is not counted.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limiter/series.h"
#include "weir/instant.h"
#include "weir/statistics.h"

namespace weir {

class HeavyHitters {
 public:
  static constexpr size_t kMost = 32;
  static constexpr size_t kLongestName = 120;  // longer ones are cut

  void Add(std::string_view name, uint64_t hash, Instant now) {
    thread_local uint64_t draw = 0x9e3779b97f4a7c15;
    draw = draw * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
    const uint32_t period = period_.load(std::memory_order_relaxed);
    if ((draw >> 40 & (period - 1)) == 0) Look(name, hash, period, now);
  }

  // Best first.
  std::vector<SubjectCount> List() const;
  // What was counted since the last call belongs to `second`.
  void Sample(int64_t second);
  // The past of a subject, as `admitted`; none if it is not among these.
  std::optional<History> Past(std::string_view name, int64_t last_second) const;

 private:
  struct Entry {
    uint64_t hash;
    uint64_t count;  // halved now and then; inherited
    std::string name;
    uint64_t total = 0;                                // since it came
    uint64_t sampled = 0;                              // of total
    std::unique_ptr<Series<uint32_t>> past = nullptr;  // once it has stayed for a second
  };

  void Look(std::string_view name, uint64_t hash, uint32_t weight, Instant now);
  void Pace(Instant now);
  void Age(Instant now);

  std::atomic<uint32_t> period_{1};  // a power of two: one hit in so many is looked at

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Entry> entries_;
  Instant paced_{}, aged_{};
  uint32_t looks_ = 0;
};

}  // namespace weir
