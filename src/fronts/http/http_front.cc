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

void AddHealthRoutes(std::function<bool()> ready, http::RouteTable& routes) {
  const auto healthy = [](const HttpRequest&, Responder responder) {
    SendText(responder, 200, "OK\n");
  };
  routes.Add("GET", "/healthcheck", healthy);
  routes.Add("GET", "/healthz", healthy);
  routes.Add("GET", "/readyz", [ready = std::move(ready)](const HttpRequest&, Responder responder) {
    if (!ready || ready()) return SendText(responder, 200, "OK\n");
    SendText(responder, 503, "not ready\n");
  });
}

}  // namespace

HttpFront::HttpFront(Limiter& limiter, HttpOptions options) {
  AddHealthRoutes(std::move(options.ready), routes_);
  if (!options.decides) return;
  http::AddAuthRoute(limiter, std::move(options.trusted_hops), routes_);
  http::AddNativeRoutes(limiter, routes_);
  http::AddHoldRoutes(limiter, options.longest_session, routes_);
  if (!options.json_rate_limit) return;
  routes_.Add(
      "POST", "/json",
      [answer = std::move(options.json_rate_limit)](const HttpRequest& request,
                                                    Responder responder) {
        const HttpOptions::JsonAnswer told = answer(request.body, request.now);
        const bool decided = told.status == 200 || told.status == 429;
        responder.Send({.status = told.status,
                        .content_type = decided ? http::kJson : kText,  // else what is wrong
                        .body = told.body,
                        .headers = {}});
      });
}

std::unique_ptr<Protocol> HttpFront::Accept(Link& link) {
  return std::make_unique<http::Connection>(link, routes_);
}

}  // namespace weir
