// Whose turn it is: the connections of a loop that have something to read or to write.
//
// A turn is short (a read of 16 KiB and what it asks for), and who has more to do comes again later.
// There are three lines:
//
//   light      those that took less than half of an equal share of the loop's time lately: always
//              first. Together they take half of the time at most, so nobody starves behind them.
//   crowd      others that may be told `overloaded`, when bytes have come for them. In order; but once
//              the first has waited for longer than the deadline, the last comes first: those that can
//              still be answered in time are, and the late ones are told, in a tenth of the time.
//   round      others, and whoever had more to do than fits a turn: one after the other.
//
// Crowd and round take turns. How much time somebody took lately is counted by stretches of 10 ms.
//
// `Late` says whether what somebody was handed has waited too long and is to be refused. Refusing may
// take a tenth of the time, as long as there is something else to do: it costs nearly as much as
// deciding does, and a server that only refuses serves nobody. What waited because this thread was
// not run is not late: that others had turns meanwhile is part of the condition.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weir/instant.h"

namespace weir {

class Rota {
 public:
  static constexpr Duration kStretch = std::chrono::milliseconds(10);
  static constexpr uint64_t kTurnsBetween = 16;  // at least, for anybody to be late
  static constexpr int64_t kRefusing = 10;       // a tenth of the time

  class Member;

 private:
  struct Line {
    Member* first = nullptr;
    Member* last = nullptr;
  };

 public:
  // Somebody who takes turns. Leaves the rota when it goes.
  class Member {
   public:
    // `patient`: is never refused, however late.
    explicit Member(bool patient) : patient_(patient) {}
    virtual ~Member() {
      if (rota_ != nullptr) rota_->Leave(*this);
    }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // It is its turn. Returns when that ended.
    virtual Instant TakeTurn() = 0;
    bool waits() const { return line_ != nullptr; }

   private:
    friend class Rota;
    const bool patient_;
    Rota* rota_ = nullptr;  // once it has had something to do
    Line* line_ = nullptr;  // in which it waits
    Member* before_ = nullptr;
    Member* behind_ = nullptr;
    Instant since_{};          // when it was known to have something to do
    uint64_t turns_then_ = 0;  // that all had had
    uint64_t stretch_ = 0;     // in which it had its last turn
    Duration took_{};          // in that stretch
    Duration took_before_{};   // in the one before
  };

  // `deadline` 0: nobody is ever late.
  explicit Rota(Duration deadline) : deadline_(deadline) {}

  // It has something to do since `now`; nothing, if it waits already.
  void Add(Member& member, Instant now);
  // It had a turn, and has more to do.
  void AddAgain(Member& member, Instant now);
  void Leave(Member& member);
  bool empty() const {
    return light_.first == nullptr && crowd_.first == nullptr && round_.first == nullptr;
  }

  // Takes out whose turn it is; null if nobody waits.
  Member* Next(Instant now);
  // After Next: how long it has waited.
  Duration Waited(const Member& member, Instant now) const { return now - member.since_; }
  // After Next: whether it is to be refused.
  bool Late(const Member& member, Instant now) const;
  // It took so long; `refused`: to refuse.
  void Took(Member& member, Instant now, Duration time, bool refused);

 private:
  static void Push(Line& line, Member& member);
  static void Take(Member& member);
  bool PastDeadline(const Member& member, Instant now) const {
    return deadline_ > Duration::zero() && now - member.since_ > deadline_;
  }
  bool MayRefuse() const { return refused_ * kRefusing <= served_ || empty(); }
  bool IsLight(const Member& member) const;
  void Roll(Instant now);

  const Duration deadline_;
  Line light_, crowd_, round_;
  bool rounds_next_ = false;
  uint64_t turns_ = 0;

  uint64_t stretch_ = 1;
  Instant stretch_began_{};
  size_t active_ = 0;              // members that had a turn in this stretch
  Duration share_ = kStretch;      // of a light one, by how many were active in the last
  Duration served_{}, refused_{};  // of time lately
};

}  // namespace weir
