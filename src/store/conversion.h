// Changing a limit while it is in use: what was used stays used.
//
// The state was brought to the instant of the change, `at`, under the old numbers. Where the state
// means the same under the new numbers it is taken over as it is; otherwise the new limit starts
// from the same use, or unused where that cannot be expressed (tiers, copies).
#pragma once

#include "algorithms/limit.h"

namespace weir {

template <typename Old, typename New>
typename New::State ConvertState(const Old& old, typename Old::State& state, const New& next,
                                 Instant at) {
  if constexpr (std::is_same_v<Old, Copies> || std::is_same_v<New, Copies>) {
    return {};
  } else {
    return next.Start(old.Use(state, at), at);
  }
}

inline TokenBucket::State ConvertState(const TokenBucket& old, TokenBucket::State& state,
                                       const TokenBucket& next, Instant at) {
  return next.Convert(state, old, at);
}

// Whether a window or slice has the same number under both.
inline bool SameNumbering(const FixedWindow& a, const FixedWindow& b) {
  return a.anchor == b.anchor && a.per == b.per && a.calendar == b.calendar;
}
inline bool SameNumbering(const SlidingWindow& a, const SlidingWindow& b) {
  return a.per == b.per && a.slices == b.slices;
}

inline FixedWindow::State ConvertState(const FixedWindow& old, FixedWindow::State& state,
                                       const FixedWindow& next, Instant at) {
  return SameNumbering(old, next) ? state : next.Start(old.Use(state, at), at);
}

inline SlidingWindow::State ConvertState(const SlidingWindow& old, SlidingWindow::State& state,
                                         const SlidingWindow& next, Instant at) {
  return SameNumbering(old, next) ? std::move(state) : next.Start(old.Use(state, at), at);
}

inline SlidingLog::State ConvertState(const SlidingLog&, SlidingLog::State& state,
                                      const SlidingLog& next, Instant) {
  if (!next.keep_rejected) state.rejected = {};
  return std::move(state);
}

inline BurstTiers::State ConvertState(const BurstTiers&, BurstTiers::State& state,
                                      const BurstTiers& next, Instant) {
  if (!state.tiers.empty()) state.tiers.resize(next.tiers.size());
  return std::move(state);
}

inline Copies::State ConvertState(const Copies&, Copies::State& state, const Copies&, Instant) {
  return state;
}

// Of limits that requests carry the state is what it was: a bucket is full at the same instant
// under whatever numbers (redis-cell's "theoretical arrival time").
template <typename Old, typename New>
typename New::State KeepInstant(const Old& old, typename Old::State& state, const New& next,
                                Instant at) {
  if constexpr (std::is_same_v<Old, TokenBucket> && std::is_same_v<New, TokenBucket>) {
    return next.FullWhen(state, old);
  } else {
    return ConvertState(old, state, next, at);
  }
}

}  // namespace weir
