// The words of our commands, taken for requests. Views point into the words.
#pragma once

#include <string_view>

#include "fronts/resp/command.h"
#include "weir/decision.h"
#include "weir/hold.h"

namespace weir::resp {

// What is wrong with a command: both are empty if nothing is.
struct Mistake {
  std::string_view field;
  std::string_view what;
  explicit operator bool() const { return !what.empty(); }
};

// Behind the command's name: namespace resource subject [COST n] [MIN n] [SETTLE].
Mistake ReadRequest(const Words& words, Request& request);

// Behind the command's name: key max_burst count period_s [quantity].
Mistake ReadThrottle(const Words& words, AdhocRequest& request);

// Behind the command's name: namespace resource subject [COPIES n] [MIN n] [WAIT ms] [QUEUE n]
// [SHARE].
Mistake ReadReserve(const Words& words, ReserveRequest& request);

// WEIR.RELEASE hold [COPIES n], WEIR.TRANSFER hold [COPIES n] TTL ms.
struct HoldWords {
  Ticket hold;
  uint64_t copies = 0;  // all
  Duration ttl{};       // of a transfer
};
Mistake ReadRelease(const Words& words, HoldWords& request);
Mistake ReadTransfer(const Words& words, HoldWords& request);
// WEIR.SEIZE transfer.
Mistake ReadSeize(const Words& words, Ticket& transfer);

}  // namespace weir::resp
