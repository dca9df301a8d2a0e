#include "fronts/grpc/native_service.h"

#include "fronts/grpc/native_messages.h"
#include "fronts/grpc/native_session.h"
#include "fronts/grpc/parse_message.h"
#include "limiter/call.h"
#include "limiter/call_pool.h"

namespace weir {
namespace {

// What one thread needs for one message.
struct Scratch {
  v1::LimitRequest limit_request;
  v1::Decision message;
  std::string text;
};
Scratch& ThisThread() {
  thread_local Scratch scratch;
  return scratch;
}

// ---- Unary calls ----

// A decision that one call is for. Belongs to itself while it waits.
class UnaryDecide final : public DecideCall, public Waiter {
 public:
  static CallPool<UnaryDecide>& Pool() {
    thread_local CallPool<UnaryDecide> pool;
    return pool;
  }

  void Answered(const Turn& /*now*/) override {
    std::string& text = ThisThread().text;
    text.clear();
    const GrpcStatus status = Write(text);
    stream->Answer(status, text);
    Pool().GiveBack(std::unique_ptr<UnaryDecide>(this));
  }
  void Abandoned(const Turn& now) override {
    limiter->Abandon(*this, now);
    Pool().GiveBack(std::unique_ptr<UnaryDecide>(this));
  }
  // Appends the answer, if there is one.
  GrpcStatus Write(std::string& reply) const {
    if (decision.error != Code::kOk) return StatusOf(decision);
    v1::Decision& message = ThisThread().message;
    message.Clear();
    FillDecision(decision, message);
    message.AppendToString(&reply);
    return {};
  }

  Limiter* limiter = nullptr;
  CallStream* stream = nullptr;
};

UnaryHandler Deciding(Limiter& limiter, DecideCall::Ask ask) {
  return [&limiter, ask](std::string_view bytes, const CallContext& context,
                         std::string& reply) -> UnaryAnswer {
    v1::LimitRequest& message = ThisThread().limit_request;
    if (!ParseMessage(bytes, message)) return NotAMessage();
    std::unique_ptr<UnaryDecide> call = UnaryDecide::Pool().Take();
    call->ask = ask;
    call->request = ToRequest(message);
    call->home = &context.link.executor();
    call->patience = context.patience;
    call->reach = context.reach;
    call->limiter = &limiter;
    call->stream = &context.stream;
    const When when = limiter.Decide(*call, context.now);
    KeepSmall(bytes, message);
    if (when == When::kLater) return *call.release();
    GrpcStatus status = call->Write(reply);
    UnaryDecide::Pool().GiveBack(std::move(call));
    return status;
  };
}

// A ticket that one call is for.
class UnarySettle final : public SettleCall, public Waiter {
 public:
  static CallPool<UnarySettle>& Pool() {
    thread_local CallPool<UnarySettle> pool;
    return pool;
  }

  void Answered(const Turn& /*now*/) override {
    std::string text;
    const GrpcStatus status = Write(text);
    stream->Answer(status, text);
    Pool().GiveBack(std::unique_ptr<UnarySettle>(this));
  }
  void Abandoned(const Turn& now) override {
    limiter->Abandon(*this, now);
    Pool().GiveBack(std::unique_ptr<UnarySettle>(this));
  }
  GrpcStatus Write(std::string& reply) const {
    if (!answer) return ToGrpcStatus(answer.error());
    v1::Settled message;
    FillSettled(*answer, message);
    message.AppendToString(&reply);
    return {};
  }

  Limiter* limiter = nullptr;
  CallStream* stream = nullptr;
};

UnaryHandler Settling(Limiter& limiter) {
  return [&limiter](std::string_view bytes, const CallContext& context,
                    std::string& reply) -> UnaryAnswer {
    v1::SettleRequest message;
    if (!ParseMessage(bytes, message)) return NotAMessage();
    const std::optional<Ticket> ticket = Ticket::Parse(message.ticket());
    if (!ticket) return NotATicket();
    std::unique_ptr<UnarySettle> call = UnarySettle::Pool().Take();
    call->request = {*ticket, message.cost(), context.reach};
    call->home = &context.link.executor();
    call->patience = context.patience;
    call->limiter = &limiter;
    call->stream = &context.stream;
    if (limiter.Settle(*call, context.now) == When::kLater) return *call.release();
    GrpcStatus status = call->Write(reply);
    UnarySettle::Pool().GiveBack(std::move(call));
    return status;
  };
}

}  // namespace

void AddNativeService(MethodTable& methods, Limiter& limiter) {
  methods.AddUnary("/weir.v1.Limiter/Request", Deciding(limiter, DecideCall::Ask::kRequest));
  methods.AddUnary("/weir.v1.Limiter/Peek", Deciding(limiter, DecideCall::Ask::kPeek));
  methods.AddUnary("/weir.v1.Limiter/Settle", Settling(limiter));
  methods.AddStreaming(
      "/weir.v1.Limiter/Session",
      [&limiter](CallStream& stream, const CallContext&) { return NewSession(limiter, stream); });
}

}  // namespace weir
