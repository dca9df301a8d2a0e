// The token bucket: starts full, refills continuously at limit/per, holds at most burst.
//
// Kept is one instant (GCRA): when the bucket will be full again. To lose no fraction it is counted
// in ticks, from the beginning of the timeline. With g = gcd(limit, per): a nanosecond is limit/g
// ticks, a token is per/g ticks, both whole, so that refilling and taking are exact integer
// additions whatever the rate.
//
//   debt(now)  = max(0, full_at - ticks(now))      what has been used and not refilled
//   admit n    iff debt + n tokens <= burst tokens
//
// Bound: in every window of length T, admitted <= burst + limit*T/per.
// Invariant: an unused bucket, a bucket that is full again, and full_at in the past are the same.
// The bucket does not know when it was last used, so an instant earlier than that is taken at its
// word: there is more debt then, by what has been refilled since. It frees nothing.
//
// Settling downwards: a bucket that has refilled since must not be refunded on top. The bucket
// gives back at most the least debt that it has had since the ticket was issued, and each refund
// lowers the marks of the others. Buckets with open tickets carry RefundMarks (refund_marks.h); the
// others only the instant. Thesis 003, section 4.2; erratum 18.
#pragma once

#include <numeric>

#include "algorithms/algorithm.h"

namespace weir {

struct TokenBucket {
  uint64_t limit = 0;
  Duration per{1};
  uint64_t burst = 0;

  // Derived; kept so that a decision does not divide.
  uint64_t ticks_per_nano = 0;   // limit / gcd
  uint64_t ticks_per_token = 1;  // per / gcd

  struct State {
    uint128 full_at = 0;  // ticks
    bool operator==(const State&) const = default;
  };

  TokenBucket() = default;
  TokenBucket(uint64_t limit, Duration per, uint64_t burst) : limit(limit), per(per), burst(burst) {
    // At least 1, so that Check may be asked about numbers that are all zero.
    const uint64_t g = std::max<uint64_t>(1, std::gcd(limit, static_cast<uint64_t>(per.count())));
    ticks_per_nano = limit / g;
    ticks_per_token = static_cast<uint64_t>(per.count()) / g;
  }

  uint64_t Capacity() const { return burst; }

  uint128 Ticks(Instant now) const {
    const uint64_t nanos = static_cast<uint64_t>(ToNanos(now)) - static_cast<uint64_t>(INT64_MIN);
    return uint128{nanos} * ticks_per_nano;
  }
  uint128 Tokens(uint64_t n) const { return uint128{n} * ticks_per_token; }
  uint128 Debt(const State& state, Instant now) const {
    const uint128 at = Ticks(now);
    return state.full_at > at ? state.full_at - at : 0;
  }

  std::optional<uint64_t> Room(const State& state, Instant now) const {
    const uint128 debt = Debt(state, now);
    const uint128 capacity = Tokens(burst);
    if (debt > capacity) return std::nullopt;
    return WholeTokens(capacity - debt);
  }

  void Take(State& state, uint64_t n, Instant now) const {
    if (n == 0) return;
    state.full_at = Ticks(now) + std::min(Debt(state, now) + Tokens(n), kMostDebt);
  }
  void Charge(State& state, uint64_t n, Instant now) const { Take(state, n, now); }

  // The bucket's debt is lowered by n tokens, but by at most `most` ticks (see refund_marks.h).
  // Returns the ticks that were given back.
  uint128 GiveBack(State& state, uint64_t n, uint128 most, Instant now) const {
    const uint128 back = std::min({Tokens(n), most, Debt(state, now)});
    if (back != 0) state.full_at -= back;
    return back;
  }

  Instant When(const State& state, uint64_t n, Instant from) const {
    if (n > burst) return kEndOfTime;
    const uint128 need = Tokens(n) + Debt(state, from);
    const uint128 capacity = Tokens(burst);
    return need <= capacity ? from : LaterBy(from, need - capacity);
  }

