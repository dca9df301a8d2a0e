// A request whose limits are decided in different places: some by this process's memory ("here"), the
// others by a store that may have to be waited for ("remote").
//
//   here      is asked first, at once, and leaves receipts
//     refuses            -> the request is refused; the remote store is only looked at, so that the
//                           answer tells of all limits and for how long to wait
//     admits n           -> the remote store is asked for n
//       admits m <= n    -> here keeps m of n
//       refuses          -> here is cancelled, exactly: as if it had never been asked
//       fails, is late   -> what each of its limits says (`on_failure`):
//                             deny    cancelled; the request is answered `unavailable`
//                             local   here decides that limit too, meanwhile
//                             allow   the limit does not refuse
//                           and the answer says that it is `degraded`
//
// So all or nothing holds over both; between the two answers others may see what was taken here and is
// then given back. Shadows never refuse, and so never fail. Quotas refuse only together, wherever they
// are decided: where one of them has room, or does not refuse when its store is away, the others are
// like shadows.
//
// A request that waits does so until the remote store answers, or until its deadline, by a timer of the
// thread that asked. Bounded: how many wait at once. Whoever cannot wait gets what happens on failure.
// The limits that are waited for stay in use meanwhile, whatever becomes of the rules.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include <absl/container/inlined_vector.h>

#include "store/memory_store.h"
#include "store/store.h"
#include "weir/statistics.h"

namespace weir {

class Router;

// Why `on_failure` was applied.
enum class FailureCause : uint8_t {
  kLate,         // the deadline has passed
  kUnavailable,  // the store says that it cannot decide
  kTooMany,      // too many wait already
  kCannotWait,   // the asker has no thread to wait on
};
inline constexpr size_t kFailureCauses = 4;

// A request on its way through the router; whoever asks keeps it until it is answered.
class Routing {
 public:
  Routing() = default;
  Routing(const Routing&) = delete;
  Routing& operator=(const Routing&) = delete;

  // The question, as in Admission. `charges` and `refunds` stay where they are.
  std::span<Charge> charges;
  std::span<Charge> refunds;
  Want want = Want::kTake;
  Instant now{};
  Instant deadline = kEndOfTime;
  Executor* home = nullptr;
  bool keeps_receipts = false;  // somebody will settle

  // The answer: this, and what is in charges and refunds.
  Admitted admitted;
  std::vector<Receipt> receipts;  // of what was taken, if they are kept

  // The answer is there. Only if Router::Admit said false.
  virtual void Routed(const Turn& turn) = 0;
  // At what time it is decided that comes in this turn.
  virtual Instant TimeOf(const Turn& turn) { return turn; }

 protected:
  ~Routing() { assert(!waits_); }

 private:
  friend class Router;
  // The remote store's part, and the time until when it is awaited.
  class Leg final : public Admission, public Timer {
   public:
    explicit Leg(Routing& routing) : routing_(routing) {}
    void Done(const Turn& now) override;
    void Due(const Turn& now) override;

   private:
    Routing& routing_;
  };
  // A part of the charges, side by side, if it is not all of them.
  struct Part {
    std::span<Charge> all;                        // as they are asked
    absl::InlinedVector<Charge, 3> copies;        // empty if `all` are the asker's own
    absl::InlinedVector<const Charge*, 3> asked;  // of each copy, the asker's own
  };

  Router* router_ = nullptr;
  Leg leg_{*this};
  Part here_, remote_, refunds_here_, refunds_remote_;
  absl::InlinedVector<Receipt, 3> left_;  // by the stores, one for each charge
  Admitted here_admitted_;
  bool waits_ = false;
};

class Router {
 public:
  static constexpr uint64_t kMostWaiting = 1 << 16;

  // Both outlive the router; `remote` may be null: then nothing is decided there.
  Router(MemoryStore& here, Store* remote, uint64_t most_waiting = kMostWaiting)
      : here_(here), store_(remote), most_waiting_(most_waiting) {}

  // False: Routed() follows, once, on the thread of `home`.
  [[nodiscard]] bool Admit(Routing& routing);
  // It does not follow any more. What was taken here is given back; what was under way elsewhere may be
  // carried out or not.
  void Abandon(Routing& routing, Instant now);

  uint64_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  std::array<FailureCount, kFailureCauses> Failures() const;

 private:
  friend class Routing;
  using Part = Routing::Part;
  static void Split(std::span<Charge> all, bool remote, Part& part);
  static void PutBack(const Part& part, std::span<Charge> all);
  // The quotas of the part are asked as if in shadow.
  static void FreeQuotas(Part& part);

  void Begin(Routing& routing);
  bool AskHere(Routing& routing);
  bool AskRemote(Routing& routing);
  void StartWaiting(Routing& routing);
  void StopWaiting(Routing& routing);
  void Answered(Routing& routing, const Turn& now);
  void Late(Routing& routing, const Turn& now);

  // The remote store has decided.
  void Combine(Routing& routing, Instant now);
  // It has not.
  void Fail(Routing& routing, FailureCause cause, Code code, Instant now);
  bool AskInstead(Routing& routing, bool free_quotas, Instant now);
  void Refuse(Routing& routing, Instant now);
  // Of what was taken here nothing stays, or no more than was granted.
  void CancelHere(Routing& routing, Instant now);
  void ReduceHere(Routing& routing, Instant now);
  void ShowHere(Routing& routing, Instant now);
  void Finish(Routing& routing, Instant now);

  MemoryStore& here_;
  Store* const store_;
  const uint64_t most_waiting_;
  std::atomic<uint64_t> waiting_{0};
  std::array<std::atomic<uint64_t>, kFailureCauses> failures_{};
};

}  // namespace weir
