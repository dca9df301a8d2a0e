// The fixed window: at most limit in each window; windows are aligned to the anchor.
//
//   epoch           windows of length per, counted from 1970
//   first_request   the window begins with the first request after the last one has ended
//   calendar        the days, weeks, months or years of a time zone (calendar.h)
//
// Kept are the window and the count in it, which turn over together. An instant before the state's
// window counts as one in it: of two threads that cross a boundary with stamps out of order, none
// sets the other's window free. Wall time only numbers the windows: a state that was stored under a
// clock ahead of this one is renumbered to it when it is loaded, use kept (Renumber), so a clock
// that was set back between two runs neither frees nor locks anyone.
//
// Bound: limit per window; up to 2*limit in a window of length per laid across a boundary.
// Thesis 003, section 4.3.
#pragma once

#include <memory>

#include "algorithms/algorithm.h"
#include "algorithms/calendar.h"

namespace weir {

struct FixedWindow {
  enum class Anchor { kEpoch, kFirstRequest, kCalendar };

  uint64_t limit = 0;
  Duration per{1};  // calendar: the nominal length (month 30 days, year 365), only for display
  Anchor anchor = Anchor::kEpoch;
  std::shared_ptr<const Calendar> calendar = nullptr;  // only for kCalendar

  struct State {
    int64_t window = 0;  // its number; for first_request the instant at which it began, in ns
    uint64_t used = 0;   // 0: unused, and `window` means nothing
    bool operator==(const State&) const = default;
  };
  using Receipt = int64_t;  // the window that was charged

  uint64_t Capacity() const { return limit; }

  std::optional<uint64_t> Room(const State& state, Instant now) const {
    return RoomBelow(limit, Current(state, now).used);
  }

  Receipt Take(State& state, uint64_t n, Instant now) const {
    state = Current(state, now);
    state.used = SaturatingAdd(state.used, n);
    return state.window;
  }
  Receipt Charge(State& state, uint64_t n, Instant now) const { return Take(state, n, now); }

  // To a window that was told: nothing happens if it is not the current one.
  void ChargeAt(State& state, Receipt window, uint64_t n, Instant now) const {
    const State current = Current(state, now);
    if (current.window != window) return;
    state = {window, SaturatingAdd(current.used, n)};
  }

  uint64_t Refund(State& state, Receipt window, uint64_t n, Instant now) const {
    const State current = Current(state, now);
    if (current.used == 0 || current.window != window) return 0;
    const uint64_t back = std::min(n, current.used);
    state = current;
    state.used -= back;
    return back;
  }

  Instant When(const State& state, uint64_t n, Instant from) const {
    if (n > limit) return kEndOfTime;
    const State current = Current(state, from);
    const bool fits = current.used <= limit && n <= limit - current.used;
    return fits ? from : EndOf(current.window);
  }

  Instant Reset(const State& state, Instant now) const {
    const State current = Current(state, now);
    return current.used == 0 ? now : EndOf(current.window);
  }

  uint64_t Use(const State& state, Instant now) const { return Current(state, now).used; }
  State Start(uint64_t use, Instant now) const {
    return use == 0 ? State{} : State{WindowOf(now), use};
  }
  uint32_t Fill(const State& state, Instant now) const {
    return FillOf(Current(state, now).used, limit);
  }

  // A window later than the clock's becomes the clock's. For states that were stored: a request
  // cannot do it, since a refusal changes nothing and the key would stay locked.
  void Renumber(State& state, Instant now) const {
    state.window = std::min(state.window, WindowOf(now));
  }

  // When a window has ended; of the first_request kind too.
  Instant EndOf(int64_t window) const {
    switch (anchor) {
      case Anchor::kEpoch: return InstantAt((int128{window} + 1) * per.count());
      case Anchor::kFirstRequest: return After(FromNanos(window), per);
      case Anchor::kCalendar: return calendar->StartOf(window + 1);
    }
    __builtin_unreachable();
  }

  // The number of the window that holds `now`, were it to begin now.
  int64_t WindowOf(Instant now) const {
    switch (anchor) {
      case Anchor::kEpoch: {
        const int64_t t = ToNanos(now), length = per.count();
        return t / length - (t % length < 0);
      }
      case Anchor::kFirstRequest: return ToNanos(now);
      case Anchor::kCalendar: return calendar->WindowOf(now);
    }
    __builtin_unreachable();
  }

 private:
  // The state as it stands at `now`: of the current window, with its use or none.
  State Current(const State& state, Instant now) const {
    const int64_t here = WindowOf(now);
    if (state.used == 0) return {here, 0};
    const bool counts =
        anchor == Anchor::kFirstRequest ? now < EndOf(state.window) : state.window >= here;
    return counts ? state : State{here, 0};
  }
};

}  // namespace weir
