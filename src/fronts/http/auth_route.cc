#include "fronts/http/auth_route.h"

#include "fronts/codes.h"
#include "fronts/http/client_address.h"
#include "fronts/http/decision_headers.h"
#include "fronts/http/late_call.h"
#include "fronts/http/native_routes.h"
#include "fronts/number_word.h"
#include "rules/text/utf8.h"

namespace weir::http {
namespace {

constexpr std::string_view kFromHeader = "header:";
constexpr size_t kMostShown = 64;

struct Question {
  std::optional<std::string_view> namespace_name, resource, subject, subject_from, cost, deny;
};

struct Asked {
  Request request;
  int deny_status = 429;
  Address::Text address;  // what request.subject may point into
};

class Deciding final : public LateCall<DecideCall, Deciding> {
 public:
  void Send(Responder& responder) const {
    if (decision.error != Code::kOk) {
      return SendError(std::move(responder), {decision.error, std::string(decision.message),
                                              std::string(decision.field)});
    }
    thread_local std::string headers;  // keeps its memory from one answer to the next
    headers.clear();
    AppendDecisionHeaders(headers, decision, !decision.allowed);
    responder.Send({.status = decision.allowed ? 200 : deny_status,
                    .content_type = {},
                    .body = {},
                    .headers = headers,
                    .decided = true});
  }
  int deny_status = 429;
};

Error Bad(std::string_view message, std::string_view field) {
  return {Code::kBadRequest, std::string(message), std::string(field)};
}

std::optional<std::string_view>* Slot(Question& question, std::string_view name) {
  if (name == "namespace") return &question.namespace_name;
  if (name == "resource") return &question.resource;
  if (name == "subject") return &question.subject;
  if (name == "subject_from") return &question.subject_from;
  if (name == "cost") return &question.cost;
  if (name == "deny") return &question.deny;
  return nullptr;
}

std::optional<Error> ReadParameters(const HttpRequest& http, Question& question) {
  for (const Parameter& parameter : http.parameters) {
    std::optional<std::string_view>* const slot = Slot(question, parameter.name);
    if (slot == nullptr) {
      const bool shows = FirstBadByte(parameter.name) == parameter.name.size();
      return Bad("is not a parameter of this path",
                 shows ? Shortened(parameter.name, kMostShown) : "?");
    }
    if (slot->has_value()) return Bad("is there twice", parameter.name);
    *slot = parameter.value;
  }
  if (!question.namespace_name) return Bad("is missing", "namespace");
  if (!question.resource) return Bad("is missing", "resource");
  return std::nullopt;
}

std::optional<Error> ReadSubject(const HttpRequest& http, const Question& question,
                                 std::span<const Network> trusted_hops, Asked& asked) {
  if (question.subject && question.subject_from) {
    return Bad("stands beside subject: one of them is enough", "subject_from");
  }
  if (question.subject) {
    asked.request.subject = *question.subject;
    return std::nullopt;
  }
  if (!question.subject_from) return Bad("is missing", "subject");
  const std::string_view from = *question.subject_from;
  if (from == "address") {
    const auto client = ClientAddress(http, trusted_hops, asked.address);
    if (!client) return Bad("holds something that is not an address", "X-Forwarded-For");
    asked.request.subject = *client;
    return std::nullopt;
  }
  if (from.substr(0, kFromHeader.size()) != kFromHeader || from.size() == kFromHeader.size()) {
    return Bad("must be header:NAME or address", "subject_from");
  }
  const std::string_view name = from.substr(kFromHeader.size());
  for (const Header& header : http.headers) {
    if (!SameWord(header.name, name) || header.value.empty()) continue;
    // A client that sends a second one must not choose which of them counts.
    if (!asked.request.subject.empty()) {
      return Bad("names a header that the request has twice", "subject_from");
    }
    asked.request.subject = header.value;
  }
  if (!asked.request.subject.empty()) return std::nullopt;
  return Bad("names a header that the request does not have", "subject_from");
}

std::optional<Error> ReadNumbers(const Question& question, Asked& asked) {
  if (question.cost) {
    const NumberWord cost = ReadNumber(*question.cost);
    if (!cost.mistake.empty()) return Bad(cost.mistake, "cost");
    asked.request.cost = cost.value;
  }
  if (!question.deny || question.deny == "429") return std::nullopt;
  if (question.deny != "401" && question.deny != "403") {
    return Bad("must be 401, 403 or 429", "deny");
  }
  asked.deny_status = question.deny == "401" ? 401 : 403;
  return std::nullopt;
}

std::optional<Error> Read(const HttpRequest& http, std::span<const Network> trusted_hops,
                          Asked& asked) {
  Question question;
  if (std::optional<Error> error = ReadParameters(http, question)) return error;
  asked.request.namespace_name = *question.namespace_name;
  asked.request.resource = *question.resource;
  if (std::optional<Error> error = ReadNumbers(question, asked)) return error;
  return ReadSubject(http, question, trusted_hops, asked);
}

void Decide(Limiter& limiter, std::span<const Network> trusted_hops, const HttpRequest& http,
            Responder responder) {
  if (RefuseIfLate(http, responder)) return;
  Asked asked;
  if (const std::optional<Error> error = Read(http, trusted_hops, asked)) {
    return SendError(std::move(responder), *error);
  }
  std::unique_ptr<Deciding> call = Deciding::Pool().Take();
  call->request = asked.request;
  call->deny_status = asked.deny_status;
  Deciding::Ask(std::move(call), limiter, http, std::move(responder));
}

}  // namespace

void AddAuthRoute(Limiter& limiter, std::vector<Network> trusted_hops, RouteTable& routes) {
  const Handler handler = [&limiter, hops = std::move(trusted_hops)](const HttpRequest& request,
                                                                     Responder responder) {
    Decide(limiter, hops, request, std::move(responder));
  };
  routes.Add("GET", "/v1/auth", Operation::kProxyDecide, handler);
  routes.Add("POST", "/v1/auth", Operation::kProxyDecide, handler);
}

}  // namespace weir::http
