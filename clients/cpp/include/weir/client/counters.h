// What a client has done since it was made, to be shown wherever the application shows its own.
#pragma once

#include <cstdint>

namespace weir::client {

struct Counters {
  uint64_t requests = 0;      // request and peek
  uint64_t reservations = 0;  // reserve and seize
  uint64_t allowed = 0;       // grants of any source
  uint64_t refused = 0;
  uint64_t retries = 0;           // questions that were asked again after a refusal
  uint64_t server_errors = 0;     // calls that failed, or an error that is not the caller's
  uint64_t client_errors = 0;     // questions that were wrong
  uint64_t failovers = 0;         // questions that another address than the first one has answered
  uint64_t probes = 0;            // questions to an address that was away
  uint64_t recoveries = 0;        // addresses that answered again
  uint64_t degraded_entered = 0;  // times that no address was left
  uint64_t degraded_grants = 0;
  uint64_t degraded_refusals = 0;   // by the local safe rate
  uint64_t kill_switch_grants = 0;  // refusals that were overruled
  uint64_t holds_lost = 0;          // holds whose connection has ended
  uint64_t releases_failed = 0;     // on leaving scope; the server releases with the connection
};

}  // namespace weir::client
