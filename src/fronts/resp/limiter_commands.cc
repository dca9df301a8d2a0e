// The commands that ask the limiter. Those that decide are batched (connection.cc).
#include "fronts/number_word.h"
#include "fronts/resp/asked.h"
#include "fronts/resp/decision_reply.h"
#include "fronts/resp/request_words.h"

namespace weir::resp {

// ---- Deciding ----

CallPool<Connection::Asked>& Connection::Asked::Pool() {
  thread_local CallPool<Asked> pool;
  return pool;
}

void Connection::Asked::Write(Reply reply) const {
  if (ask != Ask::kAdhoc) return WriteDecision(decision, reply);
  if (decision.error != Code::kOk) return reply.Error(decision.error, decision.message);
  reply.Array(5);
  reply.Integer(decision.allowed ? 0 : 1);
  reply.Unsigned(adhoc.burst);
  reply.Unsigned(decision.remaining);
  reply.Integer(decision.allowed ? -1 : WholeSeconds(decision.retry_after));
  reply.Integer(WholeSeconds(decision.reset_after));
}

void Connection::Asked::Answered(const Turn& /*now*/) {
  Write(Reply(out(), form_));
  connection_->line_.Fill(*this);
}

void Connection::Asked::Abandoned(const Turn& now) {
  connection_->limiter_.Abandon(*this, now);
  Done();
}

Mistake Connection::ReadRequestWords(const Words& words, Asked& asked) {
  asked.ask = DecideCall::Ask::kRequest;
  return ReadRequest(words, asked.request);
}

Mistake Connection::ReadPeekWords(const Words& words, Asked& asked) {
  asked.ask = DecideCall::Ask::kPeek;
  return ReadRequest(words, asked.request);
}

Mistake Connection::ReadThrottleWords(const Words& words, Asked& asked) {
  if (!options_.adhoc) {
    return {"", "limits carried by a request are switched off (--adhoc off)"};
  }
  asked.ask = DecideCall::Ask::kAdhoc;
  return ReadThrottle(words, asked.adhoc);
}

// ---- Settling ----

CallPool<Connection::Settling>& Connection::Settling::Pool() {
  thread_local CallPool<Settling> pool;
  return pool;
}

void Connection::Settling::Write(Reply reply) const {
  if (!answer) return reply.Error(answer.error().code, answer.error().message);
  WriteSettled(*answer, reply);
}

void Connection::Settling::Answered(const Turn& /*now*/) {
  Write(Reply(out(), form_));
  connection_->line_.Fill(*this);
}

void Connection::Settling::Abandoned(const Turn& now) {
  connection_->limiter_.Abandon(*this, now);
  Done();
}

void Connection::Settle(const Words& words, const Turn& now) {
  const std::optional<Ticket> ticket = Ticket::Parse(words[1]);
  if (!ticket) return WriteMistake({"ticket", "is not 32 hexadecimal digits in small letters"});
  const NumberWord cost = ReadNumber(words[2]);
  if (!cost.mistake.empty()) return WriteMistake({"cost", cost.mistake});
  std::unique_ptr<Settling> settling = Settling::Pool().Take();
  settling->home = &link_.executor();
  settling->request = {*ticket, cost.value, reach_};
  if (limiter_.Settle(*settling, now) == When::kLater) return settling.release()->WaitIn(*this);
  settling->Write(Answer());
  settling.release()->Done();
}

}  // namespace weir::resp
