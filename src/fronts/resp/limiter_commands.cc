// The commands that ask the limiter, but for WEIR.REQUEST, which is batched in connection.cc.
#include "fronts/access.h"
#include "fronts/number_word.h"
#include "fronts/resp/connection.h"
#include "fronts/resp/decision_reply.h"
#include "fronts/resp/request_words.h"

namespace weir::resp {

void Connection::Throttle(const Words& words, const Turn& now) {
  if (!options_.adhoc) {
    return Answer().Error(Code::kBadRequest,
                          "limits carried by a request are switched off (--adhoc off)");
  }
  if (!reach_->all) return Answer().Error(Code::kForbidden, kNoNamespace);
  AdhocRequest request;
  if (const Mistake mistake = ReadThrottle(words, request)) return WriteMistake(mistake);
  Decision decision;
  limiter_.DecideAdhoc(request, now, decision);
  Reply reply = Answer();
  if (decision.error != Code::kOk) return reply.Error(decision.error, decision.message);
  reply.Array(5);
  reply.Integer(decision.allowed ? 0 : 1);
  reply.Unsigned(request.burst);
  reply.Unsigned(decision.remaining);
  reply.Integer(decision.allowed ? -1 : WholeSeconds(decision.retry_after));
  reply.Integer(WholeSeconds(decision.reset_after));
}

void Connection::Peek(const Words& words, const Turn& now) {
  Request request;
  if (const Mistake mistake = ReadRequest(words, request)) return WriteMistake(mistake);
  if (RefuseNamespace(request.namespace_name)) return;
  Reply reply = Answer();
  WriteDecision(limiter_.Peek(request, now), reply);
}

void Connection::Settle(const Words& words, const Turn& now) {
  const std::optional<Ticket> ticket = Ticket::Parse(words[1]);
  if (!ticket) return WriteMistake({"ticket", "is not 32 hexadecimal digits in small letters"});
  const NumberWord cost = ReadNumber(words[2]);
  if (!cost.mistake.empty()) return WriteMistake({"cost", cost.mistake});
  const auto answer = [this](const Result<Settled>& settled, const Turn&) {
    Reply reply = Answer();
    if (settled) {
      WriteSettled(*settled, reply);
    } else {
      reply.Error(settled.error().code, settled.error().message);
    }
    GoOn();
  };
  waiting_ = !SettleOnThread(*way_back_, limiter_, {*ticket, cost.value, reach_}, now, answer);
}

}  // namespace weir::resp
