// The limiter: the request from top to bottom, in this process.
//
//   auto limiter = weir::Limiter::Open("rules.yaml", {}, clock.Now());
//   weir::Decision d = (*limiter)->Decide({"shop", "search", "user-17"}, clock.Now());
//   if (!d.allowed) wait(d.retry_after);
//
// A limiter is safe to use from any number of threads. It starts none of its own: expired state
// goes away as keys come and go, and with Tick.
//
// Time is an argument, and is trusted forwards: read it from a clock that does not jump (weir/clock.h
// has one). An instant before the latest that any thread has told is decided at that latest one: a
// caller that goes back, by however much, gains nothing and loses nothing but the time until its
// clock has caught up. Of instants that are less than a millisecond apart either may come first.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/clock.h"
#include "weir/decision.h"
#include "weir/descriptor.h"
#include "weir/error.h"
#include "weir/hold.h"
#include "weir/instant.h"
#include "weir/saved_state.h"
#include "weir/statistics.h"

namespace weir {

class Rulebook;                    // immutable; rules/rulebook.h
class Store;                       // store/store.h
class MemoryStore;                 // store/memory_store.h
class DecideCall;                  // limiter/call.h: questions whose answers may be waited for
class DescriptorCall;              // the same
class SettleCall;                  // the same
enum class When : uint8_t;         // the same
class Coordinator;                 // store/coordinator.h
enum class Replication : uint8_t;  // the same

struct LimiterOptions {
  uint64_t memory_bytes = uint64_t{1} << 30;  // for states, tickets, holds and those who wait
  std::array<uint64_t, 2> secret{};           // keys the hashes; zero: drawn at random
  std::string node = "local";
  bool adhoc = true;  // requests may carry limits of their own
  Replication
      adhoc_replication{};  // by which nodes count those together (CoordinateWith); none: each alone
  Duration ticket_ttl = std::chrono::minutes(10);
  size_t max_tickets = size_t{1} << 20;
  // Limits at once: of rules, of rules whose use is kept, and of requests. What comes on top is not
  // counted, so requests that meet it are answered Code::kOverloaded.
  uint32_t max_limits = (1u << 23) - 1;

  // Decides the limits that this process's memory does not decide (coordination: shared); is called once.
  // Empty: there is none. What it does not answer within `deadline`, limits decide by their `on_failure`.
  std::function<std::unique_ptr<Store>(MemoryStore& here)> remote_store;
  bool all_remote = false;  // it decides all limits but those on copies
  Duration deadline = std::chrono::milliseconds(20);

  // For a limiter that starts again after a crash: grant no copies for so long, for whoever held
  // some may not have noticed yet. And for one that may crash: where to keep how many holds there
  // are, in memory that outlives it.
  Duration no_copies_for{};
  std::atomic<uint64_t>* holds_outstanding = nullptr;
};

using SettleDone = std::function<void(const Result<Settled>&)>;
// Has the node that issued the ticket settle it. Calls `done` once, from any thread.
using ElsewhereSettler = std::function<void(const SettleRequest& request, SettleDone done)>;

struct LimiterStats {
  uint64_t keys = 0;
  uint64_t bytes = 0;       // of tables and states
  uint64_t forgotten = 0;   // states dropped before their time because memory was full
  uint64_t overloaded = 0;  // newcomers refused because memory was full and on_failure: deny
  uint64_t open_tickets = 0;
  uint64_t sessions = 0;
  uint64_t holds = 0;
  uint64_t transfers = 0;  // on their way
  uint64_t waiting = 0;    // for copies
  uint64_t awaited = 0;    // requests that wait for a remote store
  std::array<FailureCount, 4> failures{};
  uint64_t rulebook_version = 0;
};

class Limiter {
 public:
  // `path`: a rules file or a directory of them. The error lists every mistake, one a line, as
  // "file:line:column: what is wrong and what would be right".
  static Result<std::unique_ptr<Limiter>> Open(const std::string& path,
                                               const LimiterOptions& options, Instant now);
  Limiter(std::shared_ptr<const Rulebook> rules, const LimiterOptions& options, Instant now);
  ~Limiter();
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;

  // Other rules from now on. What was used stays used. Decisions under way see the old or the new.
  void Install(std::shared_ptr<const Rulebook> rules, Instant now);
  std::shared_ptr<const Rulebook> rules() const;

  // The first form spares the making of a Decision for every request. Waits for nobody: a limit that
  // another process decides does what its `on_failure` says, unless the answer is there at once.
  void Decide(const Request& request, Instant now, Decision& decision);
  Decision Decide(const Request& request, Instant now);
  // Like Decide, but takes nothing.
  Decision Peek(const Request& request, Instant now);
  // Many at once: the memory of all is fetched while the first are decided. out[i] answers
  // requests[i].
  void DecideBatch(std::span<const Request> requests, Instant now, std::span<Decision> out);

  // The descriptors of one request, all or nothing.
  void DecideDescriptors(const DescriptorRequest& request, Instant now,
                         DescriptorDecision& decision);

