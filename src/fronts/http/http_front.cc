#include "fronts/http/http_front.h"

#include "fronts/http/auth_route.h"
#include "fronts/http/connection.h"
#include "fronts/http/hold_routes.h"
#include "fronts/http/json_out.h"
#include "fronts/http/native_routes.h"

namespace weir {
namespace {

using http::HttpRequest;
using http::Responder;

constexpr std::string_view kText = "text/plain; charset=utf-8";

void SendText(Responder& responder, int status, std::string_view text) {
  responder.Send({.status = status, .content_type = kText, .body = text, .headers = {}});
}

void SendHealth(Responder& responder, int status, const HttpOptions::Health& health) {
  responder.Send(
      {.status = status, .content_type = http::kJson, .body = health.body, .headers = {}});
}

// That the process lives is one question, that it can be asked for decisions another: a process that
// cannot is not to be restarted for that.
void AddHealthRoutes(std::function<HttpOptions::Health()> health, http::RouteTable& routes) {
  if (!health) {
    health = [] { return HttpOptions::Health{true, "{\"ready\":true,\"problems\":[]}\n"}; };
  }
  routes.Add("GET", "/healthcheck", Operation::kHealth,
             [](const HttpRequest&, Responder responder) { SendText(responder, 200, "OK\n"); });
  routes.Add("GET", "/healthz", Operation::kHealth,
             [health](const HttpRequest& request, Responder responder) {
               if (!request.FindParameter("verbose")) return SendText(responder, 200, "OK\n");
               SendHealth(responder, 200, health());
             });
  routes.Add("GET", "/readyz", Operation::kHealth,
             [health](const HttpRequest&, Responder responder) {
               const HttpOptions::Health now = health();
               SendHealth(responder, now.ready ? 200 : 503, now);
             });
}

}  // namespace

HttpFront::HttpFront(Limiter& limiter, HttpOptions options)
    : gate_(std::move(options.gate)), trusts_(std::move(options.trusts)) {
  AddHealthRoutes(std::move(options.health), routes_);
  if (!options.decides) return;
  http::AddAuthRoute(limiter, std::move(options.trusted_hops), routes_);
  http::AddNativeRoutes(limiter, routes_);
  http::AddHoldRoutes(limiter, options.longest_session, routes_);
  if (!options.json_rate_limit) return;
  routes_.Add("POST", "/json", Operation::kDecide, std::move(options.json_rate_limit));
}

std::unique_ptr<Protocol> HttpFront::Accept(Link& link) {
  return std::make_unique<http::Connection>(link, routes_, gate_, trusts_);
}

}  // namespace weir
