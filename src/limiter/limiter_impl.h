// Inside the limiter: match -> charges -> admit -> decision.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <absl/container/inlined_vector.h>

#include "holds/holds.h"
#include "holds/memory_copy_pools.h"
#include "limiter/call.h"
#include "limiter/carried_limits.h"
#include "limiter/rules_in_force.h"
#include "limiter/steady_time.h"
#include "limiter/ticket_book.h"
#include "store/memory_store.h"
#include "store/router.h"
#include "weir/limiter.h"

namespace weir {

std::string_view MessageOf(Code code);

class Limiter::Impl : private PoolRules {
 public:
  Impl(std::shared_ptr<const Rulebook> rules, const LimiterOptions& options, Instant now);

  enum class Mode { kTake, kLook };

  void Decide(const Request& request, Instant told, Mode mode, Decision& decision);
  void DecideWithoutWaiting(const RulesInForce& rules, const Request& request, Instant told,
                            Instant now, Mode mode, Decision& decision);
  void DecideBatch(std::span<const Request> requests, Instant told, std::span<Decision> out);
  void DecideDescriptors(const DescriptorRequest& request, Instant told,
                         DescriptorDecision& decision);
  void DecideAdhoc(const AdhocRequest& request, Instant told, Decision& decision);
  Result<Settled> Settle(const SettleRequest& request, Instant told);

  // Where it may be waited for (calls.cc).
  When Decide(DecideCall& call, Instant told);
  size_t Decide(std::span<DecideCall* const> calls, Instant told);
  When Decide(DescriptorCall& call, Instant told);
  When Settle(SettleCall& call, Instant told);
  void Abandon(DecideCall& call, Instant told);
  void Abandon(DescriptorCall& call, Instant told);
  void Abandon(SettleCall& call, Instant told);
  // The limiter's time, of what a caller says.
  Instant TimeOf(Instant told) { return time_.Of(told); }
  // A call that waited is answered (late.h).
  void Answer(DecideCall& call, const Turn& now);
  void Answer(DescriptorCall& call, const Turn& now);
  void Answer(SettleCall& call, const Turn& now);
  void GiveUp(SettleCall& call, const Turn& now);

  void SettleElsewhere(ElsewhereSettler settler) { elsewhere_ = std::move(settler); }
  SessionId OpenSession(Duration ttl, Instant told, std::string_view client);
  bool RenewSession(const SessionId& session, Instant told);
  void EndSession(const SessionId& session, Instant told);
  void ReleaseAll(const SessionId& session, Instant told);
  void Reserve(const SessionId& session, const ReserveRequest& request, Instant told,
               ReserveDone done);
  void ReservePool(const SessionId& session, const PoolRequest& request, Instant told,
                   ReserveDone done);
  Result<uint64_t> Release(const SessionId& session, const Ticket& hold, uint64_t copies,
                           Instant told, const Reach* reach);
  Result<Ticket> Transfer(const SessionId& session, const Ticket& hold, uint64_t copies,
                          Duration ttl, Instant told, const Reach* reach);
  Result<Seized> Seize(const SessionId& session, const Ticket& transfer, Instant told,
                       const Reach* reach);
  void Install(std::shared_ptr<const Rulebook> rules, Instant told);
  void Tick(Instant told);

  void CoordinateWith(Coordinator* coordinator) { store_.CoordinateWith(coordinator); }
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
  void PrepareAdhoc(const AdhocRequest& request, Instant now, Prepared& prepared);
  // At once, where nothing is remote.
  void Finish(const RulesInForce& rules, const Request& request, Mode mode, Instant now,
              Prepared& prepared, Decision& decision);
  void FinishAdhoc(const AdhocRequest& request, Instant now, Prepared& prepared,
                   Decision& decision);
  // From what was admitted to the decision.
  void Conclude(const RulesInForce& rules, const Request& request, Mode mode,
                const Admitted& admitted, Instant now, const Prepared& prepared,
                Decision& decision);
  void ConcludeAdhoc(const AdhocRequest& request, const Admitted& admitted,
                     const Prepared& prepared, Decision& decision);
  Admitted AdmitWithTicket(Prepared& prepared, Instant now, Decision& decision);
  Ticket IssueTicket(std::vector<Receipt> receipts, const Prepared& prepared, Instant now);

  void PrepareCall(const RulesInForce& rules, Instant now, DecideCall& call);
  When FinishCall(const RulesInForce& rules, Instant told, Instant now, DecideCall& call);
  When Route(const RulesInForce& rules, Instant told, Instant now, DecideCall& call);
  void ConcludeRouted(const RulesInForce& rules, Instant now, DecideCall& call);
  Instant DeadlineOf(Instant told, Duration patience) const {
    return After(told, std::min(patience, deadline_));
  }

  // False, and the error in the decision, if the request is at fault, or nothing limits it.
  bool PrepareDescriptors(const RulesInForce& rules, const DescriptorRequest& request, Instant now,
                          weir::PreparedDescriptors& prepared, DescriptorDecision& decision);
  void ConcludeDescriptors(const RulesInForce& rules, const Admitted& admitted,
                           const weir::PreparedDescriptors& prepared, DescriptorDecision& decision);
  void SettleHere(SettleCall& call, std::span<const Receipt> receipts, Instant now);
  void ConcludeSettle(SettleCall& call, Instant now);
  void Reopen(SettleCall& call, Instant now);
  void CloseReceipts(std::span<const Receipt> receipts, Instant now);
  void Count(const RulesInForce& rules, const Request& request, const Prepared& prepared,
             const Decision& decision, Instant now);
  void Sample(Instant now);
  // Which pools a subject needs (reserve.cc).
  void Find(const Wanted& wanted, Instant now, Needs& needs) override;
  std::string_view MessageOf(Code code) const override { return weir::MessageOf(code); }
  void FindPool(const Wanted& wanted, Instant now, Needs& needs);
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

  const uint64_t id_;                    // of this limiter, for the threads' caches
  const bool adhoc_;                     // requests may carry limits
  const Replication adhoc_replication_;  // by which nodes count those together
  const KeyedHash hash_;
  const Key adhoc_salt_, carried_salt_, pool_salt_;
  const Duration deadline_;
  SteadyTime time_;
  MemoryStore store_;
  const std::unique_ptr<Store> remote_;  // may be null
  const Placement placement_;
  Router router_;
  TicketBook tickets_;
  ElsewhereSettler elsewhere_;  // may be empty
  CarriedLimits carried_;

  SharedCounts adhoc_counts_;
  std::atomic<int64_t> sampled_second_{0};
  std::atomic<uint64_t> version_{0};

  MemoryCopyPools pools_;
  Holds holds_;

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
