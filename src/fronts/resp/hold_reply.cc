#include "fronts/resp/hold_reply.h"

namespace weir::resp {
namespace {

constexpr Name kHoldAllowed("allowed"), kOutcome("outcome"), kHoldGranted("granted"), kHold("hold"),
    kHeld("held"), kPerSubject("per_subject"), kHeldTotal("held_total"), kTotal("total"),
    kGroups("groups"), kHoldName("name"), kHoldLimit("limit"), kCopies("copies"),
    kTransfer("transfer"), kNamespace("namespace"), kResource("resource"), kSubject("subject");

}  // namespace

void WriteReservation(const Result<Reservation>& told, Reply& reply) {
  if (!told) return reply.Error(told.error().code, told.error().message);
  const Reservation& reservation = *told;
  reply.Map(9);
  reply.Field(kHoldAllowed), reply.Bool(reservation.allowed);
  reply.Field(kOutcome), reply.Bulk(OutcomeName(reservation.outcome));
  reply.Field(kHoldGranted), reply.Unsigned(reservation.granted);
  reply.Field(kHold);
  reply.BulkOrNull(reservation.hold ? reservation.hold.ToString() : std::string());
  reply.Field(kHeld), reply.Unsigned(reservation.held);
  reply.Field(kPerSubject), reply.UnsignedOrNull(reservation.per_subject);
  reply.Field(kHeldTotal), reply.Unsigned(reservation.held_total);
  reply.Field(kTotal), reply.UnsignedOrNull(reservation.total);
  reply.Field(kGroups), reply.Array(reservation.groups.size());
  for (const GroupStatus& group : reservation.groups) {
    reply.Map(3);
    reply.Field(kHoldName), reply.Bulk(group.name);
    reply.Field(kHoldLimit), reply.UnsignedOrNull(group.limit);
    reply.Field(kHeld), reply.Unsigned(group.held);
  }
}

void WriteReleased(uint64_t left, Reply& reply) {
  reply.Map(1);
  reply.Field(kCopies), reply.Unsigned(left);
}

void WriteTransfer(const Ticket& transfer, Reply& reply) {
  reply.Map(1);
  reply.Field(kTransfer), reply.Bulk(transfer.ToString());
}

void WriteSeized(const Seized& seized, Reply& reply) {
  reply.Map(6);
  reply.Field(kHold), reply.Bulk(seized.hold.ToString());
  reply.Field(kNamespace), reply.Bulk(seized.namespace_name);
  reply.Field(kResource), reply.Bulk(seized.resource);
  reply.Field(kSubject), reply.Bulk(seized.subject);
  reply.Field(kCopies), reply.Unsigned(seized.copies);
  reply.Field(kGroups), reply.Array(seized.groups.size());
  for (const std::string& group : seized.groups) reply.Bulk(group);
}

}  // namespace weir::resp
