// How a client finds its servers and what it does without them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/client/clock.h"
#include "weir/client/kill_switch.h"
#include "weir/client/wire.h"

namespace weir::client {

// Bounds the grants of degraded mode: a token bucket for each resource.
struct SafeRate {
  double per_second = 0;
  std::optional<double> burst = {};  // max(1, per_second)
  size_t resources = 1024;           // remembered; the longest unused is forgotten first
};

// TLS 1.3, with the server's name and certificate checked.
struct TlsOptions {
  std::string ca_file = {};           // whom to trust; empty: whom the system trusts
  std::string certificate_file = {};  // of this client, where servers ask for one
  std::string key_file = {};
  std::string server_name = {};  // if it is not the address's host
};

struct LostHold {
  std::string namespace_name = {}, resource = {}, subject = {};
  uint64_t copies = 0;
};

struct Options {
  std::vector<std::string> addresses = {};  // HOST:PORT of Redis fronts, the preferred one first
  // Within which a question is answered, by a server or without one.
  Duration timeout = std::chrono::milliseconds(500);
  bool fail_open = true;  // false: throw Unavailable instead of granting when no server answers
  std::optional<SafeRate> safe_rate = {};
  KillSwitch* kill_switch = nullptr;  // the process's
  std::string token = {};             // sent with AUTH
  std::optional<TlsOptions> tls = {};
  // Until an address that failed is tried again; doubles up to the most.
  Duration probe_after = std::chrono::milliseconds(100);
  Duration probe_after_most = std::chrono::seconds(5);
  // Called once for every hold whose connection has ended, by whichever thread notices first, one of
  // the client's own among them. The client must not be destroyed from there.
  std::function<void(const LostHold&)> on_lost = {};

  std::shared_ptr<Clock> clock = {};  // for tests
  std::shared_ptr<Wire> wire = {};    // for tests
};

}  // namespace weir::client
