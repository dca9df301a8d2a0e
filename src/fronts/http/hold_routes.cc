#include "fronts/http/hold_routes.h"

#include "fronts/http/json_out.h"
#include "fronts/http/json_request.h"
#include "fronts/http/native_routes.h"
#include "fronts/numbers.h"
#include "fronts/way_back.h"

namespace weir::http {
namespace {

void SendJson(Responder& responder, std::string_view body) {
  responder.Send({.status = 200, .content_type = kJson, .body = body, .headers = {}});
}

std::string SessionJson(const SessionId& session) {
  return "{\"session\":\"" + session.ToString() + "\"";
}

Error NoSession() {
  return {Code::kNotHeld, "there is no such session: it has ended, or never was", "session"};
}

// A request that asks for nothing but the session in its path.
std::optional<SessionId> SessionInPath(const HttpRequest& request, Responder& responder) {
  const std::optional<SessionId> session = SessionId::Parse(request.rest);
  if (!session) {
    SendError(std::move(responder),
              {Code::kBadRequest, "is not 32 hexadecimal digits in small letters", "session"});
  }
  return session;
}

void OpenSession(Limiter& limiter, Duration longest, const HttpRequest& request,
                 Responder responder) {
  Duration ttl{};
  if (const std::optional<Error> error = ReadSession(request.body, ttl)) {
    return SendError(std::move(responder), *error);
  }
  ttl = std::min(ttl, longest);
  const SessionId session = limiter.OpenSession(ttl, request.now, request.peer);
  if (!session) {
    return SendError(std::move(responder),
                     {Code::kOverloaded, "too many sessions are open and in use", "session"});
  }
  std::string body = SessionJson(session) + ",\"ttl_ms\":";
  AppendNumber(body, WholeMillis(ttl));
  SendJson(responder, body + "}");
}

void RenewSession(Limiter& limiter, const HttpRequest& request, Responder responder) {
  const std::optional<SessionId> session = SessionInPath(request, responder);
  if (!session) return;
  if (!limiter.RenewSession(*session, request.now)) {
    return SendError(std::move(responder), NoSession());
  }
  SendJson(responder, SessionJson(*session) + "}");
}

void EndSession(Limiter& limiter, const HttpRequest& request, Responder responder) {
  const std::optional<SessionId> session = SessionInPath(request, responder);
  if (!session) return;
  if (!limiter.RenewSession(*session, request.now)) {
    return SendError(std::move(responder), NoSession());
  }
  limiter.EndSession(*session, request.now);
  SendJson(responder, SessionJson(*session) + "}");
}

void SendReservation(Responder& responder, const Result<Reservation>& told, uint64_t least) {
  if (!told) return SendError(std::move(responder), told.error());
  const bool refused = !told->allowed && told->outcome != Outcome::kDone;
  std::string body;
  if (refused) {
    AppendReservationRefused(body, *told, least);
  } else {
    AppendReservation(body, *told);
  }
  responder.Send({.status = refused ? 429 : 200,
                  .content_type = refused ? kProblemJson : kJson,
                  .body = body,
                  .headers = {}});
}

void Reserve(Limiter& limiter, const HttpRequest& http, Responder given) {
  if (RefuseIfLate(http, given)) return;
  SessionId session;
  ReserveRequest request;
  if (const std::optional<Error> error = ReadReserve(http.body, session, request)) {
    return SendError(std::move(given), *error);
  }
  request.reach = http.reach;
  const auto responder = std::make_shared<Responder>(std::move(given));
  const uint64_t least = request.min_copies.value_or(request.copies);
  const bool waits = request.wait > Duration::zero() && http.policy != nullptr;
  ReserveOnThread(
      *http.way_back, http.now, request.wait > Duration::zero(),
      [&](ReserveDone done) { limiter.Reserve(session, request, http.now, std::move(done)); },
      [&limiter, session, responder, least, policy = waits ? http.policy : nullptr,
       token = std::string(waits ? http.who.token : ""),
       ns = std::string(waits ? request.namespace_name : "")](const Result<Reservation>& granted,
                                                              const Turn& at) {
        const Result<Reservation> told =
            policy == nullptr
                ? granted
                : IfReached(policy->ReachOf(token), ns, granted, limiter, session, at);
        if (told && told->allowed) {
          responder->IfLost([&limiter, session, hold = told->hold](const Turn& now) {
            limiter.Release(session, hold, 0, now);
          });
        }
        SendReservation(*responder, told, least);
      },
      // Whoever asked has hung up, and knows nothing of what he was granted.
      [&limiter, session, responder](const Result<Reservation>& told, const Turn& now) {
        responder->Abandon();
        if (told && told->allowed) limiter.Release(session, told->hold, 0, now);
      });
}

void Release(Limiter& limiter, const HttpRequest& http, Responder responder) {
  HoldRequest request;
  if (const std::optional<Error> error = ReadRelease(http.body, request)) {
    return SendError(std::move(responder), *error);
  }
  const Result<uint64_t> left =
      limiter.Release(request.session, request.hold, request.copies, http.now, http.reach);
  if (!left) return SendError(std::move(responder), left.error());
  SendJson(responder, "{\"copies\":" + std::to_string(*left) + "}");
}

void Transfer(Limiter& limiter, const HttpRequest& http, Responder responder) {
  HoldRequest request;
  if (const std::optional<Error> error = ReadTransfer(http.body, request)) {
    return SendError(std::move(responder), *error);
  }
  const Result<Ticket> transfer = limiter.Transfer(request.session, request.hold, request.copies,
                                                   request.ttl, http.now, http.reach);
  if (!transfer) return SendError(std::move(responder), transfer.error());
  SendJson(responder, "{\"transfer\":\"" + transfer->ToString() + "\"}");
}

void Seize(Limiter& limiter, const HttpRequest& http, Responder responder) {
  HoldRequest request;
  if (const std::optional<Error> error = ReadSeize(http.body, request)) {
    return SendError(std::move(responder), *error);
  }
  const Result<Seized> seized =
      limiter.Seize(request.session, request.transfer, http.now, http.reach);
  if (!seized) return SendError(std::move(responder), seized.error());
  std::string body;
  AppendSeized(body, *seized);
  SendJson(responder, body);
}

}  // namespace

void AddHoldRoutes(Limiter& limiter, Duration longest, RouteTable& routes) {
  using Action = void (*)(Limiter&, const HttpRequest&, Responder);
  const auto with = [&limiter](Action action) {
    return [&limiter, action](const HttpRequest& request, Responder responder) {
      action(limiter, request, std::move(responder));
    };
  };
  routes.Add("POST", "/v1/reserve", Operation::kDecide, with(Reserve));
  routes.Add("POST", "/v1/release", Operation::kDecide, with(Release));
  routes.Add("POST", "/v1/transfer", Operation::kDecide, with(Transfer));
  routes.Add("POST", "/v1/seize", Operation::kDecide, with(Seize));
  routes.Add("POST", "/v1/session", Operation::kDecide,
             [&limiter, longest](const HttpRequest& request, Responder responder) {
               OpenSession(limiter, longest, request, std::move(responder));
             });
  routes.AddPrefix("POST", "/v1/session/", Operation::kDecide, with(RenewSession));
  routes.AddPrefix("DELETE", "/v1/session/", Operation::kDecide, with(EndSession));
}

}  // namespace weir::http
