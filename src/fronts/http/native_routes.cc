#include "fronts/http/native_routes.h"

#include "fronts/codes.h"
#include "fronts/http/decision_headers.h"
#include "fronts/http/json_out.h"
#include "fronts/http/json_request.h"

namespace weir::http {
namespace {

// One for each thread: keeps its memory from one answer to the next.
struct AnswerScratch {
  Decision decision;
  std::string headers;
  std::string body;
};

AnswerScratch& ThreadAnswerScratch() {
  thread_local AnswerScratch scratch;
  scratch.headers.clear();
  scratch.body.clear();
  return scratch;
}

void SendDecision(Responder& responder, AnswerScratch& scratch, bool peek) {
  const Decision& decision = scratch.decision;
  if (decision.error != Code::kOk) {
    AppendError(scratch.body, CodeName(decision.error), decision.message, "");
    return responder.Send({.status = HttpStatus(decision.error),
                           .content_type = kJson,
                           .body = scratch.body,
                           .headers = {}});
  }
  const bool refusal = !decision.allowed && !peek;
  AppendDecisionHeaders(scratch.headers, decision, refusal);
  if (refusal) {
    AppendQuotaExceeded(scratch.body, decision);
  } else {
    AppendDecision(scratch.body, decision);
  }
  responder.Send({.status = refusal ? 429 : 200,
                  .content_type = refusal ? kProblemJson : kJson,
                  .body = scratch.body,
                  .headers = scratch.headers});
}

void SendSettled(Responder& responder, const Result<Settled>& settled) {
  if (!settled) return SendError(std::move(responder), settled.error());
  AnswerScratch& scratch = ThreadAnswerScratch();
  AppendSettled(scratch.body, *settled);
  responder.Send({.status = 200, .content_type = kJson, .body = scratch.body, .headers = {}});
}

void Settle(Limiter& limiter, const HttpRequest& http, Responder given) {
  SettleRequest request;
  if (const std::optional<Error> error = ReadSettle(http.body, request)) {
    return SendError(std::move(given), *error);
  }
  request.reach = http.reach;
  const auto responder = std::make_shared<Responder>(std::move(given));
  SettleOnThread(
      *http.way_back, limiter, request, http.now,
      [responder](const Result<Settled>& settled, const Turn&) {
        SendSettled(*responder, settled);
      },
      [responder](const Result<Settled>&, const Turn&) { responder->Abandon(); });
}

void Decide(Limiter& limiter, const HttpRequest& http, bool peek, Responder responder) {
  if (RefuseIfLate(http, responder)) return;
  Request request;
  if (const std::optional<Error> error = ReadRequest(http.body, request)) {
    return SendError(std::move(responder), *error);
  }
  if (!http.reach->Has(request.namespace_name)) return RefuseNamespace(std::move(responder));
  AnswerScratch& scratch = ThreadAnswerScratch();
  if (peek) {
    scratch.decision = limiter.Peek(request, http.now);
  } else {
    limiter.Decide(request, http.now, scratch.decision);
  }
  SendDecision(responder, scratch, peek);
}

}  // namespace

void SendError(Responder responder, const Error& error) {
  std::string body;
  AppendError(body, error);
  responder.Send(
      {.status = HttpStatus(error.code), .content_type = kJson, .body = body, .headers = {}});
}

void RefuseNamespace(Responder responder) {
  SendError(std::move(responder), {Code::kForbidden, std::string(kNotThisNamespace), "namespace"});
}

bool RefuseIfLate(const HttpRequest& request, Responder& responder) {
  if (request.link == nullptr || !request.link->late()) return false;
  request.link->CountRefused();
  std::string body;
  AppendError(body, CodeName(Code::kOverloaded), "the server is busy: this waited too long", "");
  responder.Send({.status = HttpStatus(Code::kOverloaded),
                  .content_type = kJson,
                  .body = body,
                  .headers = "Retry-After: 1\r\n"});
  return true;
}

void AddNativeRoutes(Limiter& limiter, RouteTable& routes) {
  routes.Add("POST", "/v1/request", Operation::kDecide,
             [&limiter](const HttpRequest& request, Responder responder) {
               Decide(limiter, request, false, std::move(responder));
             });
  routes.Add("POST", "/v1/peek", Operation::kDecide,
             [&limiter](const HttpRequest& request, Responder responder) {
               Decide(limiter, request, true, std::move(responder));
             });
  routes.Add("POST", "/v1/settle", Operation::kDecide,
             [&limiter](const HttpRequest& request, Responder responder) {
               Settle(limiter, request, std::move(responder));
             });
}

}  // namespace weir::http
