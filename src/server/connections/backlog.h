// How long the bytes that are to be read next have been there, as far as anybody has looked.
//
// Whoever reads a part looks how many are left. They are then there already: what is read until as many
// were read has waited since, at least. A few looks are remembered, of those that still tell something.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "net/rota.h"

namespace weir {

class Backlog {
 public:
  // `read` bytes have been read in all, and `left` more are there.
  void Look(uint64_t read, uint64_t left, const Rota::Since& now) {
    DropPassed(read);
    if (left == 0) return;
    if (count_ == looks_.size()) MakeRoom(now);
    looks_[count_++] = {read + left, now};
  }
  // Of the bytes behind the first `read`.
  const Rota::Since& Since(uint64_t read, const Rota::Since& now) {
    DropPassed(read);
    return count_ == 0 ? now : looks_.front().at;
  }

  // From now on nothing is read, for reasons of the peer's; what is there does not wait for us.
  void Pause(const Rota::Since& now) { paused_ = now.work; }
  void Resume(const Rota::Since& now) {
    for (OneLook& look : looks_) look.at.work += now.work - paused_;
  }

 private:
  void DropPassed(uint64_t read) {
    size_t passed = 0;
    while (passed < count_ && looks_[passed].until <= read) ++passed;
    if (passed > 0) Drop(0, passed);
  }
  // Takes out the one that is followed soonest by another: of its bytes that one tells nearly the same.
  void MakeRoom(const Rota::Since& now) {
    size_t least = count_ - 1;
    Duration soonest = now.work - looks_[least].at.work;
    for (size_t i = 0; i + 1 < count_; ++i) {
      const Duration next = looks_[i + 1].at.work - looks_[i].at.work;
      if (next < soonest) soonest = next, least = i;
    }
    Drop(least, 1);
  }
  void Drop(size_t from, size_t n) {
    std::copy(looks_.begin() + from + n, looks_.begin() + count_, looks_.begin() + from);
    count_ -= n;
  }

  struct OneLook {
    uint64_t until = 0;  // of all bytes
    Rota::Since at{};
  };
  std::array<OneLook, 6> looks_{};  // in order
  size_t count_ = 0;
  Duration paused_{};
};

}  // namespace weir
