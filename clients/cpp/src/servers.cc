#include "clients/cpp/src/servers.h"

#include <algorithm>

#include "clients/cpp/src/backoff.h"
#include "weir/client/error.h"

namespace weir::client {

Servers::Servers(const std::vector<std::string>& addresses, Duration probe_after,
                 Duration probe_after_most, Clock& clock, Tally& tally)
    : probe_after_(probe_after), probe_after_most_(probe_after_most), clock_(clock), tally_(tally) {
  if (addresses.empty()) throw Error(Code::kBadRequest, "a client needs an address");
  for (const std::string& address : addresses) servers_.push_back({.address = address});
}

bool Servers::AllAway() const {
  return std::all_of(servers_.begin(), servers_.end(),
                     [](const Server& server) { return server.failures > 0; });
}

bool Servers::degraded() const {
  const std::lock_guard lock(mutex_);
  return AllAway();
}

bool Servers::MayBeAsked(const Server& server) const {
  return server.failures == 0 || (!server.probing && clock_.Now() >= server.away_until);
}

std::vector<size_t> Servers::ToAsk(std::string_view preferred) const {
  std::vector<size_t> found;
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (MayBeAsked(servers_[i])) found.push_back(i);
  }
  std::stable_partition(found.begin(), found.end(),
                        [&](size_t i) { return servers_[i].address == preferred; });
  return found;
}

bool Servers::Begin(size_t server) {
  const std::lock_guard lock(mutex_);
  Server& one = servers_[server];
  if (!MayBeAsked(one)) return false;
  if (one.failures > 0) {
    one.probing = true;
    tally_.Add(&Counters::probes);
  }
  return true;
}

void Servers::Succeeded(size_t server) {
  const std::lock_guard lock(mutex_);
  Server& one = servers_[server];
  if (one.failures > 0) tally_.Add(&Counters::recoveries);
  one.failures = 0;
  one.probing = false;
}

void Servers::Failed(size_t server) {
  const std::lock_guard lock(mutex_);
  Server& one = servers_[server];
  const Duration away = Doubled(probe_after_, one.failures, probe_after_most_, clock_.Chance());
  one.failures = std::min(one.failures + 1, 1 << 30);
  one.probing = false;
  one.away_until = clock_.Now() + away;
  if (one.failures == 1 && AllAway()) tally_.Add(&Counters::degraded_entered);
}

void Servers::Abandoned(size_t server) {
  const std::lock_guard lock(mutex_);
  servers_[server].probing = false;
}

}  // namespace weir::client
