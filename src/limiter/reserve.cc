// Holds: copies of a copy-limited resource are charged to the subject's pool, to the pools of its
// groups and to that of all, and returned to the same pools.
//
// One lock guards the books (who holds, who waits). Pools are in the store and are charged without
// it, but by whoever may have to wait: he tries, and queues up if that fails, under the lock; whoever
// returns copies takes the lock afterwards and looks for waiters. So no return goes unseen.
#include "limiter/limiter_impl.h"

namespace weir {
namespace {

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
  Admitted admitted{.allowed = true, .granted = wanted.copies};
  const auto counts = [](const Charge& charge) { return !charge.shadow; };
  const bool recovering = now < copies_from_ && std::any_of(charges.begin(), charges.end(), counts);
  const bool must_wait = recovering || (behind_others && !waiting_.empty() &&
                                        waiting_.Blocks(wanted.queue(), attempt.needs));
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
    const Request request{wanted.namespace_name, wanted.resource, wanted.subject, wanted.copies,
                          wanted.min_copies};
    Charges charges =
        CopyCharges(rules, limits, request, match.enforcement == Enforcement::kShadow);
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
  attempt.hold.queue = wanted.queue();
  attempt.hold.subject = wanted.subject;
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
      } else if (waiting_.size() >= WaitRoom::kMost ||
                 (max_queue && waiting_.Count(wanted.queue(), wanted.subject) >= *max_queue)) {
        attempt.reservation.outcome = Outcome::kQueueFull;
        answer = std::move(attempt.reservation);
      } else {
        waiting_.Add(
            {std::move(wanted), After(now, wait), std::move(done), std::move(attempt.blocked_by)});
        return;
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
    const auto shares = [&](Waiter& waiter) {
      return waiter.wanted.share && waiter.wanted.subject == returned.subject;
    };
    for (Waiter& waiter : waiting_.TakeFrom(returned.queue, shares)) {
      Reservation done{.outcome = Outcome::kDone};
      told.push_back({std::move(waiter.done), std::move(done)});
    }
  }
  ServeWaiters(returned.queue, now, told);
}

void Limiter::Impl::ServeWaiters(const std::string& queue, Instant now, std::vector<Told>& told) {
  Pools taken_up;  // somebody who came earlier waits for these
  waiting_.TakeFrom(queue, [&](Waiter& waiter) {
    for (const Key& pool : waiter.blocked_by) {
      if (std::find(taken_up.begin(), taken_up.end(), pool) != taken_up.end()) return false;
    }
    Attempt attempt = Try(waiter.wanted, false, now);
    if (attempt.error != Code::kOk) {
      told.push_back({std::move(waiter.done), ErrorOf(attempt.error)});
      return true;
    }
    if (!attempt.reservation.allowed) {
      waiter.blocked_by = attempt.blocked_by;
      taken_up.insert(taken_up.end(), attempt.blocked_by.begin(), attempt.blocked_by.end());
      return false;
    }
    attempt.reservation.hold = holds_.Add(std::move(attempt.hold));
    told.push_back({std::move(waiter.done), std::move(attempt.reservation)});
    return true;
  });
}

namespace {

template <typename Told>
void TellAll(std::vector<Told>& told) {
  for (Told& one : told) one.done(one.answer);
}

}  // namespace

Result<uint64_t> Limiter::Impl::Release(const SessionId& session, const Ticket& hold,
                                        uint64_t copies, Instant now_told) {
  const Instant now = time_.Of(now_told);
  std::vector<Told> told;
  uint64_t left = 0;
  {
    const std::lock_guard lock(holds_mutex_);
    const Result<Returned> returned = holds_.Release(session, hold, copies);
    if (!returned) return returned.error();
    left = returned->left;
    Return(*returned, now, told);
  }
  TellAll(told);
  return left;
}

Result<Ticket> Limiter::Impl::Transfer(const SessionId& session, const Ticket& hold,
                                       uint64_t copies, Duration ttl, Instant now_told) {
  if (ttl <= Duration::zero()) {
    return Error{Code::kBadRequest, "a transfer needs a time to live", "ttl_ms"};
  }
  const Instant now = time_.Of(now_told);
  const std::lock_guard lock(holds_mutex_);
  return holds_.Transfer(session, hold, copies, After(now, ttl));
}

Result<Seized> Limiter::Impl::Seize(const SessionId& session, const Ticket& transfer,
                                    Instant now_told) {
  const Instant now = time_.Of(now_told);
  const std::lock_guard lock(holds_mutex_);
  if (!holds_.HasSession(session)) {
    return Error{Code::kNotHeld, "there is no such session: it has ended, or never was", "session"};
  }
  return holds_.Seize(session, transfer, now);
}

SessionId Limiter::Impl::OpenSession(Duration ttl, Instant now_told) {
  const Instant now = time_.Of(now_told);
  const std::lock_guard lock(holds_mutex_);
  return holds_.OpenSession(ttl, now);
}

bool Limiter::Impl::RenewSession(const SessionId& session, Instant now_told) {
  const Instant now = time_.Of(now_told);
  const std::lock_guard lock(holds_mutex_);
  return holds_.Renew(session, now);
}

void Limiter::Impl::EndSession(const SessionId& session, Instant now_told) {
  const Instant now = time_.Of(now_told);
  std::vector<Told> told;
  {
    const std::lock_guard lock(holds_mutex_);
    EndLocked(session, now, told);
  }
  TellAll(told);
}

void Limiter::Impl::EndLocked(const SessionId& session, Instant now, std::vector<Told>& told) {
  if (!waiting_.empty()) {
    waiting_.TakeFromAll([&](Waiter& waiter) { return waiter.wanted.session == session; });
  }
  for (const Returned& returned : holds_.EndSession(session)) Return(returned, now, told);
}

// Sessions and transfers expire, waiters lose patience, and changed rules may have made room.
void Limiter::Impl::TickHolds(Instant now) {
  std::vector<Told> told;
  {
    const std::lock_guard lock(holds_mutex_);
    for (const SessionId& session : holds_.ExpiredSessions(now)) EndLocked(session, now, told);
    for (const Returned& returned : holds_.ExpireTransfers(now)) Return(returned, now, told);
    for (const std::string& queue : waiting_.Names()) ServeWaiters(queue, now, told);
    for (Waiter& waiter :
         waiting_.TakeFromAll([&](Waiter& waiting) { return waiting.deadline <= now; })) {
      Reservation late{.outcome = Outcome::kTimeout};
      told.push_back({std::move(waiter.done), std::move(late)});
    }
  }
  TellAll(told);
}

}  // namespace weir
