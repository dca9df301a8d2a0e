// The descriptors of one request: matched one by one, decided together.
#include "limiter/limiter_impl.h"

namespace weir {

Duration LengthOf(RateUnit unit) {
  using std::chrono::hours;
  switch (unit) {
    case RateUnit::kUnknown: return Duration::zero();
    case RateUnit::kSecond: return std::chrono::seconds(1);
    case RateUnit::kMinute: return std::chrono::minutes(1);
    case RateUnit::kHour: return hours(1);
    case RateUnit::kDay: return hours(24);
    case RateUnit::kMonth: return hours(24 * 30);
    case RateUnit::kYear: return hours(24 * 365);
    case RateUnit::kWeek: return hours(24 * 7);
  }
  return Duration::zero();
}

namespace {

RateUnit UnitOf(Duration per) {
  for (int i = 1; i <= static_cast<int>(RateUnit::kWeek); ++i) {
    if (LengthOf(static_cast<RateUnit>(i)) == per) return static_cast<RateUnit>(i);
  }
  return RateUnit::kUnknown;
}

using AskedAll = decltype(PreparedDescriptors::asked);
using Asked = PreparedDescriptors::Asked;

// A rule that matches may cancel another rule's limit by its name.
void CancelReplaced(AskedAll& asked) {
  for (const Asked& one : asked) {
    if (one.match.rule == nullptr) continue;
    for (const std::string& name : one.match.rule->replaces) {
      for (Asked& other : asked) {
        if (&other != &one && other.match.rule != nullptr && other.match.rule->limit_name == name) {
          other.match.limit = nullptr;
        }
      }
    }
  }
}

void ShowCharge(const Charge& charge, DescriptorStatus& status) {
  status.over = charge.refused;
  status.shadow = charge.shadow && !charge.quota;
  status.quota = charge.quota;
  status.remaining = charge.remaining;
  status.reset_after = charge.reset_after;
  status.retry_after = charge.refused ? charge.wait : Duration::zero();
}

void CountDescriptor(LimitTally& tally, const DescriptorStatus& status) {
  auto& count = !status.over ? tally.ok : status.shadow ? tally.would_refuse : tally.refused;
  count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// Which values have their own counter, in the order of the entries.
Key Limiter::Impl::DescriptorKey(const LimitInForce& limit, uint64_t keyed,
                                 std::span<const DescriptorEntry> entries) const {
  if (keyed == 0) return limit.salt;
  absl::InlinedVector<std::string_view, 8> parts;
  for (size_t i = 0; i < entries.size() && i < 64; ++i) {
    if (keyed >> i & 1) parts.push_back(entries[i].value);
  }
  return limit.salt ^ hash_.OfAll(parts);
}

// The counter of a carried limit belongs to the domain, the unit and the whole descriptor.
Key Limiter::Impl::CarriedKey(std::string_view domain, const Descriptor& descriptor) const {
  absl::InlinedVector<std::string_view, 16> parts;
  const char unit = static_cast<char>(descriptor.limit->unit);
  parts.push_back(domain);
  parts.emplace_back(&unit, 1);
  for (const DescriptorEntry& entry : descriptor.entries) {
    parts.push_back(entry.key);
    parts.push_back(entry.value);
  }
  return carried_salt_ ^ hash_.OfAll(parts);
}

// Finds the limit of a descriptor, tells what is known of it before anything is counted, and makes
// its charge. False, and the error, if the request is at fault.
bool Limiter::Impl::AskDescriptor(const RulesInForce& rules, std::string_view domain,
                                  const Descriptor& descriptor, uint64_t hits,
                                  const DescriptorMatch& match, Instant now,
                                  DescriptorStatus& status, std::optional<Charge>& charge,
                                  DescriptorDecision& decision) {
  const Enforcement enforcement = match.ns->enforcement;
  if (enforcement == Enforcement::kOff) return true;
  if (match.rule != nullptr) {
    status.name = match.rule->limit_name;
    if (match.rule->metadata) status.metadata = &*match.rule->metadata;
  }
  if (descriptor.limit) {
    if (!adhoc_) {
      decision.error = Code::kBadRequest;
      decision.message = "limits carried by requests are switched off";
      return false;
    }
    const Duration per = LengthOf(descriptor.limit->unit);
    const std::optional<Coordination>& said = match.ns->coordination;
    const CarriedLimits::Numbers numbers{
        .limit = descriptor.limit->requests_per_unit,
        .per = per.count(),
        .remote = placement_.carried_remote(),
        .replication = said ? ReplicationOf(*said) : adhoc_replication_};
    const LimitSlot* slot = CarriedSlot(numbers, now, decision.error, decision.message);
    if (slot == nullptr) return false;
    status.limited = true;
    status.limit = status.capacity = numbers.limit;
    status.unit = descriptor.limit->unit;
    status.per = per;
    charge.emplace(CarriedKey(domain, descriptor), slot, hits, hits,
                   enforcement == Enforcement::kShadow);
    return true;
  }
  if (match.limit == nullptr) return true;
  const LimitInForce& in_force = rules[*match.limit];
  status.limited = true;
  status.limit = in_force.numbers.most;
  status.capacity = in_force.numbers.capacity;
  status.per = in_force.numbers.per;
  status.unit = UnitOf(status.per);
  status.shadow = match.limit->shadow;
  const bool shadow = match.limit->shadow || enforcement == Enforcement::kShadow;
  if (in_force.without_slot && !shadow) {
    decision.error = Code::kOverloaded;
    decision.message = MessageOf(decision.error);
    return false;
  }
  if (in_force.slot == nullptr) {
    status.unlimited = true;
    status.remaining = kUnlimited;
    return true;
  }
  charge.emplace(DescriptorKey(in_force, match.keyed, descriptor.entries), in_force.slot, hits,
                 hits, shadow);
  charge->quota = match.rule->quota_mode && !charge->shadow;
  return true;
}

bool Limiter::Impl::PrepareDescriptors(const RulesInForce& rules, const DescriptorRequest& request,
                                       Instant now, weir::PreparedDescriptors& prepared,
                                       DescriptorDecision& decision) {
  prepared.Clear();
  decision.error = Code::kOk;
  decision.message = {};
  decision.over = decision.degraded = false;
  decision.statuses.clear();
  if (request.domain.empty() || request.descriptors.empty()) {
    decision.error = Code::kBadRequest;
    decision.message = request.domain.empty() ? "the domain is empty" : "there is no descriptor";
    return false;
  }
  decision.statuses.resize(request.descriptors.size());
  AskedAll& asked = prepared.asked;
  asked.resize(request.descriptors.size());
  for (size_t i = 0; i < asked.size(); ++i) {
    asked[i].match = rules.rules().MatchDescriptor(request.domain, request.descriptors[i].entries);
    if (asked[i].match.ns == nullptr) return false;  // a domain without rules limits nothing
  }
  CancelReplaced(asked);
  for (size_t i = 0; i < asked.size(); ++i) {
    const Descriptor& descriptor = request.descriptors[i];
    const uint64_t hits = descriptor.hits_addend.value_or(request.hits_addend);
    std::optional<Charge> charge;
    if (!AskDescriptor(rules, request.domain, descriptor, hits, asked[i].match, now,
                       decision.statuses[i], charge, decision)) {
      return false;
    }
    if (!charge) continue;
    store_.Prefetch(charge->key);
    asked[i].carried = descriptor.limit.has_value();
    prepared.remote = prepared.remote || charge->limit->traits.remote;
    auto& to = descriptor.is_negative_hits ? prepared.refunds : prepared.charges;
    (descriptor.is_negative_hits ? asked[i].refund : asked[i].charge) = to.size();
    to.push_back(*charge);
  }
  return true;
}

void Limiter::Impl::ConcludeDescriptors(const RulesInForce& rules, const Admitted& admitted,
                                        const weir::PreparedDescriptors& prepared,
                                        DescriptorDecision& decision) {
  if (admitted.error != Code::kOk) {
    decision.error = admitted.error;
    decision.message = MessageOf(admitted.error);
    return;
  }
  decision.over = !admitted.allowed;
  decision.degraded = admitted.degraded;
  for (size_t i = 0; i < prepared.asked.size(); ++i) {
    const Asked& asked = prepared.asked[i];
    DescriptorStatus& status = decision.statuses[i];
    if (asked.refund != SIZE_MAX) ShowCharge(prepared.refunds[asked.refund], status);
    if (asked.charge == SIZE_MAX) continue;
    ShowCharge(prepared.charges[asked.charge], status);
    if (asked.match.limit != nullptr && !asked.carried) {
      CountDescriptor(*rules.DescriptorTallyOf(*asked.match.limit), status);
    }
  }
}

}  // namespace weir
