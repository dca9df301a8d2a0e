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

#include "limiter/beyond_reach.h"
#include "limiter/limiter_impl.h"

namespace weir {
namespace {

// What is done with the lock taken once, in a millisecond or two; the rest has its turn with the next Tick.
constexpr size_t kSlice =
    1024;                     // holds that are returned, sessions that end, tries of those who wait
constexpr size_t kFew = 256;  // waiters that are taken out

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

std::vector<Key> PoolsOf(const std::vector<Waiter>& waiters) {
  std::vector<Key> pools;
  for (const Waiter& waiter : waiters) {
    pools.insert(pools.end(), waiter.blocked_by.begin(), waiter.blocked_by.end());
  }
  return pools;
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
  if (!Reaches(request.reach, request.namespace_name)) {
    return done(Error{Code::kForbidden, std::string(kNotThisNamespace), "namespace"});
  }
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
        const uint64_t client = holds_.ClientOf(wanted.session);
        Waiter waiter{.wanted = std::move(wanted),
                      .deadline = After(now, std::min(wait, kLongestWait)),
                      .done = std::move(done),
                      .blocked_by = std::move(attempt.blocked_by),
                      .owner = attempt.hold.owner,
                      .client = client};
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

Limiter::Impl::Aftermath::~Aftermath() {
  for (Told& one : told) one.done(one.answer);
}

// Nobody is told after his session has ended.
void Limiter::Impl::Answer(Waiter waiter, Result<Reservation> answer, Aftermath& after) {
  if (holds_.HasSession(waiter.wanted.session)) {
    after.told.push_back({std::move(waiter.done), std::move(answer)});
  } else {
    after.gone.push_back(std::move(waiter));
  }
}

// Back to the pools; who waits for some of it is served by ServeSome.
void Limiter::Impl::Return(const std::vector<Returned>& all, Instant now) {
  std::vector<Key> pools;
  for (const Returned& returned : all) {
    for (const Key& pool : returned.pools) store_.Return(pool, returned.copies, now);
    if (waiting_.empty()) continue;
    if (returned.share && returned.left == 0) waiting_.NoteDone(returned.queue, returned.subject);
    pools.insert(pools.end(), returned.pools.begin(), returned.pools.end());
  }
  waiting_.OfferNext(std::move(pools));
}

// A slice of what there is to do for those who wait.
void Limiter::Impl::ServeSome(Instant now, Aftermath& after) {
  std::vector<Waiter> ended = waiting_.TakeEnded(kFew), done = waiting_.TakeDone(kFew);
  waiting_.OfferLast(PoolsOf(ended));
  waiting_.OfferLast(PoolsOf(done));
  for (Waiter& waiter : ended) after.gone.push_back(std::move(waiter));
  for (Waiter& waiter : done) {
    Answer(std::move(waiter), Reservation{.outcome = Outcome::kDone}, after);
  }
  for (size_t steps = 0; waiting_.Offered() != nullptr && steps < kSlice; ++steps) {
    ServeFirst(now, after);
  }
}

// There may be room in the pool that is offered: the first who waits for it tries. Whoever leaves a pool makes
// another the first of it, so that pool is looked at again.
void Limiter::Impl::ServeFirst(Instant now, Aftermath& after) {
  const Key pool = *waiting_.Offered();
  Waiter* const first = waiting_.First(pool);
  if (first == nullptr) return waiting_.TakeOffered();
  const Pools before = first->blocked_by;
  const auto leave = [&](const Pools& still) {
    for (const Key& left : before) {
      const bool stays = std::find(still.begin(), still.end(), left) != still.end();
      if (left != pool && !stays) waiting_.OfferLast({left});
    }
  };
  if (!holds_.HasSession(first->wanted.session)) {
    after.gone.push_back(waiting_.Take(*first));
    return leave({});
  }
  if (waiting_.IsDone(*first)) {
    Answer(waiting_.Take(*first), Reservation{.outcome = Outcome::kDone}, after);
    return leave({});
  }
  if (!waiting_.IsFirst(*first)) {
    Pools others;
    std::copy_if(before.begin(), before.end(), std::back_inserter(others),
                 [&](const Key& other) { return other != pool; });
    return waiting_.SetBlockedBy(*first, std::move(others));
  }
  Attempt attempt = Try(first->wanted, false, now);
  if (attempt.error == Code::kOk && !attempt.reservation.allowed) {
    const Pools& blocked_by = attempt.blocked_by;
    const bool here = std::find(blocked_by.begin(), blocked_by.end(), pool) != blocked_by.end();
    waiting_.SetBlockedBy(*first, blocked_by);
    if (here) waiting_.TakeOffered();
    return leave(blocked_by);
  }
  Waiter served = waiting_.Take(*first);
  if (attempt.error == Code::kOk) {
    attempt.reservation.hold = holds_.Add(std::move(attempt.hold));
    Answer(std::move(served), std::move(attempt.reservation), after);
  } else {
    Answer(std::move(served), ErrorOf(attempt.error), after);
  }
  leave({});
}

Result<uint64_t> Limiter::Impl::Release(const SessionId& session, const Ticket& hold,
                                        uint64_t copies, Instant now_told, const Reach* reach) {
  const Instant now = time_.Of(now_told);
  Aftermath after;
  const std::lock_guard lock(holds_mutex_);
  Result<Returned> returned = holds_.Release(session, hold, copies, reach);
  if (!returned) return returned.error();
  const uint64_t left = returned->left;
  Return({std::move(*returned)}, now);
  ServeSome(now, after);
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

SessionId Limiter::Impl::OpenSession(Duration ttl, Instant now_told, std::string_view client) {
  const Instant now = time_.Of(now_told);
  const uint64_t whose = client.empty() ? 0 : std::max<uint64_t>(1, hash_(client).low);
  const std::lock_guard lock(holds_mutex_);
  return holds_.OpenSession(ttl, whose, now,
                            [this](const SessionId& session) { return waiting_.Waits(session); });
}

bool Limiter::Impl::RenewSession(const SessionId& session, Instant now_told) {
  const Instant now = time_.Of(now_told);
  const std::lock_guard lock(holds_mutex_);
  return holds_.Renew(session, now);
}

void Limiter::Impl::EndSession(const SessionId& session, Instant now_told) {
  const Instant now = time_.Of(now_told);
  Aftermath after;
  const std::lock_guard lock(holds_mutex_);
  holds_.EndSession(session);
  waiting_.EndSession(session);
  Return(holds_.TakeEnded(kSlice), now);
  ServeSome(now, after);
}

void Limiter::Impl::ReleaseAll(const SessionId& session, Instant now_told) {
  const Instant now = time_.Of(now_told);
  Aftermath after;
  const std::lock_guard lock(holds_mutex_);
  holds_.ReleaseAll(session);
  Return(holds_.TakeEnded(kSlice), now);
  ServeSome(now, after);
}

// A slice of what time brings: sessions and transfers expire, waiters lose patience. False if there is more.
bool Limiter::Impl::ExpireSome(Instant now, Aftermath& after) {
  bool more = false;
  for (const SessionId& session : holds_.ExpiredSessions(now, kSlice, more)) {
    holds_.EndSession(session);
    waiting_.EndSession(session);
  }
  Return(holds_.TakeEnded(kSlice), now);
  Return(holds_.ExpireTransfers(now, kSlice), now);
  std::vector<Waiter> late = waiting_.TakeLate(now, kFew);
  more = more || holds_.any_ended() || holds_.AnyTransferExpired(now) || late.size() == kFew;
  waiting_.OfferLast(PoolsOf(late));
  for (Waiter& waiter : late) {
    Answer(std::move(waiter), Reservation{.outcome = Outcome::kTimeout}, after);
  }
  ServeSome(now, after);
  return !more && !waiting_.unfinished();
}

// Between slices others have the lock. Changed rules may have made room: pools are looked at in turn.
void Limiter::Impl::TickHolds(Instant now) {
  constexpr int kSlicesAtOnce = 32;
  bool all = false;
  for (int i = 0; i < kSlicesAtOnce && !all; ++i) {
    {
      Aftermath after;
      const std::lock_guard lock(holds_mutex_);
      if (i == 0) waiting_.OfferLast(waiting_.NextPools(kSlice));
      all = ExpireSome(now, after);
    }
    holds_mutex_.LetOthersIn();
  }
}

}  // namespace weir
