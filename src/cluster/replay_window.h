// Which datagrams of one life of a sender have come: the last kWindow numbers, one bit each. What is
// older counts as come, and so does what was sent before the first that came. A sender numbers all that
// it sends, to whomever: so there are gaps. A number that is too far ahead is not believed, or whoever
// has the key could push the window past all that the sender will ever send; if it is the sender's own,
// the window begins anew there once the sender has been asked (BeginAt).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::cluster {

class ReplayWindow {
 public:
  static constexpr uint64_t kWindow = 4096;
  static constexpr uint64_t kMostAhead = uint64_t{1} << 20;

  enum class Seen { kNew, kRepeated, kTooOld, kTooNew };

  Seen Look(uint64_t number) const {
    if (latest_ != 0 && number > latest_ && number - latest_ > kMostAhead) return Seen::kTooNew;
    if (number > latest_) return Seen::kNew;
    if (latest_ - number >= kWindow) return Seen::kTooOld;
    return (Word(number) & Bit(number)) != 0 ? Seen::kRepeated : Seen::kNew;
  }
  // Only of what is authentic, and new.
  void Note(uint64_t number) {
    if (latest_ == 0) {
      words_.fill(~uint64_t{0});
      latest_ = number;
    } else if (number > latest_) {
      const uint64_t steps = number - latest_;
      if (steps >= kWindow) {
        words_ = {};
      } else {
        for (uint64_t n = latest_ + 1; n < number; ++n) words_[Place(n)] &= ~Bit(n);
      }
      latest_ = number;
    }
    words_[Place(number)] |= Bit(number);
  }
  // What comes from now on is after this one, which has come.
  void BeginAt(uint64_t number) {
    latest_ = 0;
    Note(number);
  }

 private:
  static constexpr size_t Place(uint64_t number) { return number % kWindow / 64; }
  static constexpr uint64_t Bit(uint64_t number) { return uint64_t{1} << (number % 64); }
  uint64_t Word(uint64_t number) const { return words_[Place(number)]; }

  uint64_t latest_ = 0;  // numbers start at 1
  std::array<uint64_t, kWindow / 64> words_{};
};

}  // namespace weir::cluster
