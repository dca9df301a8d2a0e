// The operations on rates.
#include <utility>

#include "clients/cpp/src/backoff.h"
#include "clients/cpp/src/core.h"

namespace weir::client {

Decision Core::Request(const Target& target, const RequestOptions& options) {
  tally_.Add(&Counters::requests);
  const Command command = RequestCommand(target, options);
  const uint64_t least = options.min_cost.value_or(options.cost);
  auto [decision, waited, attempts] = Patiently(
      *clock_, tally_, options.max_wait,
      [&](Duration /*left*/) { return Decide(target, command, least, false); },
      [](const Decision& one) { return one.allowed || !one.retry_after; });
  tally_.Add(decision.allowed ? &Counters::allowed : &Counters::refused);
  decision.waited = waited;
  decision.attempts = attempts;
  return std::move(decision);
}

Decision Core::Peek(const Target& target, const PeekOptions& options) {
  tally_.Add(&Counters::requests);
  const Duration start = clock_->Now();
  Decision decision =
      Decide(target, PeekCommand(target, options), options.min_cost.value_or(options.cost), true);
  tally_.Add(decision.allowed ? &Counters::allowed : &Counters::refused);
  decision.waited = clock_->Now() - start;
  return decision;
}

Decision Core::Decide(const Target& target, const Command& command, uint64_t least, bool peek) {
  Decision decision;
  try {
    Heard heard = asker_.Ask(command);
    decision = ReadDecision(heard.value);
    decision.address = std::move(heard.address);
  } catch (const Unavailable&) {
    if (!fail_open_) throw;
    decision.source = Source::kDegraded;
    decision.retry_after = decision.reset_after = AskSafeRate(target, least, peek);
    decision.allowed = decision.retry_after == Duration::zero();
    decision.granted = decision.allowed ? least : 0;
  }
  if (decision.allowed || !kill_switch_.on()) return decision;
  tally_.Add(&Counters::kill_switch_grants);
  decision.allowed = true;
  decision.granted = least;
  decision.retry_after = Duration::zero();
  decision.source = Source::kKillSwitch;
  return decision;
}

Settled Core::Settle(const std::string& ticket, uint64_t cost, const std::string& address) {
  try {
    return ReadSettled(asker_.Ask(SettleCommand(ticket, cost), address).value);
  } catch (const Unavailable&) {
    if (!fail_open_) throw;
    return {.charged = cost, .source = Source::kDegraded};
  }
}

}  // namespace weir::client
