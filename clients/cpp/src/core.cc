#include "clients/cpp/src/core.h"

#include <utility>

#include "clients/cpp/src/address.h"
#include "clients/cpp/src/resp_wire.h"

namespace weir::client {
namespace {

std::shared_ptr<Wire> WireOf(const Options& options) {
  if (options.wire) return options.wire;
  for (const std::string& address : options.addresses) ParseAddress(address);
  return std::make_shared<RespWire>(options.token, options.tls);
}

}  // namespace

Core::Core(Options options)
    : clock_(options.clock ? options.clock : Clock::System()),
      wire_(WireOf(options)),
      fail_open_(options.fail_open),
      kill_switch_(options.kill_switch ? *options.kill_switch : KillSwitch::OfProcess()),
      on_lost_(std::move(options.on_lost)),
      asker_(options, *clock_, tally_, *wire_) {
  if (options.safe_rate) safe_buckets_.emplace(*options.safe_rate);
}

std::optional<Duration> Core::AskSafeRate(const Target& target, uint64_t amount, bool peek) {
  std::optional<Duration> wait = Duration::zero();
  if (safe_buckets_) {
    const SafeBuckets::Resource resource(target.namespace_name, target.resource);
    wait = peek ? safe_buckets_->Peek(resource, amount, clock_->Now())
                : safe_buckets_->Take(resource, amount, clock_->Now());
  }
  tally_.Add(wait == Duration::zero() ? &Counters::degraded_grants : &Counters::degraded_refusals);
  return wait;
}

void Core::WasLost(const Target& target, uint64_t copies) {
  tally_.Add(&Counters::holds_lost);
  if (on_lost_) on_lost_({target.namespace_name, target.resource, target.subject, copies});
}

}  // namespace weir::client
