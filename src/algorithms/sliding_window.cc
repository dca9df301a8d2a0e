#include "algorithms/sliding_window.h"

#include <bit>

namespace weir {
namespace {

// floor(a * b / c), which fits.
uint64_t MulDiv(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product / c;
  return static_cast<uint64_t>(uint128{a} * b / c);
}

}  // namespace

int64_t SlidingWindow::SliceOf(Instant now) const {
  return static_cast<int64_t>(FloorDiv(int128{ToNanos(now)} * slices, per.count()));
}

Instant SlidingWindow::StartOf(int64_t slice) const { return InstantOf(slice, 0); }

Instant SlidingWindow::InstantOf(int64_t slice, uint64_t into) const {
  return InstantAt(CeilDiv(int128{slice} * per.count() + into, slices));
}

SlidingWindow::Place SlidingWindow::Locate(const State& state, Instant now) const {
  const auto length = static_cast<uint64_t>(per.count());
  const int128 start = int128{state.newest} * per.count();
  const int128 into = int128{ToNanos(now)} * slices - start;
  if (into < 0) {
    return {state.newest, static_cast<uint64_t>(CeilDiv(start, slices) * slices - start)};
  }
  if (into < length) return {state.newest, static_cast<uint64_t>(into)};
  const auto far = static_cast<uint128>(into);
  const uint128 steps = far >> 64 ? far / length : static_cast<uint64_t>(far) / length;
  return {static_cast<int64_t>(state.newest + static_cast<int128>(steps)),
          static_cast<uint64_t>(far - steps * length)};
}

uint64_t SlidingWindow::Whole(const State& state, int64_t slice) const {
  uint64_t whole = state.total;
  for (int64_t s = state.newest - slices; s <= slice - slices; ++s) whole -= state.Count(s);
  return whole;
}

uint64_t SlidingWindow::Used(const State& state, Place now) const {
  const uint64_t steps = static_cast<uint64_t>(now.slice) - static_cast<uint64_t>(state.newest);
  if (steps > slices) return 0;
  const uint64_t whole = Whole(state, now.slice), oldest = state.Count(now.slice - slices);
  switch (edge) {
    case Edge::kDrop: return whole;
    case Edge::kWeighted:
      return whole + oldest - MulDiv(oldest, now.into, static_cast<uint64_t>(per.count()));
    case Edge::kStrict: return whole + oldest;
  }
  __builtin_unreachable();
}

std::optional<uint64_t> SlidingWindow::Room(const State& state, Instant now) const {
  return RoomBelow(limit, Use(state, now));
}

SlidingWindow::Receipt SlidingWindow::Take(State& state, uint64_t n, Instant now) const {
  if (state.counts.empty()) {
    if (n == 0) return SliceOf(now);
    state.newest = SliceOf(now);
    state.counts.resize(std::bit_ceil(slices + 1));
  }
  Advance(state, Locate(state, now).slice);
  const uint64_t taken = std::min(n, UINT64_MAX - state.total);
  state.Count(state.newest) += taken;
  state.total += taken;
  return state.newest;
}

void SlidingWindow::ChargeAt(State& state, Receipt slice, uint64_t n, Instant now) const {
  if (n == 0) return;
  if (state.counts.empty()) {
    state.newest = SliceOf(now);
    state.counts.resize(std::bit_ceil(slices + 1));
  }
  Advance(state, Locate(state, now).slice);
  if (slice > state.newest || slice < state.newest - slices) return;
  const uint64_t taken = std::min(n, UINT64_MAX - state.total);
  state.Count(slice) += taken;
  state.total += taken;
}

void SlidingWindow::Advance(State& state, int64_t slice) const {
  const uint64_t steps = static_cast<uint64_t>(slice) - static_cast<uint64_t>(state.newest);
  if (steps > slices) {
    std::fill(state.counts.begin(), state.counts.end(), 0);
    state.total = 0;
  } else {
    for (int64_t gone = state.newest - slices; gone < slice - slices; ++gone) {
      state.total -= state.Count(gone);
      state.Count(gone) = 0;
    }
  }
  state.newest = slice;
}

uint64_t SlidingWindow::Refund(State& state, Receipt slice, uint64_t n, Instant now) const {
  if (state.total == 0 || slice > state.newest) return 0;
  const int64_t oldest = Locate(state, now).slice - slices + (edge == Edge::kDrop ? 1 : 0);
  if (slice < oldest) return 0;
  const uint64_t back = std::min(n, state.Count(slice));
  state.Count(slice) -= back;
  state.total -= back;
  return back;
}

uint64_t SlidingWindow::RefundNewest(State& state, uint64_t n, Instant now) const {
  if (state.total == 0) return 0;
  uint64_t back = 0;
  for (int64_t i = 0; i <= slices && back < n && state.total > 0; ++i) {
    back += Refund(state, state.newest - i, n - back, now);
  }
  return back;
}

Instant SlidingWindow::When(const State& state, uint64_t n, Instant from) const {
  if (n > limit) return kEndOfTime;
  const uint64_t most = limit - n;
  if (Use(state, from) <= most) return from;

  // The first slice in which what lies wholly in the window leaves room.
  int64_t slice = Locate(state, from).slice;
  uint64_t whole = Whole(state, slice);
  while (whole > most) whole -= state.Count(++slice - slices);
  switch (edge) {
    case Edge::kDrop: return StartOf(slice);
    case Edge::kStrict: return StartOf(slice + 1);
    case Edge::kWeighted: {
      // The oldest slice is in the way with `over` of its hits: until so much of it has left.
      const uint64_t oldest = state.Count(slice - slices), over = whole + oldest - most;
      const uint128 weight = uint128{over} * static_cast<uint64_t>(per.count());
      return InstantOf(slice, static_cast<uint64_t>((weight + oldest - 1) / oldest));
    }
  }
  __builtin_unreachable();
}

Instant SlidingWindow::Reset(const State& state, Instant now) const {
  if (Use(state, now) == 0) return now;
  int64_t slice = state.newest;
  while (state.Count(slice) == 0) --slice;
  return std::max(now, StartOf(slice + slices + (edge == Edge::kDrop ? 0 : 1)));
}

uint64_t SlidingWindow::Use(const State& state, Instant now) const {
  return state.total == 0 ? 0 : Used(state, Locate(state, now));
}

SlidingWindow::State SlidingWindow::Start(uint64_t use, Instant now) const {
  State state;
  if (use != 0) Take(state, use, now);
  return state;
}

uint32_t SlidingWindow::Fill(const State& state, Instant now) const {
  return FillOf(Use(state, now), limit);
}

void SlidingWindow::Renumber(State& state, Instant now) const {
  const int64_t here = SliceOf(now);
  if (state.counts.empty() || state.newest <= here) return;
  const auto ahead = static_cast<uint64_t>(state.newest) - static_cast<uint64_t>(here);
  std::rotate(state.counts.begin(),
              state.counts.begin() + static_cast<int64_t>(ahead & (state.counts.size() - 1)),
              state.counts.end());
  state.newest = here;
}

}  // namespace weir
