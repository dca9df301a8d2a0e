// From the store's answer to the decision, in the user's words.
#include "limiter/limiter_impl.h"

namespace weir {
namespace {

bool Decides(const Charge& a, const Charge& than) {
  if (a.refused != than.refused) return a.refused;
  // Of several refusals the one with the longest wait (never is the longest); else the least left.
  return a.refused ? a.wait > than.wait : a.remaining < than.remaining;
}

void ExplainTiers(const RuleLimit& rule, const Charge& charge, std::optional<TierStatus>& tiers) {
  if (std::holds_alternative<BurstTiers>(rule.limit)) {
    if (!tiers) tiers.emplace();
    tiers->tier = charge.tier;
    tiers->tier_limit = charge.tier_limit;
    tiers->tier_hits = charge.tier_hits;
    tiers->burst = charge.burst;
    tiers->hits_last_second = charge.used;  // unless a hard limit tells
  } else if (tiers && rule.name == "hard_limit") {
    tiers->hard_limit = std::get<SlidingLog>(rule.limit).limit;
    tiers->hard_limited = charge.refused;
    tiers->hits_last_second = charge.used;
  } else if (tiers && rule.name == "global_limit") {
    tiers->global_limit = std::get<SlidingLog>(rule.limit).limit;
    tiers->global_limited = charge.refused;
    tiers->global_hits_last_second = charge.used;
  }
}

// What the limits of one span answered; `charge` moves on.
void ExplainLimits(const RulesInForce& in_force, std::span<const RuleLimit> rules,
                   const Charge*& charge, const Charge*& deciding, Decision& decision) {
  for (const RuleLimit& rule : rules) {
    const LimitInForce& limit = in_force[rule];
    LimitStatus& status = decision.AddLimit();
    status.name = rule.name;
    status.limit = limit.numbers.most;
    status.per = limit.numbers.per;
    status.capacity = limit.numbers.capacity;
    if (limit.slot == nullptr) {
      status.remaining = kUnlimited;
      status.shadow = rule.shadow;
      continue;
    }
    status.remaining = charge->remaining;
    status.reset_after = charge->reset_after;
    status.refused = charge->refused;
    status.shadow = charge->shadow;
    if (!charge->shadow && (deciding == nullptr || Decides(*charge, *deciding))) {
      deciding = charge;
      decision.limit = rule.name;
      decision.remaining = charge->remaining;
      decision.reset_after = charge->reset_after;
    }
    if (rule.of_tiers) ExplainTiers(rule, *charge, decision.tiers);
    ++charge;
  }
}

}  // namespace

void Explain(const Admitted& admitted, const RulesInForce& in_force, const Match& match,
             std::span<const Charge> charges, Decision& decision) {
  decision.allowed = admitted.allowed;
  decision.degraded = admitted.degraded;
  decision.granted = admitted.granted;
  decision.retry_after = admitted.retry_after;
  decision.remaining = kUnlimited;
  if (match.enforcement == Enforcement::kOff) return;
  const Charge* charge = charges.data();
  const Charge* deciding = nullptr;
  ExplainLimits(in_force, match.limits, charge, deciding, decision);
  ExplainLimits(in_force, match.contract, charge, deciding, decision);
}

}  // namespace weir
