// Holds: copies of a copy-limited resource are charged to the subject's pool, to the pools of its
// groups and to that of all, and returned to the same pools.
#include "limiter/limiter_impl.h"

namespace weir {
namespace {

std::vector<const RuleLimit*> LimitsOf(const CopiesMatch& match) {
  std::vector<const RuleLimit*> limits;
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

void ShowPool(const CopiesMatch& match, const RuleLimit& limit, uint64_t most, uint64_t held,
              Reservation& reservation) {
  if (&limit == match.per_subject) {
    reservation.per_subject = most;
    reservation.held = held;
  } else if (&limit == match.total) {
    reservation.total = most;
    reservation.held_total = held;
  } else {
    constexpr std::string_view kPrefix = "group:";
    reservation.groups.push_back({limit.name.substr(kPrefix.size()), most, held});
  }
}

}  // namespace

std::vector<Charge> Limiter::Impl::CopyCharges(const RulesInForce& rules,
                                               std::span<const RuleLimit* const> limits,
                                               const Request& request, bool shadow) const {
  const Key subject = hash_(request.subject);
  std::vector<Charge> charges;
  for (const RuleLimit* limit : limits) {
    const LimitInForce& in_force = rules[*limit];
    if (in_force.slot == nullptr) continue;
    charges.emplace_back(KeyOf(in_force, *limit, request, subject), in_force.slot, request.cost,
                         *request.min_cost, shadow);
  }
  return charges;
}

Result<Reservation> Limiter::Impl::Reserve(std::string_view ns, std::string_view resource,
                                           std::string_view subject, uint64_t copies,
                                           uint64_t min_copies, Instant told) {
  if (min_copies > copies) {
    return Error{Code::kBadRequest, "min_copies is greater than copies", "min_copies"};
  }
  const Instant now = time_.Of(told);
  const RulesInForce& rules = InForce();
  const CopiesMatch match = rules.rules().MatchCopies(ns, resource, subject);
  if (match.error != Code::kOk) return ErrorOf(match.error);

  const std::vector<const RuleLimit*> limits = LimitsOf(match);
  const Request request{ns, resource, subject, copies, min_copies};
  std::vector<Charge> charges =
      CopyCharges(rules, limits, request, match.enforcement == Enforcement::kShadow);
  Admitted admitted{.allowed = true, .granted = copies};
  if (!charges.empty()) admitted = store_.AdmitNow(charges, now);
  if (admitted.error != Code::kOk) return ErrorOf(admitted.error);

  Reservation reservation;
  reservation.allowed = admitted.allowed;
  reservation.granted = admitted.granted;
  reservation.per_subject = reservation.total = kUnlimited;
  std::vector<Key> pools;
  auto charge = charges.begin();
  for (const RuleLimit* limit : limits) {
    if (rules[*limit].slot == nullptr) {
      ShowPool(match, *limit, kUnlimited, 0, reservation);
      continue;
    }
    ShowPool(match, *limit, Numbers(limit->limit).most, charge->used, reservation);
    if (charge->taken > 0) pools.push_back(charge->key);
    ++charge;
  }
  if (reservation.allowed && reservation.granted > 0) {
    reservation.hold = holds_.Add(std::move(pools), reservation.granted);
  }
  return reservation;
}

Result<uint64_t> Limiter::Impl::Release(const Ticket& hold, uint64_t copies, Instant told) {
  const Instant now = time_.Of(told);
  Result<HoldBook::Release> release = holds_.Take(hold, copies);
  if (!release) return release.error();
  for (const Key& pool : release->pools) store_.Return(pool, release->copies, now);
  return release->left;
}

}  // namespace weir
