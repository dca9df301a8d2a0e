#include "fronts/resp/decision_reply.h"

namespace weir::resp {
namespace {

constexpr Name kAllowed("allowed"), kGranted("granted"), kRemaining("remaining"),
    kRetryAfter("retry_after_ms"), kResetAfter("reset_after_ms"), kLimit("limit"),
    kTicket("ticket"), kLimits("limits"), kName("name"), kPer("per_ms"), kCharged("charged"),
    kShadow("shadow"), kWouldRefuse("would_refuse"), kDegraded("degraded");
constexpr Name kTier("tier"), kTierLimit("tier_limit"), kTierHits("tier_hits"), kBurst("burst"),
    kHardLimit("hard_limit"), kHardLimited("hard_limited"), kHits("hits_last_second"),
    kGlobalLimit("global_limit"), kGlobalLimited("global_limited"),
    kGlobalHits("global_hits_last_second");

constexpr size_t kFields = 7, kTierFields = 10, kLimitFields = 5, kShadowFields = 2;

void WriteLimit(const LimitStatus& limit, Reply& reply) {
  reply.Map(kLimitFields + (limit.shadow ? kShadowFields : 0));
  reply.Field(kName), reply.Bulk(limit.name);
  reply.Field(kLimit), reply.UnsignedOrNull(limit.limit);
  reply.Field(kPer), reply.Integer(WholeMillis(limit.per));
  reply.Field(kRemaining), reply.UnsignedOrNull(limit.remaining);
  reply.Field(kResetAfter), reply.Integer(WholeMillis(limit.reset_after));
  if (!limit.shadow) return;
  reply.Field(kShadow), reply.Bool(true);
  reply.Field(kWouldRefuse), reply.Bool(limit.refused);
}

void WriteTiers(const TierStatus& tiers, Reply& reply) {
  reply.Field(kTier), reply.Unsigned(tiers.tier);
  reply.Field(kTierLimit), reply.UnsignedOrNull(tiers.tier_limit);
  reply.Field(kTierHits), reply.Unsigned(tiers.tier_hits);
  reply.Field(kBurst), reply.Bool(tiers.burst);
  reply.Field(kHardLimit), reply.UnsignedOrNull(tiers.hard_limit.value_or(UINT64_MAX));
  reply.Field(kHardLimited), reply.Bool(tiers.hard_limited);
  reply.Field(kHits), reply.Unsigned(tiers.hits_last_second);
  reply.Field(kGlobalLimit), reply.UnsignedOrNull(tiers.global_limit.value_or(UINT64_MAX));
  reply.Field(kGlobalLimited), reply.Bool(tiers.global_limited);
  reply.Field(kGlobalHits), reply.Unsigned(tiers.global_hits_last_second);
}

}  // namespace

void WriteDecision(const Decision& decision, Reply& reply) {
  if (decision.error != Code::kOk) return reply.Error(decision.error, decision.message);
  const bool has_ticket{decision.ticket};
  reply.Map(kFields + (has_ticket ? 1 : 0) + (decision.tiers ? kTierFields : 0) +
            (decision.degraded ? 1 : 0));
  reply.Field(kAllowed), reply.Bool(decision.allowed);
  reply.Field(kGranted), reply.Unsigned(decision.granted);
  reply.Field(kRemaining), reply.UnsignedOrNull(decision.remaining);
  reply.Field(kRetryAfter), reply.Integer(WholeMillis(decision.retry_after));
  reply.Field(kResetAfter), reply.Integer(WholeMillis(decision.reset_after));
  reply.Field(kLimit), reply.BulkOrNull(decision.limit);
  if (has_ticket) reply.Field(kTicket), reply.Bulk(decision.ticket.ToString());
  reply.Field(kLimits), reply.Array(decision.limits().size());
  for (const LimitStatus& limit : decision.limits()) WriteLimit(limit, reply);
  if (decision.tiers) WriteTiers(*decision.tiers, reply);
  if (decision.degraded) reply.Field(kDegraded), reply.Bool(true);
}

void WriteSettled(const Settled& settled, Reply& reply) {
  reply.Map(2);
  reply.Field(kCharged), reply.Unsigned(settled.charged);
  reply.Field(kRemaining), reply.UnsignedOrNull(settled.remaining);
}

}  // namespace weir::resp
