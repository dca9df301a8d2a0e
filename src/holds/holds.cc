#include "holds/holds.h"

#include <algorithm>
#include <cassert>

namespace weir {
namespace {

// What is done with the lock taken once, in a millisecond or two; the rest has its turn with the next Tick.
constexpr size_t kSlice =
    1024;                     // holds that are returned, sessions that end, tries of those who wait
constexpr size_t kFew = 256;  // waiters that are taken out

// Without a home: the answer is there on return.
class AtOnce final : public Admission {
 public:
  void Done(const Turn&) override {}
};

Error NoSession() {
  return {Code::kNotHeld, "there is no such session: it has ended, or never was", "session"};
}

std::vector<Key> PoolsOf(const std::vector<Waiter>& waiters) {
  std::vector<Key> pools;
  for (const Waiter& waiter : waiters) {
    pools.insert(pools.end(), waiter.blocked_by.begin(), waiter.blocked_by.end());
  }
  return pools;
}

}  // namespace

struct Holds::Attempt {
  Needs needs;
  Code& error = needs.error;
  Reservation& reservation = needs.shown;
  Pools pools, blocked_by;  // all, and those that had no room
  Pools announced;          // under the lock: until it is known who waits
  Hold hold;                // if it was granted
};

Holds::Holds(PoolRules& rules, CopyPools& pools, MemoryStore& store, const HoldsOptions& options)
    : rules_(rules),
      pools_(pools),
      copies_from_(options.copies_from),
      bytes_(&store, store.limits(), options.bytes),
      book_(options.node, options.outstanding, bytes_, options.most_sessions),
      room_(bytes_, store.limits()) {}

// ---- One attempt ----

void Holds::Prepare(const Wanted& wanted, Instant now, Attempt& attempt) {
  Needs& needs = attempt.needs;
  rules_.Find(wanted, now, needs);
  if (needs.error != Code::kOk) return;
  for (const Charge& charge : needs.charges) attempt.pools.push_back(charge.key);
  attempt.hold.owner = needs.owner;
  attempt.hold.queue = wanted.queue();
  attempt.hold.subject = wanted.subject;
  if (book_.HasRoom(attempt.hold)) return;
  needs.error = Code::kOverloaded;
  needs.message = "no memory is left for more holds of this namespace";
}

// With Want::kLook it is refused, and what is held is shown.
void Holds::Take(const Wanted& wanted, Instant now, Want want, Attempt& attempt) {
  Needs& needs = attempt.needs;
  const auto counts = [](const Charge& charge) { return !charge.shadow; };
  if (now < copies_from_ && std::any_of(needs.charges.begin(), needs.charges.end(), counts)) {
    want = Want::kLook;
  }
  Admitted admitted{.allowed = true, .granted = wanted.copies};
  if (!needs.charges.empty()) {
    AtOnce admission;
    admission.charges = needs.charges;
    admission.want = want;
    admission.now = now;
    [[maybe_unused]] const bool at_once = pools_.Take(admission);
    assert(at_once && "whoever has no home is answered at once");
    admitted = admission.admitted;
  }
  needs.error = admitted.error;
  if (needs.error != Code::kOk) {
    needs.message = rules_.MessageOf(needs.error);
    return;
  }
  const bool looked = want == Want::kLook;
  Reservation& reservation = attempt.reservation;
  reservation.allowed = admitted.allowed && !looked;
  reservation.outcome = reservation.allowed ? Outcome::kGranted : Outcome::kRefused;
  reservation.granted = reservation.allowed ? admitted.granted : 0;
  if (looked) attempt.blocked_by = attempt.pools;
  for (size_t i = 0; i < needs.charges.size(); ++i) {
    const Charge& charge = needs.charges[i];
    if (!looked && charge.refused && !charge.shadow) attempt.blocked_by.push_back(charge.key);
    if (reservation.allowed && charge.taken > 0) attempt.hold.pools.push_back(charge.key);
    switch (const int shown_as = needs.shown_as[i]) {
      case Needs::kOwn: reservation.held = charge.used; break;
      case Needs::kTotal: reservation.held_total = charge.used; break;
      default: reservation.groups[static_cast<size_t>(shown_as)].held = charge.used;
    }
  }
  if (!reservation.allowed) return;
  for (const GroupStatus& group : reservation.groups) attempt.hold.groups.push_back(group.name);
  attempt.hold.session = wanted.session;
  attempt.hold.copies = reservation.granted;
  attempt.hold.share = wanted.share;
}

bool Holds::TryAtOnce(const Wanted& wanted, Instant now, Attempt& attempt) {
  Prepare(wanted, now, attempt);
  if (attempt.error != Code::kOk) return true;
  if (room_.MayBlock(attempt.pools)) return false;
  Take(wanted, now, Want::kTake, attempt);
  return true;
}

// Announced, so that copies that come back in the meantime do not go unseen.
void Holds::Try(const Wanted& wanted, bool behind_others, Instant now, Attempt& attempt) {
  Prepare(wanted, now, attempt);
  if (attempt.error != Code::kOk) return;
  attempt.announced = attempt.pools;
  room_.Announce(attempt.announced);
  const bool must_wait = behind_others && room_.Blocks(attempt.pools);
  Take(wanted, now, must_wait ? Want::kLook : Want::kTake, attempt);
}

Result<Reservation> Holds::Conclude(Attempt& attempt, Instant now) {
  if (attempt.error != Code::kOk) {
    return Error{attempt.error, std::string(attempt.needs.message),
                 std::string(FieldOf(attempt.error))};
  }
  if (!attempt.reservation.allowed) return std::move(attempt.reservation);
  attempt.reservation.hold = book_.Add(std::move(attempt.hold));
  if (attempt.reservation.hold) return std::move(attempt.reservation);
  pools_.Return(attempt.hold.pools, attempt.hold.copies, now);
  return NoSession();
}

// ---- Reserving ----

void Holds::Reserve(Wanted wanted, Duration wait, std::optional<uint64_t> max_queue, Instant now,
                    ReserveDone done) {
  if (!book_.HasSession(wanted.session)) return done(NoSession());
  {
    Attempt attempt;
    if (TryAtOnce(wanted, now, attempt) &&
        (attempt.error != Code::kOk || attempt.reservation.allowed || wait <= Duration::zero())) {
      const bool taken = attempt.error == Code::kOk && attempt.reservation.allowed;
      const Result<Reservation> answer = Conclude(attempt, now);
      // Its session ended under it: somebody may wait for what it had for a moment.
      if (taken && !answer) {
        const Returned back{.pools = attempt.hold.pools};
        GiveBack({&back, 1}, now);
      }
      return done(answer);
    }
  }
  TryOrWait(std::move(wanted), wait, max_queue, now, std::move(done));
}

void Holds::TryOrWait(Wanted wanted, Duration wait, std::optional<uint64_t> max_queue, Instant now,
                      ReserveDone done) {
  Result<Reservation> answer = Reservation{};
  Aftermath after;
  {
    const std::lock_guard lock(mutex_);
    Attempt attempt;
    Try(wanted, true, now, attempt);
    const auto wait_here = [&] {
      const uint64_t ahead = max_queue ? room_.Count(wanted.queue(), wanted.subject) : 0;
      const std::optional<uint64_t> client = book_.BeginWait(wanted.session);
      if (!client) {
        answer = NoSession();
        return false;
      }
      Waiter waiter{.wanted = std::move(wanted),
                    .deadline = After(now, std::min(wait, kLongestWait)),
                    .done = std::move(done),
                    .blocked_by = std::move(attempt.blocked_by),
                    .owner = attempt.hold.owner,
                    .client = *client};
      if ((!max_queue || ahead < *max_queue) && room_.HasRoom(waiter)) {
        room_.Add(std::move(waiter));
        return true;
      }
      book_.EndWait(waiter.wanted.session);
      done = std::move(waiter.done);
      attempt.reservation.outcome = Outcome::kQueueFull;
      answer = std::move(attempt.reservation);
      return false;
    };
    const bool granted = attempt.error == Code::kOk && attempt.reservation.allowed;
    bool waits = false;
    if (attempt.error == Code::kOk && !granted && wait > Duration::zero()) {
      waits = wait_here();
    } else {
      answer = Conclude(attempt, now);
      if (granted && !answer) {
        room_.OfferNext({attempt.announced.begin(), attempt.announced.end()});
        ServeSome(now, after);
      }
    }
    room_.Unannounce(attempt.announced);
    if (waits) return;
  }
  done(answer);
}

Holds::Aftermath::~Aftermath() {
  for (Told& one : told) one.done(one.answer);
}

// ---- Those who wait ----

// Nobody is told after his session has ended.
void Holds::Answer(Waiter waiter, Result<Reservation> answer, Aftermath& after) {
  if (book_.EndWait(waiter.wanted.session)) {
    after.told.push_back({std::move(waiter.done), std::move(answer)});
  } else {
    after.gone.push_back(std::move(waiter));
  }
}

// Copies have come back: the first who wait for them are served by ServeSome.
void Holds::Note(std::span<const Returned> all) {
  if (room_.size() == 0) return;
  std::vector<Key> pools;
  for (const Returned& returned : all) {
    if (returned.share && returned.left == 0) room_.NoteDone(returned.queue, returned.subject);
    pools.insert(pools.end(), returned.pools.begin(), returned.pools.end());
  }
  room_.OfferNext(std::move(pools));
}

// Back to the pools, and to who waits for some of it.
void Holds::GiveBack(std::span<const Returned> all, Instant now) {
  for (const Returned& one : all) {
    if (one.copies > 0) pools_.Return(one.pools, one.copies, now);
  }
  const bool awaited = std::any_of(all.begin(), all.end(), [&](const Returned& one) {
    return room_.MayAwait(one.pools) || (one.share && one.left == 0 && room_.size() > 0);
  });
  if (!awaited) return;
  Aftermath after;
  const std::lock_guard lock(mutex_);
  Note(all);
  ServeSome(now, after);
}

// A slice of what there is to do for those who wait.
void Holds::ServeSome(Instant now, Aftermath& after) {
  std::vector<Waiter> ended = room_.TakeEnded(kFew), done = room_.TakeDone(kFew);
  room_.OfferLast(PoolsOf(ended));
  room_.OfferLast(PoolsOf(done));
  for (Waiter& waiter : ended) after.gone.push_back(std::move(waiter));
  for (Waiter& waiter : done) {
    Answer(std::move(waiter), Reservation{.outcome = Outcome::kDone}, after);
  }
  for (size_t steps = 0; room_.Offered() != nullptr && steps < kSlice; ++steps) {
    ServeFirst(now, after);
  }
}

// There may be room in the pool that is offered: the first who waits for it tries. Whoever leaves a pool makes
// another the first of it, so that pool is looked at again.
void Holds::ServeFirst(Instant now, Aftermath& after) {
  const Key pool = *room_.Offered();
  Waiter* const first = room_.First(pool);
  if (first == nullptr) return room_.TakeOffered();
  const Pools before = first->blocked_by;
  const auto leave = [&](const Pools& still) {
    for (const Key& left : before) {
      const bool stays = std::find(still.begin(), still.end(), left) != still.end();
      if (left != pool && !stays) room_.OfferLast({left});
    }
  };
  if (!book_.HasSession(first->wanted.session)) {
    after.gone.push_back(room_.Take(*first));
    return leave({});
  }
  if (room_.IsDone(*first)) {
    Answer(room_.Take(*first), Reservation{.outcome = Outcome::kDone}, after);
    return leave({});
  }
  if (!room_.IsFirst(*first)) {
    Pools others;
    std::copy_if(before.begin(), before.end(), std::back_inserter(others),
                 [&](const Key& other) { return other != pool; });
    return room_.SetBlockedBy(*first, std::move(others));
  }
  Attempt attempt;
  Try(first->wanted, false, now, attempt);
  if (attempt.error == Code::kOk && !attempt.reservation.allowed) {
    const Pools& blocked_by = attempt.blocked_by;
    const bool here = std::find(blocked_by.begin(), blocked_by.end(), pool) != blocked_by.end();
    room_.SetBlockedBy(*first, blocked_by);
    room_.Unannounce(attempt.announced);
    if (here) room_.TakeOffered();
    return leave(blocked_by);
  }
  Answer(room_.Take(*first), Conclude(attempt, now), after);
  room_.Unannounce(attempt.announced);
  leave({});
}

// ---- Giving back ----

Result<uint64_t> Holds::Release(const SessionId& session, const Ticket& hold, uint64_t copies,
                                Instant now, const Reach* reach) {
  const Result<Returned> returned = book_.Release(session, hold, copies, reach);
  if (!returned) return returned.error();
  GiveBack({&*returned, 1}, now);
  return returned->left;
}

Result<Ticket> Holds::Transfer(const SessionId& session, const Ticket& hold, uint64_t copies,
                               Duration ttl, Instant now, const Reach* reach) {
  if (ttl <= Duration::zero()) {
    return Error{Code::kBadRequest, "a transfer needs a time to live", "ttl_ms"};
  }
  if (ttl > kLongestTransfer) {
    return Error{Code::kBadRequest, "a transfer lives for a day at most", "ttl_ms"};
  }
  return book_.Transfer(session, hold, copies, After(now, ttl), reach);
}

void Holds::EndSession(const SessionId& session, Instant now) {
  const HoldBook::Ended ended = book_.EndSession(session, kSlice);
  GiveBack(ended.returned, now);
  if (!ended.waited) return;
  Aftermath after;
  const std::lock_guard lock(mutex_);
  room_.EndSession(session);
  ServeSome(now, after);
}

void Holds::ReleaseAll(const SessionId& session, Instant now) {
  GiveBack(book_.ReleaseAll(session, kSlice), now);
}

// ---- Time ----

// A slice of what time brings: sessions and transfers expire, waiters lose patience. False if there is more.
bool Holds::TickSome(bool look_at_pools, Instant now) {
  bool more = false;
  std::vector<SessionId> waited;
  for (const SessionId& session : book_.ExpiredSessions(now, kSlice, more)) {
    if (book_.EndSession(session, 0, now).waited) waited.push_back(session);
  }
  GiveBack(book_.TakeEnded(kSlice), now);
  GiveBack(book_.ExpireTransfers(now, kSlice, more), now);
  Aftermath after;
  const std::lock_guard lock(mutex_);
  if (look_at_pools) room_.OfferLast(room_.NextPools(kSlice));
  for (const SessionId& session : waited) room_.EndSession(session);
  std::vector<Waiter> late = room_.TakeLate(now, kFew);
  more = more || book_.any_ended() || late.size() == kFew;
  room_.OfferLast(PoolsOf(late));
  for (Waiter& waiter : late) {
    Answer(std::move(waiter), Reservation{.outcome = Outcome::kTimeout}, after);
  }
  ServeSome(now, after);
  return !more && !room_.unfinished();
}

// Between slices others have the lock. Changed rules may have made room: pools are looked at in turn.
void Holds::Tick(Instant now) {
  constexpr int kSlicesAtOnce = 32;
  bool all = false;
  for (int i = 0; i < kSlicesAtOnce && !all; ++i) {
    all = TickSome(i == 0, now);
    mutex_.LetOthersIn();
  }
}

uint64_t Holds::steps() {
  const std::lock_guard lock(mutex_);
  return room_.steps();
}

}  // namespace weir
