// Tickets that clients bring to another node than the one that issued them: what the two nodes say.
//
//   question   version (1 byte), kind (1), ticket (16), cost (8); of kind 2 the namespaces that whoever
//              asks has reach in, each with its length (1 byte) before it
//   answer     version (1 byte), outcome (1); if that is settled: charged (8), remaining (8); else
//              the message
//
// Numbers are in network byte order. Kinds and outcomes have numbers of their own, which never change:
// nodes of different versions and processors read each other, or say that they cannot.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cluster/node.h"
#include "weir/limiter.h"

namespace weir {

// Nothing if it has too many namespaces for a question.
std::optional<std::string> SettleQuestion(const SettleRequest& request);
// Settles it here.
std::string SettleAnswer(Limiter& limiter, std::string_view question, Instant now);
Result<Settled> ReadSettleAnswer(const cluster::Node::Answer& answer);

}  // namespace weir