  Instant Reset(const State& state, Instant now) const { return LaterBy(now, Debt(state, now)); }

  // A whole decision with one look at the debt, for the hot path: the same as Room, Take, When and
  // Reset say one after the other.
  struct Step {
    bool allowed;
    uint64_t granted, remaining;
    Duration retry_after, reset_after;
    State next;
  };
  Step Decide(const State& state, uint64_t most, uint64_t least, Instant now) const {
    const uint128 at = Ticks(now);
    const uint128 debt = state.full_at > at ? state.full_at - at : 0;
    const uint128 capacity = Tokens(burst);
    const uint64_t room = debt > capacity ? 0 : WholeTokens(capacity - debt);
    const uint64_t granted = std::min(most, room);
    if (debt > capacity || granted < least) [[unlikely]] {
      return {false, 0, room, Wait(now, When(state, least, now)), Wait(now, LaterBy(now, debt)),
              state};
    }
    const uint128 owed = debt + Tokens(granted);
    return {true,
            granted,
            room - granted,
            Duration::zero(),
            Wait(now, LaterBy(now, owed)),
            granted == 0 ? state : State{at + owed}};
  }

  uint64_t Use(const State& state, Instant now) const {
    return WholeTokens(Debt(state, now) + ticks_per_token - 1);
  }
  State Start(uint64_t use, Instant now) const {
    State state;
    Take(state, use, now);
    return state;
  }
  uint32_t Fill(const State& state, Instant now) const {
    return FillOf(Debt(state, now), Tokens(burst));
  }

  // The same debt under other numbers, rounded up to a tick.
  State Convert(const State& old_state, const TokenBucket& old, Instant now) const {
    const uint128 debt = old.Debt(old_state, now);
    if (debt == 0) return {};
    const uint128 whole = debt / old.ticks_per_token, rest = debt % old.ticks_per_token;
    const uint128 part = (rest * ticks_per_token + old.ticks_per_token - 1) / old.ticks_per_token;
    State state;
    state.full_at = Ticks(now) + std::min(Tokens(Saturate(whole)) + part, kMostDebt);
    return state;
  }

  // Full at the same instant as under other numbers, rounded up to a tick.
  State FullWhen(const State& old_state, const TokenBucket& old) const {
    if (old.ticks_per_nano == 0) return {};
    const uint128 nanos = old_state.full_at / old.ticks_per_nano;
    const uint128 rest = old_state.full_at % old.ticks_per_nano;
    const uint128 part = (rest * ticks_per_nano + old.ticks_per_nano - 1) / old.ticks_per_nano;
    return {(nanos >> 64 ? uint128{UINT64_MAX} : nanos) * ticks_per_nano + part};
  }

  // Debt is carried, never forgiven, but for what no arithmetic can hold.
  static constexpr uint128 kMostDebt = uint128{1} << 126;

 private:
  static uint64_t Saturate(uint128 n) { return n >> 64 ? UINT64_MAX : static_cast<uint64_t>(n); }
  uint64_t WholeTokens(uint128 ticks) const {
    if (ticks >> 64) return Saturate(ticks / ticks_per_token);
    return static_cast<uint64_t>(ticks) / ticks_per_token;
  }
  // The first instant >= from at which `ticks` have been refilled.
  Instant LaterBy(Instant from, uint128 ticks) const {
    if (ticks == 0) return from;
    if (ticks_per_nano == 0) return kEndOfTime;  // limit 0 never refills
    uint128 nanos;
    if (ticks_per_nano == 1) {
      nanos = ticks;
    } else if (ticks >> 64) {
      nanos = (ticks + ticks_per_nano - 1) / ticks_per_nano;
    } else {
      nanos = (static_cast<uint64_t>(ticks) - 1) / ticks_per_nano + 1;
    }
    return InstantAt(ToNanos(from) + static_cast<int128>(nanos));
  }
};

}  // namespace weir
