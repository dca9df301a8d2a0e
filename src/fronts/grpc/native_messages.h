// weir.v1's messages and the limiter's words for them.
#pragma once

#include <weir/v1/limiter.pb.h>

#include "fronts/grpc/grpc_status.h"
#include "weir/decision.h"
#include "weir/hold.h"

namespace weir {

// Views into the message.
Request ToRequest(const v1::LimitRequest& message);
ReserveRequest ToReserve(const v1::ReserveRequest& message);
// Into messages that are as new.
void FillDecision(const Decision& decision, v1::Decision& message);
void FillSettled(const Settled& settled, v1::Settled& message);
void FillReservation(const Reservation& reservation, v1::Reservation& message);
void FillSeized(const Seized& seized, v1::Seized& message);

// Rounded up; -1 for kNever.
int64_t ToMillis(Duration time);

// What is wrong with a message.
inline GrpcStatus NotAMessage() {
  return {GrpcCode::kInvalidArgument, "bad_request: the message is not as weir.v1 has it"};
}
inline GrpcStatus NotATicket() {
  return ToGrpcStatus(Code::kBadRequest, "ticket: not 32 hexadecimal digits");
}
inline GrpcStatus StatusOf(const Decision& decision) {
  return ToGrpcStatus(decision.error, decision.message);
}

}  // namespace weir
