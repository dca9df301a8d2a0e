// Holds (src/holds) from above: what a request wants, and which pools it needs under the rules in force.
#include "limiter/beyond_reach.h"
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

constexpr std::string_view kGroupPrefix = "group:";

// What the pool of this limit is to who asks; its limit is shown.
int ShowPool(const CopiesMatch& match, const RuleLimit& limit, uint64_t most,
             Reservation& reservation) {
  if (&limit == match.per_subject) {
    reservation.per_subject = most;
    return Needs::kOwn;
  }
  if (&limit == match.total) {
    reservation.total = most;
    return Needs::kTotal;
  }
  reservation.groups.push_back({limit.name.substr(kGroupPrefix.size()), most, 0});
  return static_cast<int>(reservation.groups.size()) - 1;
}

}  // namespace

void Limiter::Impl::FindPool(const Wanted& wanted, Instant now, Needs& needs) {
  const LimitSlot* slot =
      CarriedSlot({.limit = wanted.workers, .copies = true}, now, needs.error, needs.message);
  if (slot == nullptr) return;
  needs.charges.emplace_back(pool_salt_ ^ hash_(wanted.subject), slot, 1, 1);
  needs.shown_as.push_back(Needs::kOwn);
  needs.shown.per_subject = wanted.workers;
  needs.owner = slot->owner;
}

void Limiter::Impl::Find(const Wanted& wanted, Instant now, Needs& needs) {
  needs.shown.per_subject = needs.shown.total = kUnlimited;
  if (wanted.workers > 0) return FindPool(wanted, now, needs);
  const auto fail = [&](Code code) {
    needs.error = code;
    needs.message = code == Code::kWrongKind ? "the resource is limited by rate: request it"
                                             : weir::MessageOf(code);
  };
  const RulesInForce& rules = InForce();
  const CopiesMatch match =
      rules.rules().MatchCopies(wanted.namespace_name, wanted.resource, wanted.subject);
  if (match.error != Code::kOk) return fail(match.error);
  const bool shadow = match.enforcement == Enforcement::kShadow;
  const Request request{wanted.namespace_name, wanted.resource, wanted.subject, wanted.copies,
                        wanted.min_copies};
  const Key subject = hash_(request.subject);
  for (const RuleLimit* limit : LimitsOf(match)) {
    const LimitInForce& in_force = rules[*limit];
    if (in_force.without_slot && !shadow) return fail(Code::kOverloaded);
    const bool limited = in_force.slot != nullptr;
    const int shown_as =
        ShowPool(match, *limit, limited ? Numbers(limit->limit).most : kUnlimited, needs.shown);
    if (!limited) continue;
    needs.charges.emplace_back(KeyOf(in_force, *limit, request, subject), in_force.slot,
                               request.cost, *request.min_cost, shadow);
    needs.shown_as.push_back(shown_as);
  }
  needs.owner = needs.charges.empty() ? store_.limits().OwnerOf(wanted.namespace_name)
                                      : needs.charges[0].limit->owner;
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
  holds_.Reserve(std::move(wanted), request.wait, request.max_queue, time_.Of(told),
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
  holds_.Reserve(std::move(wanted), request.wait, request.max_queue, time_.Of(told),
                 std::move(done));
}

Result<uint64_t> Limiter::Impl::Release(const SessionId& session, const Ticket& hold,
                                        uint64_t copies, Instant told, const Reach* reach) {
  return holds_.Release(session, hold, copies, time_.Of(told), reach);
}

Result<Ticket> Limiter::Impl::Transfer(const SessionId& session, const Ticket& hold,
                                       uint64_t copies, Duration ttl, Instant told,
                                       const Reach* reach) {
  return holds_.Transfer(session, hold, copies, ttl, time_.Of(told), reach);
}

Result<Seized> Limiter::Impl::Seize(const SessionId& session, const Ticket& transfer, Instant told,
                                    const Reach* reach) {
  return holds_.Seize(session, transfer, time_.Of(told), reach);
}

SessionId Limiter::Impl::OpenSession(Duration ttl, Instant told, std::string_view client) {
  const uint64_t whose = client.empty() ? 0 : std::max<uint64_t>(1, hash_(client).low);
  return holds_.OpenSession(ttl, whose, time_.Of(told));
}

bool Limiter::Impl::RenewSession(const SessionId& session, Instant told) {
  return holds_.RenewSession(session, time_.Of(told));
}

void Limiter::Impl::EndSession(const SessionId& session, Instant told) {
  holds_.EndSession(session, time_.Of(told));
}

void Limiter::Impl::ReleaseAll(const SessionId& session, Instant told) {
  holds_.ReleaseAll(session, time_.Of(told));
}

}  // namespace weir
