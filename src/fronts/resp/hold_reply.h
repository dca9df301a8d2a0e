// What is held, as answers of the Redis protocol.
#pragma once

#include "fronts/resp/reply.h"
#include "weir/hold.h"

namespace weir::resp {

void WriteReservation(const Result<Reservation>& reservation, Reply& reply);
void WriteReleased(uint64_t left, Reply& reply);
void WriteTransfer(const Ticket& transfer, Reply& reply);
void WriteSeized(const Seized& seized, Reply& reply);

}  // namespace weir::resp
