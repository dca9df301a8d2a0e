#include "fronts/http/native_routes.h"

#include "fronts/codes.h"
#include "fronts/http/decision_headers.h"
#include "fronts/http/json_out.h"
#include "fronts/http/json_request.h"
#include "fronts/http/late_call.h"

namespace weir::http {
namespace {

// One for each thread: keeps its memory from one answer to the next.
struct AnswerScratch {
  std::string headers;
  std::string body;
};

AnswerScratch& ThreadAnswerScratch() {
  thread_local AnswerScratch scratch;
  scratch.headers.clear();
  scratch.body.clear();
  return scratch;
}

void SendDecision(Responder& responder, const Decision& decision, bool peek) {
  AnswerScratch& scratch = ThreadAnswerScratch();
  if (decision.error != Code::kOk) {
    AppendError(scratch.body, CodeName(decision.error), decision.message, decision.field);
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

class Asked final : public LateCall<DecideCall, Asked> {
 public:
  void Send(Responder& to) const { SendDecision(to, decision, ask == Ask::kPeek); }
};

class Settling final : public LateCall<SettleCall, Settling> {
 public:
  void Send(Responder& to) const { SendSettled(to, answer); }
};

void Settle(Limiter& limiter, const HttpRequest& http, Responder responder) {
  std::unique_ptr<Settling> call = Settling::Pool().Take();
  if (const std::optional<Error> error = ReadSettle(http.body, call->request)) {
    return SendError(std::move(responder), *error);
  }
  Settling::Ask(std::move(call), limiter, http, std::move(responder));
}

void Decide(Limiter& limiter, const HttpRequest& http, bool peek, Responder responder) {
  if (RefuseIfLate(http, responder)) return;
  std::unique_ptr<Asked> call = Asked::Pool().Take();
  if (const std::optional<Error> error = ReadRequest(http.body, call->request)) {
    return SendError(std::move(responder), *error);
  }
  call->ask = peek ? DecideCall::Ask::kPeek : DecideCall::Ask::kRequest;
  Asked::Ask(std::move(call), limiter, http, std::move(responder));
}

}  // namespace

void SendError(Responder responder, const Error& error) {
  std::string body;
  AppendError(body, error);
  responder.Send(
      {.status = HttpStatus(error.code), .content_type = kJson, .body = body, .headers = {}});
}

bool RefuseIfLate(const HttpRequest& request, Responder& responder) {
  if (request.link == nullptr || !request.link->late()) return false;
  request.link->CountRefused();
  static const std::string body = [] {
    std::string text;
    AppendError(text, CodeName(Code::kOverloaded), "the server is busy: this waited too long", "");
    return text;
  }();
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
