// Inside the limiter: match -> charges -> admit -> decision.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <absl/container/inlined_vector.h>

#include "limiter/carried_limits.h"
#include "limiter/hold_book.h"
#include "limiter/rules_in_force.h"
#include "limiter/steady_time.h"
#include "limiter/ticket_book.h"
#include "limiter/wait_room.h"
#include "store/memory_store.h"
#include "weir/limiter.h"

namespace weir {

std::string_view MessageOf(Code code);

class Limiter::Impl {
 public:
  Impl(std::shared_ptr<const Rulebook> rules, const LimiterOptions& options, Instant now);

  // A request on its way: matched and hashed, its memory on the way to the cache.
  struct Prepared {
    Code error = Code::kOk;
    std::string_view message;
    Match match;
    Key subject;                             // the hash of it
    absl::InlinedVector<Charge, 3> charges;  // one for each limit that is limited, in order
    void Fail(Code code) {
      error = code;
      message = MessageOf(code);
    }
  };
  enum class Mode { kTake, kLook };

  void Decide(const Request& request, Instant told, Mode mode, Decision& decision);
  void DecideBatch(std::span<const Request> requests, Instant told, std::span<Decision> out);
  void DecideDescriptors(const DescriptorRequest& request, Instant told,
                         DescriptorDecision& decision);
  void DecideAdhoc(const AdhocRequest& request, Instant told, Decision& decision);
  Result<Settled> Settle(const SettleRequest& request, Instant told);
  void Settle(const SettleRequest& request, Instant told, const SettleDone& done);
  bool IsElsewhere(const Ticket& ticket) const { return elsewhere_ && !tickets_.IsOwn(ticket); }
  void SettleElsewhere(ElsewhereSettler settler) { elsewhere_ = std::move(settler); }
  SessionId OpenSession(Duration ttl, Instant now_told);
  bool RenewSession(const SessionId& session, Instant now_told);
  void EndSession(const SessionId& session, Instant now_told);
  void ReleaseAll(const SessionId& session, Instant now_told);
  void Reserve(const SessionId& session, const ReserveRequest& request, Instant told,
               ReserveDone done);
  void ReservePool(const SessionId& session, const PoolRequest& request, Instant told,
                   ReserveDone done);
  Result<uint64_t> Release(const SessionId& session, const Ticket& hold, uint64_t copies,
                           Instant now_told, const Reach* reach);
  Result<Ticket> Transfer(const SessionId& session, const Ticket& hold, uint64_t copies,
                          Duration ttl, Instant now_told, const Reach* reach);
  Result<Seized> Seize(const SessionId& session, const Ticket& transfer, Instant now_told,
                       const Reach* reach);
  void Install(std::shared_ptr<const Rulebook> rules, Instant told);
  void Tick(Instant told);

  void ShareWith(SharedUse* shared) { store_.ShareWith(shared); }
  void ApplyOthers(const Key& key, Instant told) { store_.ApplyOthers(key, time_.Of(told)); }

  std::vector<SavedState> TakeChanged(Instant told);
  size_t Restore(std::span<const SavedState> saved, Instant told);
  void LookAgain(std::span<const SavedState> saved);
  std::vector<std::string> PersistentLimits();

  // The rules as the calling thread sees them; valid until it asks again.
  const RulesInForce& InForce();
  LimiterStats Stats();
  LimiterCounts AllCounts();
  std::optional<History> Past(std::string_view ns, std::string_view resource, Instant told);
  SubjectReport Report(std::string_view ns, std::string_view resource, std::string_view subject,
                       Instant told);

