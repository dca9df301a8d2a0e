#include "fronts/grpc/native_messages.h"

#include <string>

#include "fronts/numbers.h"

namespace weir {
namespace {

void FillTiers(const TierStatus& tiers, v1::Decision& message) {
  message.set_tier(tiers.tier);
  message.set_tier_limit(tiers.tier_limit);
  message.set_tier_hits(tiers.tier_hits);
  message.set_burst(tiers.burst);
  if (tiers.hard_limit) message.set_hard_limit(*tiers.hard_limit);
  message.set_hard_limited(tiers.hard_limited);
  message.set_hits_last_second(tiers.hits_last_second);
  if (tiers.global_limit) message.set_global_limit(*tiers.global_limit);
  message.set_global_limited(tiers.global_limited);
  message.set_global_hits_last_second(tiers.global_hits_last_second);
}

v1::Reservation::Outcome ToOutcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::kGranted: return v1::Reservation::GRANTED;
    case Outcome::kRefused: return v1::Reservation::REFUSED;
    case Outcome::kQueueFull: return v1::Reservation::QUEUE_FULL;
    case Outcome::kTimeout: return v1::Reservation::TIMEOUT;
    case Outcome::kDone: return v1::Reservation::DONE;
  }
  return v1::Reservation::OUTCOME_UNSPECIFIED;
}

}  // namespace

int64_t ToMillis(Duration time) {
  constexpr int64_t kNanos = 1'000'000;
  if (time == kNever) return -1;
  return time.count() / kNanos + (time.count() % kNanos > 0 ? 1 : 0);
}

Request ToRequest(const v1::LimitRequest& message) {
  Request request;
  request.namespace_name = message.namespace_();
  request.resource = message.resource();
  request.subject = message.subject();
  if (message.has_cost()) request.cost = message.cost();
  if (message.has_min_cost()) request.min_cost = message.min_cost();
  request.settle = message.settle();
  return request;
}

void FillDecision(const Decision& decision, v1::Decision& message) {
  message.set_allowed(decision.allowed);
  message.set_granted(decision.granted);
  message.set_remaining(decision.remaining);
  message.set_retry_after_ms(ToMillis(decision.retry_after));
  message.set_reset_after_ms(ToMillis(decision.reset_after));
  message.mutable_limit()->assign(decision.limit);
  if (decision.ticket) message.set_ticket(decision.ticket.ToString());
  for (const LimitStatus& limit : decision.limits()) {
    v1::LimitStatus& status = *message.add_limits();
    status.mutable_name()->assign(limit.name);
    status.set_limit(limit.limit);
    status.set_per_ms(ToMillis(limit.per));
    status.set_remaining(limit.remaining);
    status.set_reset_after_ms(ToMillis(limit.reset_after));
    status.set_shadow(limit.shadow);
    status.set_would_refuse(limit.shadow && limit.refused);
  }
  if (decision.tiers) FillTiers(*decision.tiers, message);
  if (decision.degraded) message.set_degraded(true);
}

void FillSettled(const Settled& settled, v1::Settled& message) {
  message.set_charged(settled.charged);
  message.set_remaining(settled.remaining);
}

ReserveRequest ToReserve(const v1::ReserveRequest& message) {
  ReserveRequest request;
  request.namespace_name = message.namespace_();
  request.resource = message.resource();
  request.subject = message.subject();
  if (message.has_copies()) request.copies = message.copies();
  if (message.has_min_copies()) request.min_copies = message.min_copies();
  request.wait = FromMillis(message.wait_ms());
  if (message.has_max_queue()) request.max_queue = message.max_queue();
  request.share = message.share();
  return request;
}

void FillReservation(const Reservation& reservation, v1::Reservation& message) {
  message.set_allowed(reservation.allowed);
  message.set_outcome(ToOutcome(reservation.outcome));
  message.set_granted(reservation.granted);
  if (reservation.hold) message.set_hold(reservation.hold.ToString());
  message.set_held(reservation.held);
  message.set_per_subject(reservation.per_subject);
  message.set_held_total(reservation.held_total);
  message.set_total(reservation.total);
  for (const GroupStatus& group : reservation.groups) {
    v1::GroupStatus& status = *message.add_groups();
    status.set_name(group.name);
    status.set_limit(group.limit);
    status.set_held(group.held);
  }
}

void FillSeized(const Seized& seized, v1::Seized& message) {
  message.set_hold(seized.hold.ToString());
  message.set_namespace_(seized.namespace_name);
  message.set_resource(seized.resource);
  message.set_subject(seized.subject);
  message.set_copies(seized.copies);
  for (const std::string& group : seized.groups) message.add_groups()->set_name(group);
}

}  // namespace weir
