// What a server listens on: fronts, their routes, their ports.
#include <absl/strings/ascii.h>

#include "fronts/envoy/rate_limit_json.h"
#include "fronts/grpc/grpc_front.h"
#include "fronts/http/http_front.h"
#include "fronts/letters.h"
#include "fronts/poolcounter/poolcounter_front.h"
#include "fronts/resp/resp_front.h"
#include "server/machine_memory.h"
#include "server/routes/cluster_route.h"
#include "server/routes/config_routes.h"
#include "server/routes/openapi.h"
#include "server/routes/stats_route.h"
#include "server/server.h"
#include "server/version.h"

namespace weir {
void Server::MakeFronts() {
  if (settings_.http != kOff) {
    HttpOptions options{.decides = settings_.role != ServerRole::kConfig};
    options.gate = MakeGate();
    options.longest_session = settings_.session_timeout;
    for (const std::string& hop : settings_.trusted_hops) {
      options.trusted_hops.push_back(*http::ParseNetwork(hop));
    }
    options.json_rate_limit = RateLimitJson(*limiter_);
    options.health = [this] {
      return HttpOptions::Health{problems_.ready(), HealthJson(problems_)};
    };
    options.trusts = [this](const http::RequestHead& head, const Link& link) {
      if (!access_.has_tokens()) return link.from_loopback();
      return access_.Trusts(http::TokenOf(head.authorization));
    };
    auto http = std::make_unique<HttpFront>(*limiter_, std::move(options));
    AddServerRoutes(*http);
    http_ = http.get();
    fronts_.push_back(std::move(http));
  }
  if (settings_.role == ServerRole::kConfig) return;
  if (settings_.grpc != kOff) {
    GrpcFrontOptions options{.connection = {.call_deadline = settings_.request_timeout}};
    if (!access_.decisions_open()) options.connection.policy = &access_;
    auto grpc = std::make_unique<GrpcFront>(*limiter_, options);
    grpc_ = grpc.get();
    fronts_.push_back(std::move(grpc));
  }
  if (settings_.resp != kOff) {
    RespOptions options{.adhoc = settings_.adhoc, .version = std::string(Version())};
    if (access_.has_tokens()) {
      options.password = [this](std::string_view password) {
        return access_.Trusts(password) ? access_.ReachOf(password) : nullptr;
      };
      options.password_needed = !access_.decisions_open();
      options.passwords_version = &access_.version();
    }
    fronts_.push_back(std::make_unique<RespFront>(*limiter_, std::move(options)));
  }
  if (settings_.poolcounter != kOff) {
    fronts_.push_back(std::make_unique<PoolCounterFront>(*limiter_));
  }
}

const http::RouteTable* Server::http_routes() const {
  return http_ == nullptr ? nullptr : &http_->routes();
}

http::GateOptions Server::MakeGate() const {
  http::GateOptions gate{
      .policy = &access_, .decisions_open = access_.decisions_open(), .cors = settings_.cors};
  std::string host = settings_.http.substr(0, settings_.http.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!host.empty()) gate.own_names.push_back(std::move(host));
  return gate;
}

void Server::AddServerRoutes(HttpFront& http) {
  AddStatsRoute(http.routes(), *limiter_, reports_);
  AddConfigRoutes(http.routes(), *config_);
  AddClusterRoute(http.routes(), cluster_.get(), *limiter_, settings_, reports_);
  http.routes().Add("GET", "/v1/openapi.json", Operation::kDescribe,
                    [](const http::HttpRequest&, http::Responder responder) {
                      responder.Send({.content_type = "application/json", .body = OpenApi()});
                    });
  http.routes().Add(
      "GET", "/metrics", Operation::kMetrics,
      [this](const http::HttpRequest& request, http::Responder responder) {
        reports_.Write(request, std::move(responder), [this](const Turn&) {
          return Answer{.body = MetricsText(
                            *limiter_, workers_, *connection_memory_, reloads_, problems_,
                            keeper_ == nullptr ? nullptr : &keeper_->counters(), cluster_.get()),
                        .content_type = "text/plain; version=0.0.4; charset=utf-8"};
        });
      });
}

bool Server::OpenPorts() {
  for (const auto& front : fronts_) {
    const std::string_view name = front->name();
    const std::string& address = name == "http"   ? settings_.http
                                 : name == "grpc" ? settings_.grpc
                                 : name == "resp" ? settings_.resp
                                                  : settings_.poolcounter;
    if (!OpenPort(*front, address)) return false;
  }
  return true;
}

bool Server::OpenPort(Front& front, const std::string& text) {
  Result<Address> address = Address::Parse(text);
  if (!address) {
    log_->error("--{}: {}", front.name(), address.error().message);
    return false;
  }
  const Tls* tls = nullptr;
  if (settings_.tls.any()) {
    auto opened = Tls::Open(settings_.tls, std::string(front.alpn()));
    if (!opened) {
      log_->error("{}", opened.error().message);
      return false;
    }
    tls_.push_back(std::move(*opened));
    tls = tls_.back().get();
  }
  // Sockets that share a port share it with those of another server as well, unseen: look first.
  Result<FileDescriptor> alone = Listen(*address, false);
  if (!alone) {
    log_->error("--{0}: {1}; --{0} ADDRESS or WEIR_{2} names another", front.name(),
                alone.error().message, absl::AsciiStrToUpper(std::string(front.name())));
    return false;
  }
  alone->Close();
  // Half of all: a crowd on one port leaves room on the others.
  port_memory_.push_back(std::make_unique<SharedBytes>(
      ConnectionMemory(settings_.connection_memory) / 2, workers_.size()));
  for (const auto& worker : workers_) {
    Result<FileDescriptor> socket = Listen(*address, true);
    if (!socket) {
      log_->error("--{}: {}", front.name(), socket.error().message);
      return false;
    }
    // Port 0 is any: the other workers listen on the one that the first was given.
    *address = Address::OfSocket(socket->get());
    worker->Serve({&front, *address, tls, port_memory_.back().get()}, std::move(*socket));
  }
  listening_.push_back({std::string(front.name()), *address, tls != nullptr});
  log_->info("{} on {}{}", front.name(), address->ToString(), tls == nullptr ? "" : " (TLS)");
  return true;
}

}  // namespace weir
