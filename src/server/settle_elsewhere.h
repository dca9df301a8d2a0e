// Tickets that clients bring to another node than the one that issued them: what the two nodes say.
//
//   question   ticket (16 bytes), cost (8)
//   answer     0, charged (8), remaining (8); or the code of an error, and its message
#pragma once

#include <string>
#include <string_view>

#include "cluster/node.h"
#include "weir/limiter.h"

namespace weir {

std::string SettleQuestion(const SettleRequest& request);
// Settles it here.
std::string SettleAnswer(Limiter& limiter, std::string_view question, Instant now);
Result<Settled> ReadSettleAnswer(const cluster::Node::Answer& answer);

}  // namespace weir
