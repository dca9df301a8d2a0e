// Which addresses answer (4.3 of the paper on Charon).
//
// One that failed is left alone for a while, which doubles with every failure; then a single question
// is let through as a probe, and when it is answered the address is back. While none is left nobody
// waits for the network.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "clients/cpp/src/tally.h"
#include "weir/client/clock.h"

namespace weir::client {

class Servers {
 public:
  Servers(const std::vector<std::string>& addresses, Duration probe_after,
          Duration probe_after_most, Clock& clock, Tally& tally);

  bool degraded() const;
  const std::string& address(size_t server) const { return servers_[server].address; }

  // Those that answer or may be probed, in order, the preferred one first.
  std::vector<size_t> ToAsk(std::string_view preferred) const;
  bool Begin(size_t server);  // false if somebody else is probing it already
  // How what was begun has ended.
  void Succeeded(size_t server);
  void Failed(size_t server);
  void Abandoned(size_t server);  // nothing was learned

 private:
  struct Server {
    std::string address;
    int failures = 0;  // in a row; 0: it answers
    Duration away_until{};
    bool probing = false;
  };
  bool MayBeAsked(const Server& server) const;
  bool AllAway() const;

  const Duration probe_after_, probe_after_most_;
  Clock& clock_;
  Tally& tally_;
  mutable std::mutex mutex_;  // guards all of them but the addresses:
  std::vector<Server> servers_;
};

}  // namespace weir::client
