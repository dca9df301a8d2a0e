// Whose turn it is: the connections of a loop that have something to read or to write.
//
// A turn is short (a read of 16 KiB and what it asks for), and who has more to do comes again later.
// There are four lines:
//
//   light      those that took less than half of an equal share of the loop's work lately: first, but
//              for half of the time at most, so that nobody starves behind them.
//   crowd      others that may be told `overloaded`, when bytes have come for them.
//   round      others, and whoever had more to do than fits a turn.
//   late       those of the lines above that have waited for longer than the deadline and may be told
//              so: they are refused. Who is begun with is refused until what is left of it is in time
//              again: a little of everybody's would leave everybody late.
//
// Each line is served in order; but of the first two, while somebody is late, every other turn goes to
// the last, who can be answered soonest. Crowd and round take turns. Refusing may take a
// twentieth of the time, as long as there is something else to do: it costs nearly as much as deciding does, and a server
// that only refuses serves nobody. What somebody took lately is counted by stretches of 10 ms.
//
// The deadline is counted in work: in the time that this loop was busy since. A thread that was
// not run for a while is not overloaded, and has nobody to refuse. So a turn counts for a millisecond at
// most: if it took longer, somebody else had the processor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weir/instant.h"

namespace weir {

class Rota {
 public:
  static constexpr Duration kStretch = std::chrono::milliseconds(10);
  static constexpr Duration kMostOfATurn = std::chrono::milliseconds(1);
  static constexpr int64_t kRefusing = 20;  // a twentieth of the time

  class Member;

  // A point in time: by the clock, and by the work that was done until then.
  struct Since {
    Instant at{};
    Duration work{};
  };

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

   protected:
    bool patient() const { return patient_; }

   private:
    friend class Rota;
    const bool patient_;
    Rota* rota_ = nullptr;  // once it has had something to do
    Line* line_ = nullptr;  // in which it waits
    Member* before_ = nullptr;
    Member* behind_ = nullptr;
    Since since_;             // when it was known to have something to do
    uint64_t stretch_ = 0;    // in which it had its last turn
    Duration took_{};         // in that stretch
    Duration took_before_{};  // in the one before
  };

  // `deadline` 0: nobody is ever late.
  explicit Rota(Duration deadline) : deadline_(deadline) {}

  Since Now(Instant now) const { return {now, worked_}; }

  // It has something to do, which has been there since `since`. Nothing, if it waits already.
  void Add(Member& member, const Since& since, Instant now);
  // The same of one that had a turn, and has more to do.
  void AddAgain(Member& member, const Since& since, Instant now);
  void Leave(Member& member);
  bool empty() const { return late_.first == nullptr && !others(); }

  // Takes out whose turn it is; null if nobody waits.
  Member* Next();
  // After Next: how long it has waited.
  Duration Waited(const Member& member, Instant now) const { return now - member.since_.at; }
  // After Next: whether it is to be refused.
  bool next_is_late() const { return next_is_late_; }
  // The loop did something else, which all have waited for.
  void AlsoWorked(Duration time) { worked_ += std::min(time, kMostOfATurn); }
  // It took so long; `refused`: to refuse.
  void Took(Member& member, Instant now, Duration time, bool refused);

 private:
  static void Push(Line& line, Member& member);
  static void PushFirst(Line& line, Member& member);
  static void Take(Member& member);
  bool heavy() const { return crowd_.first != nullptr || round_.first != nullptr; }
  bool others() const { return light_.first != nullptr || heavy(); }
  bool PastDeadline(const Member& member) const {
    return !member.patient_ && deadline_ > Duration::zero() &&
           worked_ - member.since_.work > deadline_;
  }
  bool MayRefuse() const { return refused_ * kRefusing <= served_ || !others(); }
  bool IsLight(const Member& member) const;
  void AddTo(Line& line, Member& member, const Since& since, Instant now);
  void SetLateApart(Line& line);
  Member* EitherEnd(const Line& line);
  Member* Choose();
  void Roll(Instant now);

  const Duration deadline_;
  Line light_, crowd_, round_, late_;
  bool rounds_next_ = false, last_next_ = false;
  bool next_is_late_ = false, next_is_light_ = false;

  uint64_t stretch_ = 1;
  Instant stretch_began_{};
  size_t active_ = 0;              // members that had a turn in this stretch
  Duration stretch_work_{};        // of all of them
  Duration share_ = kStretch;      // of a light one, by those of the last stretch
  Duration served_{}, refused_{};  // of work lately
  Duration served_light_{};        // of served_
  Duration worked_{};              // ever
};

}  // namespace weir
