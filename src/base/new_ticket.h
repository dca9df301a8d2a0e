// Names of tickets, holds, transfers and sessions: random, and unguessable. The upper 32 bits name the node.
#pragma once

#include <string_view>

#include "weir/decision.h"

namespace weir {

// `node` is the hash of the node's name.
Ticket NewTicket(uint32_t node);
uint32_t NodeHash(std::string_view name);

struct TicketHash {
  size_t operator()(const Ticket& ticket) const { return ticket.low; }
};

}  // namespace weir
