#include "algorithms/sliding_log.h"

namespace weir {
namespace {

Instant Latest(const SlidingLog::State& state, Instant now) {
  if (!state.admitted.empty()) now = std::max(now, state.admitted.newest());
  if (!state.rejected.empty()) now = std::max(now, state.rejected.newest());
  return now;
}

}  // namespace

uint64_t SlidingLog::Used(const State& state, Instant now) const {
  const Instant from = WindowStart(now);
  return SaturatingAdd(state.admitted.CountFrom(from), state.rejected.CountFrom(from));
}

void SlidingLog::Forget(State& state, Instant now) const {
  state.admitted.DropBefore(WindowStart(now));
  state.rejected.DropBefore(WindowStart(now));
}

std::optional<uint64_t> SlidingLog::Room(const State& state, Instant now) const {
  return RoomBelow(limit, Used(state, Latest(state, now)));
}

SlidingLog::Receipt SlidingLog::Take(State& state, uint64_t n, Instant now) const {
  now = Latest(state, now);
  Forget(state, now);
  return state.admitted.Add(now, n);
}

SlidingLog::Receipt SlidingLog::Reject(State& state, uint64_t n, Instant now) const {
  if (!keep_rejected) return now;
  now = Latest(state, now);
  Forget(state, now);
  state.rejected.Add(now, std::min(n, limit));
  state.rejected.KeepNewest(limit);
  return now;
}

void SlidingLog::Forgive(State& state, Receipt receipt, uint64_t n) const {
  state.rejected.Remove(receipt, std::min(n, limit));
}

uint64_t SlidingLog::Refund(State& state, Receipt receipt, uint64_t n, Instant now) const {
  if (receipt < WindowStart(Latest(state, now))) return 0;
  return state.admitted.Remove(receipt, n);
}

uint64_t SlidingLog::RefundNewest(State& state, uint64_t n, Instant now) const {
  uint64_t back = 0;
  while (back < n && !state.admitted.empty()) {
    const uint64_t removed = Refund(state, state.admitted.newest(), n - back, now);
    if (removed == 0) break;
    back += removed;
  }
  return back;
}

Instant SlidingLog::When(const State& state, uint64_t n, Instant from) const {
  if (n > limit) return kEndOfTime;
  const Instant now = Latest(state, from);
  const uint64_t used = Used(state, now), most = limit - n;
  if (used <= most) return from;
  if (state.rejected.empty()) {
    return Leaves(state.admitted.NthFrom(WindowStart(now), used - most));
  }
  // Two logs: there is room once the newest hits have left, and not now; in between, halve.
  Instant full = now, free = Leaves(Latest(state, now));
  while (free - full > Duration(1)) {
    const Instant middle = full + (free - full) / 2;
    (Used(state, middle) <= most ? free : full) = middle;
  }
  return free;
}

Instant SlidingLog::Reset(const State& state, Instant now) const {
  const Instant newest = Latest(state, Instant::min());
  return newest == Instant::min() ? now : std::max(now, Leaves(newest));
}

uint64_t SlidingLog::Use(const State& state, Instant now) const {
  return Used(state, Latest(state, now));
}

SlidingLog::State SlidingLog::Start(uint64_t use, Instant now) const {
  State state;
  state.admitted.Add(now, use);
  return state;
}

uint32_t SlidingLog::Fill(const State& state, Instant now) const {
  return FillOf(Use(state, now), limit);
}

}  // namespace weir