  // The same, where it may be waited for: see limiter/call.h. Of several: how many are not answered yet.
  When Decide(DecideCall& call, Instant now);
  size_t Decide(std::span<DecideCall* const> calls, Instant now);
  When Decide(DescriptorCall& call, Instant now);
  When Settle(SettleCall& call, Instant now);
  void Abandon(DecideCall& call, Instant now);
  void Abandon(DescriptorCall& call, Instant now);
  void Abandon(SettleCall& call, Instant now);

  // A token bucket that the request itself carries: no rule is needed. cost 0: looks, and takes
  // nothing. What was used under a key stays used when the next request carries other numbers.
  void DecideAdhoc(const AdhocRequest& request, Instant now, Decision& decision);

  // The true cost of a request decided with `settle`.
  Result<Settled> Settle(const Ticket& ticket, uint64_t cost, Instant now,
                         const Reach* reach = nullptr);
  // What settles tickets of other nodes; before the first request.
  void SettleElsewhere(ElsewhereSettler settler);

  // A session that lives until EndSession; with a `ttl`, only for so long after it was renewed. Those
  // with a ttl are bounded in number: none (a false id) if all that are open are in use. `client` says
  // whose it is, in any words: all sessions of one together may wait 12,500 times, if it is not empty.
  SessionId OpenSession(Duration ttl, Instant now, std::string_view client = {});
  bool RenewSession(const SessionId& session, Instant now);  // false: it is not there any more
  // Releases what it holds, once, and forgets what it waits for. Of very many holds some are released
  // by the next Ticks.
  void EndSession(const SessionId& session, Instant now);

  // Releases what it holds; it goes on, and so does what it waits for.
  void ReleaseAll(const SessionId& session, Instant now);

  // Calls `done` once: before it returns, or if it may wait, later and from any thread; never after
  // the session has ended.
  void Reserve(const SessionId& session, const ReserveRequest& request, Instant now,
               ReserveDone done);
  void ReservePool(const SessionId& session, const PoolRequest& request, Instant now,
                   ReserveDone done);
  // Returns how many copies of the hold are left. copies = 0: all.
  Result<uint64_t> Release(const SessionId& session, const Ticket& hold, uint64_t copies,
                           Instant now, const Reach* reach = nullptr);
  // Takes copies (0: all) out of a hold, for whoever seizes them within `ttl`, a day at most.
  Result<Ticket> Transfer(const SessionId& session, const Ticket& hold, uint64_t copies,
                          Duration ttl, Instant now, const Reach* reach = nullptr);
  Result<Seized> Seize(const SessionId& session, const Ticket& transfer, Instant now,
                       const Reach* reach = nullptr);

  // The states of limits with `persist` that have changed since the last call, to be written down.
  std::vector<SavedState> TakeChanged(Instant now);
  // Puts back what was written down, before the first request. Returns how many were of use. The
  // secret (LimiterOptions) must be the same as then.
  size_t Restore(std::span<const SavedState> saved, Instant now);
  // Counts these as changed: the next TakeChanged tells what became of them.
  void LookAgain(std::span<const SavedState> saved);
  // The names of the limits that can be restored now.
  std::vector<std::string> PersistentLimits() const;

  // Limits with `coordination: replicated` are counted together with other nodes through this, which must
  // outlive the limiter; before the first request.
  void CoordinateWith(Coordinator* coordinator);
  // Others have used something of a key: it is put into the state here.
  void ApplyOthers(uint64_t key_high, uint64_t key_low, Instant now);

  // Drops some of the state that has expired; call it now and then (the cost is bounded).
  void Tick(Instant now);

  // The subjects with the most requests, and with the most refusals, lately; best first.
  std::vector<SubjectCount> Busiest(std::string_view namespace_name,
                                    std::string_view resource) const;
  std::vector<SubjectCount> MostRefused(std::string_view namespace_name,
                                        std::string_view resource) const;
  // Those that a limit in shadow would have refused.
  std::vector<SubjectCount> WouldRefuse(std::string_view namespace_name,
                                        std::string_view resource) const;
  LimiterStats Stats() const;
  // Everything that was counted since the start; the labels come from the rules, so they are few.
  LimiterCounts AllCounts() const;
  // The last minute and day of a resource; none if there is no such resource. The past is written
  // by Tick, which has to be called every second for it.
  std::optional<History> Past(std::string_view namespace_name, std::string_view resource,
                              Instant now) const;
  // Why a subject is refused and until when, and what else its state tells.
  SubjectReport Report(std::string_view namespace_name, std::string_view resource,
                       std::string_view subject, Instant now) const;

  class Impl;  // limiter/limiter_impl.h

 private:
  std::unique_ptr<Impl> impl_;
};

// Reads rules. Null, and the mistakes in `errors` one a line, if there are any.
std::shared_ptr<const Rulebook> LoadRules(const std::string& path, std::string* errors);
std::shared_ptr<const Rulebook> ParseRules(std::string_view yaml, std::string* errors);

}  // namespace weir
