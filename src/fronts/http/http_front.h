// HTTP/1.1: the native API in JSON, /v1/auth for proxies, Envoy's rate-limit service in JSON, and
// whatever the server adds to the table of routes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fronts/http/address.h"
#include "fronts/http/gate.h"
#include "fronts/http/route_table.h"
#include "fronts/protocol.h"
#include "weir/limiter.h"

namespace weir {

struct HttpOptions {
  bool decides = true;  // false: only what the server adds, and the health of it
  Duration longest_session = std::chrono::hours(1);  // without being renewed
  // Who may do what.
  http::GateOptions gate = {};
  // Whose X-Forwarded-For is believed.
  std::vector<http::Network> trusted_hops;
  // POST /json: Envoy's request as proto3 JSON. Empty: there is no such path.
  http::Handler json_rate_limit;
  // GET /readyz and /healthz?verbose; empty: always ready.
  struct Health {
    bool ready = true;
    std::string body;  // JSON
  };
  std::function<Health()> health;
  // Whether what a request says of its sender (a token) vouches for a large body; empty: nothing does.
  std::function<bool(const http::RequestHead&, const Link&)> trusts;
};

class HttpFront : public Front {
 public:
  // `limiter` outlives the front, and the front its protocols.
  explicit HttpFront(Limiter& limiter, HttpOptions options = {});

  // To be added to before the first Accept.
  http::RouteTable& routes() { return routes_; }

  std::string_view name() const override { return "http"; }
  std::string_view alpn() const override { return "http/1.1"; }
  bool refuses_late() const override { return true; }
  std::unique_ptr<Protocol> Accept(Link& link) override;

 private:
  http::RouteTable routes_;
  const http::Gate gate_;
  std::function<bool(const http::RequestHead&, const Link&)> trusts_;
};

}  // namespace weir