 private:
  void Prepare(const RulesInForce& rules, const Request& request, Prepared& prepared);
  void AddCharges(const RulesInForce& rules, const Request& request,
                  std::span<const RuleLimit> limits, Prepared& prepared);
  void Finish(const RulesInForce& rules, const Request& request, Mode mode, Instant now,
              Prepared& prepared, Decision& decision);
  Admitted AdmitWithTicket(std::span<Charge> charges, Instant now, Decision& decision);
  void Count(const RulesInForce& rules, const Request& request, const Prepared& prepared,
             const Decision& decision, Instant now);
  void Sample(Instant now);
  // Somebody to be told what became of his waiting.
  struct Told {
    ReserveDone done;
    Result<Reservation> answer;
  };
  struct Attempt;
  // These are called under holds_mutex_.
  Attempt Try(const Wanted& wanted, bool behind_others, Instant now);
  void AdmitCopies(const Wanted& wanted, std::span<Charge> charges, bool behind_others, Instant now,
                   Attempt& attempt);
  void Return(const Returned& returned, Instant now, std::vector<Told>& told);
  void Serve(std::vector<Key> pools, Instant now, std::vector<Told>& told);
  void EndLocked(const SessionId& session, Instant now, std::vector<Told>& told,
                 std::vector<Waiter>& gone);

  void ReserveOrWait(Wanted wanted, Duration wait, std::optional<uint64_t> max_queue, Instant now,
                     ReserveDone done);
  void TickHolds(Instant now);
  bool TickHoldsOnce(Instant now);
  using Charges = absl::InlinedVector<Charge, 3>;  // one for each limit that is limited, in order
  Charges CopyCharges(const RulesInForce& rules, std::span<const RuleLimit* const> limits,
                      const Request& request, bool shadow) const;
  Key KeyOf(const LimitInForce& limit, const RuleLimit& rule, const Request& request,
            const Key& subject) const {
    switch (limit.shape) {
      case KeyShape::kSubject: return limit.salt ^ subject;
      case KeyShape::kNothing: return limit.salt;
      case KeyShape::kParts: break;
    }
    return limit.salt ^ PartsKey(rule, request);
  }
  // Null, and why, if the numbers are wrong or too many.
  const LimitSlot* CarriedSlot(const CarriedLimits::Numbers& numbers, Instant now, Code& error,
                               std::string_view& message);
  Key CarriedKey(std::string_view domain, const Descriptor& descriptor) const;
  Key DescriptorKey(const LimitInForce& limit, uint64_t keyed,
                    std::span<const DescriptorEntry> entries) const;
  bool AskDescriptor(const RulesInForce& rules, std::string_view domain,
                     const Descriptor& descriptor, uint64_t hits, const DescriptorMatch& match,
                     Instant now, DescriptorStatus& status, std::optional<Charge>& charge,
                     DescriptorDecision& decision);
  Key PartsKey(const RuleLimit& rule, const Request& request) const;

  const uint64_t id_;            // of this limiter, for the threads' caches
  const bool adhoc_;             // requests may carry limits
  const Sharing adhoc_sharing_;  // by which nodes count those together
  const KeyedHash hash_;
  const Key adhoc_salt_, carried_salt_, pool_salt_;
  SteadyTime time_;
  MemoryStore store_;
  TicketBook tickets_;
  ElsewhereSettler elsewhere_;  // may be empty
  CarriedLimits carried_;

  SharedCounts adhoc_counts_;
  std::atomic<int64_t> sampled_second_{0};
  std::atomic<uint64_t> version_{0};

  const Instant copies_from_;  // none are granted before
  std::mutex holds_mutex_;
  // Guarded by holds_mutex_.
  FairRoom holds_room_;  // of holds, transfers, sessions and those who wait
  HoldBook holds_;
  WaitRoom waiting_;

  std::mutex install_mutex_;  // held while rules are installed, and never by a decision
  SlotNames names_;           // guarded by install_mutex_
  std::mutex mutex_;
  std::shared_ptr<const RulesInForce> rules_;  // guarded by mutex_; changed by who has both
};

// Fills in what the user is told from what the store has answered (explain.cc).
void Explain(const Admitted& admitted, const RulesInForce& in_force, const Match& match,
             std::span<const Charge> charges, Decision& decision);

inline constexpr size_t kLongestSubject = 1024;

}  // namespace weir
