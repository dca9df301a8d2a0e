// Wrappers around a replica, one for each way of being wrong that needs more than other options.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "lab/chaos/planted/transcript.h"
#include "lab/chaos/rows.h"

namespace weir::chaos {

// Lies in what it sends, or mishears what comes.
class Liar : public Wrapper {
 public:
  Liar(std::unique_ptr<Replica> inner, Origin self) : Wrapper(std::move(inner)), self_(self) {}

  std::vector<Envelope> Tick(Instant now) override { return Sent(Wrapper::Tick(now), now); }
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override {
    return Sent(Wrapper::Receive(Transcribed(std::string(bytes), Hearing(now)), now, good), now);
  }
  std::vector<Envelope> Farewell(Instant now) override { return Sent(Wrapper::Farewell(now), now); }
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) override {
    Slice slice = Wrapper::Everything(to, cursor, most, now);
    slice.envelopes = Sent(std::move(slice.envelopes), now);
    return slice;
  }

 protected:
  virtual Lies Telling(Instant, uint32_t) { return {}; }
  virtual Lies Hearing(Instant) { return {}; }
  Origin self() const { return self_; }

 private:
  std::vector<Envelope> Sent(std::vector<Envelope> envelopes, Instant now) {
    for (Envelope& one : envelopes) one.bytes = Transcribed(one.bytes, Telling(now, one.to));
    return envelopes;
  }
  const Origin self_;
};

using RowOfKey = std::pair<std::pair<uint64_t, uint64_t>, RowName>;
inline RowOfKey Of(const Key& key, const ToldRow& row) {
  return {{key.high, key.low}, {row.origin, row.segment}};
}

// What is told again is added to what was known.
class MergeAdds final : public Liar {
  using Liar::Liar;
  Lies Hearing(Instant) override {
    return {.row = [this](const Key& key, ToldRow& row) {
      uint64_t& heard = heard_[Of(key, row)];
      heard += row.charged;
      if (row.origin.node != self().node) row.charged = heard;
    }};
  }
  absl::flat_hash_map<RowOfKey, uint64_t> heard_;
};

// Whatever is owed beyond the capacity is let off.
class DebtForgiven final : public Liar {
 public:
  DebtForgiven(std::unique_ptr<Replica> inner, Origin self, std::vector<Limit> limits)
      : Liar(std::move(inner), self), limits_(std::move(limits)) {}
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override;

 private:
  const std::vector<Limit> limits_;
};

// A row is told as if it had begun with its latest charge.
class EpochLost final : public Liar {
  using Liar::Liar;
  void Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    latest_[key.low] = now;
    Liar::Take(key, limit, cost, now);
  }
  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    const bool admitted = Liar::Admit(key, limit, cost, now);
    if (admitted) latest_[key.low] = now;
    return admitted;
  }
  Lies Telling(Instant now, uint32_t) override {
    return {.row = [this, now](const Key& key, ToldRow& row) {
      if (row.origin != self()) return;
      const int64_t since = (now - latest_[key.low]) / std::chrono::microseconds(100);
      row.age = std::min(row.age, static_cast<uint64_t>(since));
    }};
  }
  absl::flat_hash_map<uint64_t, Instant> latest_;
};

class AgeZero final : public Liar {
  using Liar::Liar;
  Lies Telling(Instant, uint32_t) override {
    return {.row = [](const Key&, ToldRow& row) { row.age = 0; }};
  }
};

class RefundTwice final : public Liar {
  using Liar::Liar;
  void Refund(const StateName& name, uint64_t cost, Instant now) override {
    Liar::Refund(name, cost, now);
    Liar::Refund(name, cost, now);
  }
};

// Acknowledges to a new life what came from the one before.
class AnyLifeAcknowledged final : public Liar {
  using Liar::Liar;
  Lies Telling(Instant, uint32_t to) override {
    return {.acknowledged = [this, to](uint64_t& up_to) {
      up_to = most_[to] = std::max(most_[to], up_to);
    }};
  }
  absl::flat_hash_map<uint32_t, uint64_t> most_;
};

// Every other envelope bears the number of the one before.
class NumberReused final : public Liar {
  using Liar::Liar;
  Lies Telling(Instant, uint32_t) override {
    return {.head = [](EnvelopeHead& head) {
      if (head.sequence > 1 && head.sequence % 2 == 0) --head.sequence;
    }};
  }
};

class OverwritesOthers final : public Liar {
  using Liar::Liar;
  Lies Telling(Instant, uint32_t) override {
    return {.row = [this](const Key&, ToldRow& row) {
      if (row.origin.node != self().node) row.charged += 1;
    }};
  }
};

// Time is counted twice when the bucket is refilled.
class RefilledTwice final : public Liar {
  using Liar::Liar;
  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    ReplicatedBucket faster = limit;
    faster.limit *= 2;
    return Liar::Admit(key, faster, cost, now);
  }
};

// Requests with the same stamp, in milliseconds, are taken for one (erratum 4).
class EqualBirthsMerged final : public Liar {
  using Liar::Liar;
  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    const int64_t stamp = ToNanos(now) / kMillion;
    if (std::exchange(latest_[key.low], stamp) == stamp) return Level(key, limit, now) >= 0;
    return Liar::Admit(key, limit, cost, now);
  }
  static constexpr int64_t kMillion = 1'000'000;
  absl::flat_hash_map<uint64_t, int64_t> latest_;
};

// What is counted in a window is told as of the next.
class WindowLeaks final : public Liar {
  using Liar::Liar;
  Lies Telling(Instant, uint32_t) override {
    return {.row = [](const Key&, ToldRow& row) { row.window += row.window != 0 ? 1 : 0; }};
  }
};

// Others are told to keep what is counted in a window for a second.
class WindowCutShort final : public Liar {
  using Liar::Liar;
  Lies Telling(Instant, uint32_t) override {
    return {.row = [](const Key&, ToldRow& row) {
      row.keep = std::min<Duration>(row.keep, std::chrono::seconds(1));
    }};
  }
};

// Each use has the window kept for an hour more.
class WindowStays final : public Liar {
  using Liar::Liar;
  void Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    Liar::Take(key, Longer(limit), cost, now);
  }
  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    return Liar::Admit(key, Longer(limit), cost, now);
  }
  static ReplicatedBucket Longer(ReplicatedBucket limit) {
    if (limit.window != 0) limit.per += std::chrono::hours(1);
    return limit;
  }
};

// What was taken in an old window is given back to the one after it.
class RefundMoves final : public Liar {
  using Liar::Liar;
  void Refund(const StateName& name, uint64_t cost, Instant now) override {
    Liar::Refund({name.key, name.window + (name.window != 0 ? 1 : 0)}, cost, now);
  }
};

// A log is taken for a bucket: what was taken comes back bit by bit.
class LogRefills final : public Liar {
  using Liar::Liar;
  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    ReplicatedBucket bucket = limit;
    if (limit.limit == 0) bucket.limit = limit.capacity;
    return Liar::Admit(key, bucket, cost, now);
  }
};

class NeverSleeps final : public Liar {
  using Liar::Liar;
  Instant NextTick() const override { return Instant::min(); }
};

}  // namespace weir::chaos
