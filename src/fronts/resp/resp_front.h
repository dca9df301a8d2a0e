// The Redis protocol: redis-cli, redis-benchmark and the client libraries of Redis ask the limiter.
//
//   CL.THROTTLE key max_burst count period_s [quantity]      the request carries its limit
//   WEIR.REQUEST namespace resource subject [COST n] [MIN n] [SETTLE]
//   WEIR.PEEK …     WEIR.SETTLE ticket cost
//   WEIR.RESERVE namespace resource subject [COPIES n] [MIN n] [WAIT ms] [QUEUE n] [SHARE]
//   WEIR.RELEASE hold [COPIES n]     WEIR.TRANSFER hold [COPIES n] TTL ms     WEIR.SEIZE transfer
//
// and what a client says when it connects (PING, HELLO, AUTH, CLIENT, COMMAND, …).
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "fronts/protocol.h"
#include "weir/limiter.h"

namespace weir {

struct RespOptions {
  bool adhoc = true;  // false: CL.THROTTLE is refused
  // In which namespaces this password opens the door, null: it does not; what it leads to stays where it
  // is. Empty: there is none. It is called on any thread.
  std::function<const Reach*(std::string_view password)> password;
  bool password_needed = true;  // false: one that is given must be right, but none is needed
  // Grows when other passwords are right than before: those that were given are looked at again.
  // Null: that does not happen.
  const std::atomic<uint64_t>* passwords_version = nullptr;
  std::string version = "0.0.0";  // for INFO and HELLO
};

class RespFront : public Front {
 public:
  // `limiter` outlives the front, and the front its protocols.
  explicit RespFront(Limiter& limiter, RespOptions options = {})
      : limiter_(limiter), options_(std::move(options)) {}

  std::string_view name() const override { return "resp"; }
  std::string_view alpn() const override { return ""; }
  std::unique_ptr<Protocol> Accept(Link& link) override;

 private:
  Limiter& limiter_;
  const RespOptions options_;
  std::atomic<uint64_t> next_id_{1};
};

}  // namespace weir
