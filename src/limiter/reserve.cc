// Holds: copies of a copy-limited resource are charged to the subject's pool, to the pools of its
// groups and to that of all, and returned to the same pools.
//
// Nothing is done under the lock for long: what a session held is returned in slices, and pools whose
// room may have been changed by other rules are looked at in turn (Tick).
//
// One lock guards the books (who holds, who waits). Pools are in the store and are charged without
// it, but by whoever may have to wait: he tries, and queues up if that fails, under the lock; whoever
// returns copies takes the lock afterwards and looks for waiters. So no return goes unseen.
#include <algorithm>
#include <thread>

#include "limiter/limiter_impl.h"

namespace weir {
namespace {

constexpr size_t kSlice = 1024;  // holds that are returned with the lock taken once: a millisecond
constexpr int kTriesAtOnce = 4096;  // of waiters; the others have their turn with the next Tick

using CopyLimits = absl::InlinedVector<const RuleLimit*, 4>;

CopyLimits LimitsOf(const CopiesMatch& match) {
  CopyLimits limits;
  if (match.resource == nullptr || match.enforcement == Enforcement::kOff) return limits;
  limits.push_back(match.per_subject);
  if (match.total != nullptr) limits.push_back(match.total);
  limits.insert(limits.end(), match.groups.begin(), match.groups.end());
  return limits;
}

Error ErrorOf(Code code) {
  if (code == Code::kWrongKind) {
    return {code, "the resource is limited by rate: request it", "resource"};
  }
  return {code, std::string(MessageOf(code)), "resource"};
}

constexpr std::string_view kGroupPrefix = "group:";

void ShowPool(const CopiesMatch& match, const RuleLimit& limit, uint64_t most, uint64_t held,
              Reservation& reservation) {
  if (&limit == match.per_subject) {
    reservation.per_subject = most;
    reservation.held = held;
  } else if (&limit == match.total) {
    reservation.total = most;
    reservation.held_total = held;
  } else {
    reservation.groups.push_back({limit.name.substr(kGroupPrefix.size()), most, held});
  }
}

}  // namespace

// One try to get what is wanted.
struct Limiter::Impl::Attempt {
  Code error = Code::kOk;
  std::string_view message;
  Reservation reservation;
  Pools needs, blocked_by;  // all pools, and those that had no room
  Hold hold;                // if it was granted
};

Limiter::Impl::Charges Limiter::Impl::CopyCharges(const RulesInForce& rules,
                                                  std::span<const RuleLimit* const> limits,
                                                  const Request& request, bool shadow) const {
  const Key subject = hash_(request.subject);
  Charges charges;
  for (const RuleLimit* limit : limits) {
    const LimitInForce& in_force = rules[*limit];
    if (in_force.slot == nullptr) continue;
    charges.emplace_back(KeyOf(in_force, *limit, request, subject), in_force.slot, request.cost,
                         *request.min_cost, shadow);
  }
  return charges;
}

// Admits the charges unless somebody waits for one of their pools.
void Limiter::Impl::AdmitCopies(const Wanted& wanted, std::span<Charge> charges, bool behind_others,
                                Instant now, Attempt& attempt) {
  for (const Charge& charge : charges) attempt.needs.push_back(charge.key);
  attempt.hold.owner =
      charges.empty() ? store_.limits().OwnerOf(wanted.namespace_name) : charges[0].limit->owner;
  attempt.hold.queue = wanted.queue();
  attempt.hold.subject = wanted.subject;
  if (!holds_.HasRoom(attempt.hold)) {
    attempt.error = Code::kOverloaded;
    attempt.message = "no memory is left for more holds of this namespace";
    return;
  }
  Admitted admitted{.allowed = true, .granted = wanted.copies};
  const auto counts = [](const Charge& charge) { return !charge.shadow; };
  const bool recovering = now < copies_from_ && std::any_of(charges.begin(), charges.end(), counts);
  const bool must_wait =
      recovering || (behind_others && !waiting_.empty() && waiting_.Blocks(attempt.needs));
  if (must_wait) {
    admitted = store_.PeekNow(charges, now);  // for what is shown
    admitted.allowed = false;
    attempt.blocked_by = attempt.needs;
  } else if (!charges.empty()) {
    admitted = store_.AdmitNow(charges, now);
  }
  attempt.error = admitted.error;
  if (attempt.error != Code::kOk) {
    attempt.message = MessageOf(attempt.error);
    return;
  }
  Reservation& reservation = attempt.reservation;
  reservation.allowed = admitted.allowed;
  reservation.outcome = admitted.allowed ? Outcome::kGranted : Outcome::kRefused;
  reservation.granted = admitted.allowed ? admitted.granted : 0;
  for (const Charge& charge : charges) {
    if (!must_wait && charge.refused && !charge.shadow) attempt.blocked_by.push_back(charge.key);
    if (admitted.allowed && charge.taken > 0) attempt.hold.pools.push_back(charge.key);
  }
}

Limiter::Impl::Attempt Limiter::Impl::Try(const Wanted& wanted, bool behind_others, Instant now) {
  Attempt attempt;
  Reservation& reservation = attempt.reservation;
  reservation.per_subject = reservation.total = kUnlimited;
  if (wanted.workers > 0) {
    const LimitSlot* slot =
        CarriedSlot({.limit = wanted.workers, .copies = true}, now, attempt.error, attempt.message);
    if (slot == nullptr) return attempt;
    Charge charge(pool_salt_ ^ hash_(wanted.subject), slot, 1, 1);
    AdmitCopies(wanted, {&charge, 1}, behind_others, now, attempt);
    reservation.per_subject = wanted.workers;
    reservation.held = charge.used;
  } else {
    const RulesInForce& rules = InForce();
    const CopiesMatch match =
        rules.rules().MatchCopies(wanted.namespace_name, wanted.resource, wanted.subject);
    attempt.error = match.error;
    if (match.error != Code::kOk) return attempt;
    const CopyLimits limits = LimitsOf(match);
    const bool shadow = match.enforcement == Enforcement::kShadow;
    for (const RuleLimit* limit : limits) {
      if (rules[*limit].without_slot && !shadow) attempt.error = Code::kOverloaded;
    }
    if (attempt.error != Code::kOk) return attempt;
    const Request request{wanted.namespace_name, wanted.resource, wanted.subject, wanted.copies,
                          wanted.min_copies};
    Charges charges = CopyCharges(rules, limits, request, shadow);
    AdmitCopies(wanted, charges, behind_others, now, attempt);
    if (attempt.error != Code::kOk) return attempt;
    auto charge = charges.begin();
    for (const RuleLimit* limit : limits) {
      const bool limited = rules[*limit].slot != nullptr;
      ShowPool(match, *limit, limited ? Numbers(limit->limit).most : kUnlimited,
               limited ? charge->used : 0, reservation);
      if (limited) ++charge;
    }
  }
  for (const GroupStatus& group : reservation.groups) attempt.hold.groups.push_back(group.name);
  attempt.hold.session = wanted.session;
  attempt.hold.copies = reservation.granted;
  attempt.hold.share = wanted.share;
  return attempt;
}

void Limiter::Impl::Reserve(const SessionId& session, const ReserveRequest& request, Instant told,
                            ReserveDone done) {
  const uint64_t least = request.min_copies.value_or(request.copies);
  if (least > request.copies) {
    return done(Error{Code::kBadRequest, "min_copies is greater than copies", "min_copies"});
  }
  if (request.copies == 0) {
    return done(Error{Code::kBadRequest, "copies must be positive", "copies"});
  }
  if (request.subject.size() > kLongestSubject) {
    return done(Error{Code::kBadRequest, "the subject is longer than 1024 bytes", "subject"});
  }
  Wanted wanted{.session = session,
                .namespace_name = std::string(request.namespace_name),
                .resource = std::string(request.resource),
                .subject = std::string(request.subject),
                .copies = request.copies,
                .min_copies = least,
                .share = request.share};
  ReserveOrWait(std::move(wanted), request.wait, request.max_queue, time_.Of(told),
                std::move(done));
}

void Limiter::Impl::ReservePool(const SessionId& session, const PoolRequest& request, Instant told,
                                ReserveDone done) {
  if (!adhoc_) {
    return done(Error{Code::kBadRequest, "limits carried by requests are switched off", ""});
  }
  if (request.workers == 0 || request.key.size() > kLongestSubject) {
    return done(Error{Code::kBadRequest, "a pool has a key of at most 1024 bytes and workers", ""});
  }
  Wanted wanted{.session = session,
                .subject = std::string(request.key),
                .share = request.share,
                .workers = request.workers};
  ReserveOrWait(std::move(wanted), request.wait, request.max_queue, time_.Of(told),
                std::move(done));
}

void Limiter::Impl::ReserveOrWait(Wanted wanted, Duration wait, std::optional<uint64_t> max_queue,
                                  Instant now, ReserveDone done) {
  Result<Reservation> answer = Reservation{};
  {
    const std::lock_guard lock(holds_mutex_);
    if (!holds_.HasSession(wanted.session)) {
      answer =
          Error{Code::kNotHeld, "there is no such session: it has ended, or never was", "session"};
    } else {
      Attempt attempt = Try(wanted, true, now);
      if (attempt.error != Code::kOk) {
        Error error = ErrorOf(attempt.error);
        if (!attempt.message.empty()) error.message = attempt.message;
        answer = std::move(error);
      } else if (attempt.reservation.allowed || wait <= Duration::zero()) {
        if (attempt.reservation.allowed) {
          attempt.reservation.hold = holds_.Add(std::move(attempt.hold));
        }
        answer = std::move(attempt.reservation);
      } else {
        const uint64_t ahead = max_queue ? waiting_.Count(wanted.queue(), wanted.subject) : 0;
        Waiter waiter{.wanted = std::move(wanted),
                      .deadline = After(now, std::min(wait, kLongestWait)),
                      .done = std::move(done),
                      .blocked_by = std::move(attempt.blocked_by),
                      .owner = attempt.hold.owner};
        if ((!max_queue || ahead < *max_queue) && waiting_.HasRoom(waiter)) {
          waiting_.Add(std::move(waiter));
          return;
        }
        done = std::move(waiter.done);
        attempt.reservation.outcome = Outcome::kQueueFull;
        answer = std::move(attempt.reservation);
      }
    }
  }
  done(answer);
}

// Gives what was returned to those who wait for it. Adds to `told` whom to tell, without the lock.
void Limiter::Impl::Return(const Returned& returned, Instant now, std::vector<Told>& told) {
  for (const Key& pool : returned.pools) store_.Return(pool, returned.copies, now);
  if (waiting_.empty()) return;
  if (returned.share && returned.left == 0) {
    for (Waiter& waiter : waiting_.TakeSharers(returned.queue, returned.subject)) {
      Reservation done{.outcome = Outcome::kDone};
      told.push_back({std::move(waiter.done), std::move(done)});
    }
  }
  Serve({returned.pools.begin(), returned.pools.end()}, now, told);
}

// There may be room in these pools: the first who wait for them try, until nobody gets anything.
// Whoever leaves a pool makes another the first of it, so that pool is looked at again.
void Limiter::Impl::Serve(std::vector<Key> pools, Instant now, std::vector<Told>& told) {
  for (int tries = 0; !pools.empty() && tries < kTriesAtOnce;) {
    const Key pool = pools.back();
    Waiter* const first = waiting_.First(pool);
    if (first == nullptr) {
      pools.pop_back();
      continue;
    }
    const Pools before = first->blocked_by;
    const auto leave = [&](const Pools& still) {
      for (const Key& left : before) {
        const bool stays = std::find(still.begin(), still.end(), left) != still.end();
        if (left != pool && !stays) pools.insert(pools.begin(), left);
      }
    };
    if (!waiting_.IsFirst(*first)) {
      Pools others;
      std::copy_if(before.begin(), before.end(), std::back_inserter(others),
                   [&](const Key& other) { return other != pool; });
      waiting_.SetBlockedBy(*first, std::move(others));
      continue;
    }
    ++tries;
    Attempt attempt = Try(first->wanted, false, now);
    if (attempt.error == Code::kOk && !attempt.reservation.allowed) {
      const Pools& blocked_by = attempt.blocked_by;
      const bool here = std::find(blocked_by.begin(), blocked_by.end(), pool) != blocked_by.end();
      waiting_.SetBlockedBy(*first, blocked_by);
      if (here) pools.pop_back();
      leave(blocked_by);
      continue;
    }
    ReserveDone done = waiting_.Take(*first).done;
    if (attempt.error == Code::kOk) {
      attempt.reservation.hold = holds_.Add(std::move(attempt.hold));
      told.push_back({std::move(done), std::move(attempt.reservation)});
    } else {
      told.push_back({std::move(done), ErrorOf(attempt.error)});
    }
    leave({});
  }
}

namespace {

template <typename Told>
void TellAll(std::vector<Told>& told) {
  for (Told& one : told) one.done(one.answer);
}

}  // namespace

Result<uint64_t> Limiter::Impl::Release(const SessionId& session, const Ticket& hold,
                                        uint64_t copies, Instant now_told, const Reach* reach) {
  const Instant now = time_.Of(now_told);
  std::vector<Told> told;
  uint64_t left = 0;
  {
    const std::lock_guard lock(holds_mutex_);
    const Result<Returned> returned = holds_.Release(session, hold, copies, reach);
    if (!returned) return returned.error();
    left = returned->left;
    Return(*returned, now, told);
  }
  TellAll(told);
  return left;
}

Result<Ticket> Limiter::Impl::Transfer(const SessionId& session, const Ticket& hold,
                                       uint64_t copies, Duration ttl, Instant now_told,
                                       const Reach* reach) {
  if (ttl <= Duration::zero()) {
    return Error{Code::kBadRequest, "a transfer needs a time to live", "ttl_ms"};
  }
  if (ttl > kLongestTransfer) {
    return Error{Code::kBadRequest, "a transfer lives for a day at most", "ttl_ms"};
  }
  const Instant now = time_.Of(now_told);
  const std::lock_guard lock(holds_mutex_);
  return holds_.Transfer(session, hold, copies, After(now, ttl), reach);
}

Result<Seized> Limiter::Impl::Seize(const SessionId& session, const Ticket& transfer,
                                    Instant now_told, const Reach* reach) {
  const Instant now = time_.Of(now_told);
  const std::lock_guard lock(holds_mutex_);
  if (!holds_.HasSession(session)) {
    return Error{Code::kNotHeld, "there is no such session: it has ended, or never was", "session"};
  }
  return holds_.Seize(session, transfer, now, reach);
}

SessionId Limiter::Impl::OpenSession(Duration ttl, Instant now_told) {
  const Instant now = time_.Of(now_told);
  const std::lock_guard lock(holds_mutex_);
  return holds_.OpenSession(ttl, now,
                            [this](const SessionId& session) { return waiting_.Waits(session); });
}

bool Limiter::Impl::RenewSession(const SessionId& session, Instant now_told) {
  const Instant now = time_.Of(now_told);
  const std::lock_guard lock(holds_mutex_);
  return holds_.Renew(session, now);
}

void Limiter::Impl::EndSession(const SessionId& session, Instant now_told) {
  const Instant now = time_.Of(now_told);
  std::vector<Told> told;
  std::vector<Waiter> gone;
  {
    const std::lock_guard lock(holds_mutex_);
    EndLocked(session, now, told, gone);
    for (const Returned& returned : holds_.TakeEnded(kSlice)) Return(returned, now, told);
  }
  TellAll(told);
}

void Limiter::Impl::ReleaseAll(const SessionId& session, Instant now_told) {
  const Instant now = time_.Of(now_told);
  std::vector<Told> told;
  {
    const std::lock_guard lock(holds_mutex_);
    holds_.ReleaseAll(session);
    for (const Returned& returned : holds_.TakeEnded(kSlice)) Return(returned, now, told);
  }
  TellAll(told);
}

void Limiter::Impl::EndLocked(const SessionId& session, Instant now, std::vector<Told>& told,
                              std::vector<Waiter>& gone) {
  holds_.EndSession(session);
  std::vector<Key> pools;
  for (Waiter& waiter : waiting_.TakeOfSession(session)) {
    pools.insert(pools.end(), waiter.blocked_by.begin(), waiter.blocked_by.end());
    gone.push_back(std::move(waiter));
  }
  Serve(std::move(pools), now, told);
}

// A slice of what has to be done: sessions and transfers expire, waiters lose patience. False if there
// is more.
bool Limiter::Impl::TickHoldsOnce(Instant now) {
  std::vector<Told> told;
  std::vector<Waiter> gone;  // their callbacks die without the lock
  bool all = true;
  {
    const std::lock_guard lock(holds_mutex_);
    for (const SessionId& session : holds_.ExpiredSessions(now, kSlice)) {
      EndLocked(session, now, told, gone);
    }
    const std::vector<Returned> ended = holds_.TakeEnded(kSlice);
    for (const Returned& returned : ended) Return(returned, now, told);
    const std::vector<Returned> expired = holds_.ExpireTransfers(now, kSlice);
    for (const Returned& returned : expired) Return(returned, now, told);
    std::vector<Waiter> late = waiting_.TakeLate(now, kSlice);
    all = ended.size() < kSlice && expired.size() < kSlice && late.size() < kSlice;
    for (Waiter& waiter : late) {
      Reservation answer{.outcome = Outcome::kTimeout};
      told.push_back({std::move(waiter.done), std::move(answer)});
    }
  }
  TellAll(told);
  return all;
}

// Between slices others have the lock. Last, changed rules may have made room.
void Limiter::Impl::TickHolds(Instant now) {
  constexpr int kSlicesAtOnce = 32;
  for (int i = 0; i < kSlicesAtOnce && !TickHoldsOnce(now); ++i) std::this_thread::yield();
  std::vector<Told> told;
  {
    const std::lock_guard lock(holds_mutex_);
    if (!waiting_.empty()) Serve(waiting_.NextPools(kSlice), now, told);
  }
  TellAll(told);
}

}  // namespace weir
