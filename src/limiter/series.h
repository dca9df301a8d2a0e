// A series of points: one for each of the last 60 seconds and of the last 1440 minutes.
//
// Rings by the number of the second and of the minute. Time that was skipped holds zeros. Nothing is
// allocated before there is something to tell.
#pragma once

#include <cstdint>
#include <vector>

#include "weir/instant.h"

namespace weir {

inline int64_t SecondOf(Instant at) { return ToNanos(at) / 1'000'000'000; }

template <typename Point>
class Series {
 public:
  static constexpr int64_t kSeconds = 60, kMinutes = 1440;

  bool empty() const { return seconds_.empty(); }

  // Adds to what was counted in a second; seconds come in order.
  void Add(int64_t second, const Point& point) {
    if (point == Point{} && empty()) return;
    if (empty()) {
      seconds_.resize(kSeconds);
      minutes_.resize(kMinutes);
      newest_ = second;
    }
    Advance(second);
    seconds_[Index(newest_, kSeconds)] += point;
    minutes_[Index(newest_ / 60, kMinutes)] += point;
  }

  // The 60 seconds that end with `last`, oldest first.
  std::vector<Point> Seconds(int64_t last) const { return Tell(seconds_, newest_, last, kSeconds); }
  // The 1440 minutes that end with the one in which `last_second` is.
  std::vector<Point> Minutes(int64_t last_second) const {
    return Tell(minutes_, newest_ / 60, last_second / 60, kMinutes);
  }

 private:
  static size_t Index(int64_t number, int64_t size) { return static_cast<size_t>(number % size); }

  void Advance(int64_t second) {
    if (second <= newest_) return;
    const int64_t minute = second / 60, newest_minute = newest_ / 60;
    Clear(seconds_, newest_ + 1, second, kSeconds);
    Clear(minutes_, newest_minute + 1, minute, kMinutes);
    newest_ = second;
  }
  static void Clear(std::vector<Point>& ring, int64_t from, int64_t to, int64_t size) {
    if (to - from >= size) from = to - size + 1;
    for (int64_t i = from; i <= to; ++i) ring[Index(i, size)] = Point{};
  }
  static std::vector<Point> Tell(const std::vector<Point>& ring, int64_t newest, int64_t last,
                                 int64_t size) {
    std::vector<Point> points(static_cast<size_t>(size));
    if (ring.empty()) return points;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t number = last - size + 1 + i;
      if (number <= newest && number > newest - size && number >= 0) {
        points[static_cast<size_t>(i)] = ring[Index(number, size)];
      }
    }
    return points;
  }

  int64_t newest_ = 0;  // second
  std::vector<Point> seconds_, minutes_;
};

}  // namespace weir
