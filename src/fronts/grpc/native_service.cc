#include "fronts/grpc/native_service.h"

#include "fronts/grpc/native_messages.h"
#include "fronts/grpc/parse_message.h"
#include "fronts/numbers.h"
#include "fronts/way_back.h"

namespace weir {
namespace {

GrpcStatus NotAMessage() {
  return {GrpcCode::kInvalidArgument, "bad_request: the message is not as weir.v1 has it"};
}

// What one thread needs for one message.
struct Scratch {
  v1::LimitRequest limit_request;
  v1::Decision message;
  Decision decision;
};
Scratch& ThisThread() {
  thread_local Scratch scratch;
  return scratch;
}

GrpcStatus NotHere() { return ToGrpcStatus(Code::kForbidden, kNotThisNamespace); }

GrpcStatus Decide(Limiter& limiter, const v1::LimitRequest& message, const CallContext& context,
                  v1::Decision& answer) {
  if (!context.reach->Has(message.namespace_())) return NotHere();
  Decision& decision = ThisThread().decision;
  limiter.Decide(ToRequest(message), context.now, decision);
  if (decision.error != Code::kOk) return ToGrpcStatus(decision.error, decision.message);
  FillDecision(decision, answer);
  return {};
}

GrpcStatus Peek(Limiter& limiter, const v1::LimitRequest& message, const CallContext& context,
                v1::Decision& answer) {
  if (!context.reach->Has(message.namespace_())) return NotHere();
  const Decision decision = limiter.Peek(ToRequest(message), context.now);
  if (decision.error != Code::kOk) return ToGrpcStatus(decision.error, decision.message);
  FillDecision(decision, answer);
  return {};
}

// Calls `answer` once, on the connection's thread, maybe later.
void Settle(WayBack& way, Limiter& limiter, const v1::SettleRequest& message,
            const CallContext& context, SettleTold answer) {
  const std::optional<Ticket> ticket = Ticket::Parse(message.ticket());
  if (!ticket) {
    return answer(Error{Code::kBadRequest, "ticket: not 32 hexadecimal digits", ""}, context.now);
  }
  SettleOnThread(way, limiter, {*ticket, message.cost(), context.reach}, context.now,
                 std::move(answer));
}

using LimitOperation = GrpcStatus (*)(Limiter&, const v1::LimitRequest&, const CallContext&,
                                      v1::Decision&);

UnaryHandler Unary(Limiter& limiter, LimitOperation operation) {
  return [&limiter, operation](std::string_view bytes, const CallContext& context,
                               std::string& reply) -> GrpcStatus {
    Scratch& scratch = ThisThread();
    if (!ParseMessage(bytes, scratch.limit_request)) return NotAMessage();
    scratch.message.Clear();
    GrpcStatus status = operation(limiter, scratch.limit_request, context, scratch.message);
    if (status.ok()) scratch.message.AppendToString(&reply);
    KeepSmall(bytes, scratch.limit_request);
    return status;
  };
}

// Answers that one stream may wait for, and what each keeps, about.
constexpr size_t kMostAwaited = 1024;
constexpr size_t kBytesOfAwaited = 512;

class Session : public StreamingCall {
 public:
  Session(Limiter& limiter, CallStream& stream) : limiter_(limiter), stream_(stream) {}

  void OnMessage(std::string_view bytes, const CallContext& context) override {
    MessageArena arena;
    v1::SessionRequest& request = arena.New<v1::SessionRequest>();
    if (!ParseMessage(bytes, request)) {
      stream_.Finish(NotAMessage());
      return;
    }
    const bool decides = request.has_request() || request.has_peek() || request.has_reserve();
    if ((decides && context.link.late()) || waiting_ >= kMostAwaited) {
      context.link.CountRefused();
      Refuse(request.id());
    } else if (request.has_reserve()) {
      Reserve(request.id(), request.reserve(), context);
    } else if (request.has_settle()) {
      Settle(request.id(), request.settle(), context);
    } else {
      v1::SessionResponse& response = arena.New<v1::SessionResponse>();
      response.set_id(request.id());
      const GrpcStatus status = Answer(request, context, response);
      if (!status.ok()) SetError(status, *response.mutable_error());
      Write(response);
    }
  }
  void OnHalfClose(const CallContext&) override {
    half_closed_ = true;
    FinishIfDone();
  }
  bool owes() const override { return waiting_ > 0; }
  void OnPeerDone(const Turn& now) override {
    if (session_) limiter_.ReleaseAll(session_, now);
  }
  size_t bytes() const override {
    return sizeof *this + text_.capacity() + waiting_ * kBytesOfAwaited;
  }
  void OnEnd(const Turn& now) override {
    ended_ = true;
    way_back_->Close();
    if (session_) limiter_.EndSession(session_, now);
  }

 private:
  GrpcStatus Answer(const v1::SessionRequest& request, const CallContext& context,
                    v1::SessionResponse& response) {
    switch (request.operation_case()) {
      case v1::SessionRequest::kRequest:
        return Decide(limiter_, request.request(), context, *response.mutable_decision());
      case v1::SessionRequest::kPeek:
        return Peek(limiter_, request.peek(), context, *response.mutable_decision());
      case v1::SessionRequest::kRelease:
        return Release(request.release(), context, *response.mutable_released());
      case v1::SessionRequest::kTransfer:
        return Transfer(request.transfer(), context, *response.mutable_transferred());
      case v1::SessionRequest::kSeize:
        return Seize(request.seize(), context, *response.mutable_seized());
      case v1::SessionRequest::kReserve:
      case v1::SessionRequest::kSettle:  // are not answered here
      case v1::SessionRequest::OPERATION_NOT_SET: break;
    }
    return ToGrpcStatus(Code::kBadRequest, "no operation that is known");
  }

  void Reserve(uint64_t id, const v1::ReserveRequest& message, const CallContext& context) {
    const ReserveRequest request = ToReserve(message);
    const Turn& now = context.now;
    if (!context.reach->Has(request.namespace_name)) return AnswerError(id, NotHere());
    waiting_ += 1;
    ReserveOnThread(
        *way_back_, now, request.wait > Duration::zero(),
        [&](ReserveDone done) { limiter_.Reserve(HeldBy(now), request, now, std::move(done)); },
        [this, id](const Result<Reservation>& told, const Turn&) {
          AnswerAsked(id, told, [&](v1::SessionResponse& response) {
            FillReservation(*told, *response.mutable_reservation());
          });
        });
  }

  void Settle(uint64_t id, const v1::SettleRequest& message, const CallContext& context) {
    waiting_ += 1;
    weir::Settle(*way_back_, limiter_, message, context,
                 [this, id](const Result<Settled>& told, const Turn&) {
                   AnswerAsked(id, told, [&](v1::SessionResponse& response) {
                     FillSettled(*told, *response.mutable_settled());
                   });
                 });
  }

  void Refuse(uint64_t id) {
    AnswerError(id, ToGrpcStatus(Code::kOverloaded, "the server is busy: this waited too long"));
  }

  void AnswerError(uint64_t id, const GrpcStatus& status) {
    MessageArena arena;
    v1::SessionResponse& response = arena.New<v1::SessionResponse>();
    response.set_id(id);
    SetError(status, *response.mutable_error());
    Write(response);
  }

  template <typename T, typename Fill>
  void AnswerAsked(uint64_t id, const Result<T>& told, const Fill& fill) {
    MessageArena arena;
    v1::SessionResponse& response = arena.New<v1::SessionResponse>();
    response.set_id(id);
    if (told) {
      fill(response);
    } else {
      SetError(ToGrpcStatus(told.error()), *response.mutable_error());
    }
    waiting_ -= 1;
    Write(response);
    FinishIfDone();
  }

  GrpcStatus Release(const v1::ReleaseRequest& message, const CallContext& context,
                     v1::Released& answer) {
    const std::optional<Ticket> hold = Ticket::Parse(message.hold());
    if (!hold) return ToGrpcStatus(Code::kBadRequest, "hold: not 32 hexadecimal digits");
    if (message.has_copies() && message.copies() == 0) return NoCopies();
    const Result<uint64_t> left =
        limiter_.Release(HeldBy(context.now), *hold, message.copies(), context.now, context.reach);
    if (!left) return ToGrpcStatus(left.error());
    answer.set_copies(*left);
    return {};
  }

  GrpcStatus Transfer(const v1::TransferRequest& message, const CallContext& context,
                      v1::Transferred& answer) {
    const std::optional<Ticket> hold = Ticket::Parse(message.hold());
    if (!hold) return ToGrpcStatus(Code::kBadRequest, "hold: not 32 hexadecimal digits");
    if (message.has_copies() && message.copies() == 0) return NoCopies();
    const Result<Ticket> transfer =
        limiter_.Transfer(HeldBy(context.now), *hold, message.copies(),
                          FromMillis(message.ttl_ms()), context.now, context.reach);
    if (!transfer) return ToGrpcStatus(transfer.error());
    answer.set_transfer(transfer->ToString());
    return {};
  }

  GrpcStatus Seize(const v1::SeizeRequest& message, const CallContext& context,
                   v1::Seized& answer) {
    const std::optional<Ticket> transfer = Ticket::Parse(message.transfer());
    if (!transfer) return ToGrpcStatus(Code::kBadRequest, "transfer: not 32 hexadecimal digits");
    const Result<Seized> seized =
        limiter_.Seize(HeldBy(context.now), *transfer, context.now, context.reach);
    if (!seized) return ToGrpcStatus(seized.error());
    FillSeized(*seized, answer);
    return {};
  }

  static GrpcStatus NoCopies() {
    return ToGrpcStatus(Code::kBadRequest, "copies: is 0; without it, all are meant");
  }

  // The limiter's session, from the first operation on holds to the end of the stream.
  const SessionId& HeldBy(const Turn& now) {
    if (!session_) session_ = limiter_.OpenSession(kNever, now);
    return session_;
  }

  void Write(const v1::SessionResponse& response) {
    text_.clear();
    response.AppendToString(&text_);
    stream_.Write(text_);
  }

  // The peer says nothing more, and everything is answered.
  void FinishIfDone() {
    if (half_closed_ && waiting_ == 0 && !ended_) stream_.Finish({});
  }

  // A status's message begins with the code's name.
  static void SetError(const GrpcStatus& status, v1::Error& error) {
    const std::string_view text = status.message;
    const size_t colon = text.find(": ");
    error.set_status(static_cast<int>(status.code));
    error.mutable_code()->assign(text.substr(0, colon));
    if (colon != std::string_view::npos) error.mutable_message()->assign(text.substr(colon + 2));
  }

  Limiter& limiter_;
  CallStream& stream_;
  std::string text_;
  SessionId session_;
  size_t waiting_ = 0;  // for answers
  bool half_closed_ = false;
  bool ended_ = false;  // the stream is not there any more
  const std::shared_ptr<WayBack> way_back_ = WayBack::To(stream_.link());
};

// A call for one ticket. It streams only in that its answer may be late: the ticket is settled when
// the call has come to its end, with one message.
class SettleCall : public StreamingCall {
 public:
  SettleCall(Limiter& limiter, CallStream& stream) : limiter_(limiter), stream_(stream) {}

  void OnMessage(std::string_view bytes, const CallContext&) override {
    if (std::exchange(came_, true)) return stream_.Finish(NotOneMessage());
    if (!ParseMessage(bytes, request_)) stream_.Finish(NotAMessage());
  }
  void OnHalfClose(const CallContext& context) override {
    if (!came_) return stream_.Finish(NotOneMessage());
    asked_ = true;
    Settle(*way_back_, limiter_, request_, context,
           [this](const Result<Settled>& settled, const Turn&) {
             if (!settled) return stream_.Finish(ToGrpcStatus(settled.error()));
             v1::Settled answer;
             FillSettled(*settled, answer);
             stream_.Write(answer.SerializeAsString());
             stream_.Finish({});
           });
  }
  bool is_unary() const override { return true; }
  bool owes() const override { return asked_; }
  size_t bytes() const override { return sizeof *this + request_.SpaceUsedLong(); }
  void OnEnd(const Turn&) override { way_back_->Close(); }

 private:
  static GrpcStatus NotOneMessage() {
    return {GrpcCode::kUnimplemented, "a unary call takes one message"};
  }

  Limiter& limiter_;
  CallStream& stream_;
  v1::SettleRequest request_;
  bool came_ = false;
  bool asked_ = false;
  const std::shared_ptr<WayBack> way_back_ = WayBack::To(stream_.link());
};

}  // namespace

void AddNativeService(MethodTable& methods, Limiter& limiter) {
  methods.AddUnary("/weir.v1.Limiter/Request", Unary(limiter, Decide));
  methods.AddUnary("/weir.v1.Limiter/Peek", Unary(limiter, Peek));
  methods.AddStreaming("/weir.v1.Limiter/Settle",
                       [&limiter](CallStream& stream, const CallContext&) {
                         return std::make_unique<SettleCall>(limiter, stream);
                       });
  methods.AddStreaming("/weir.v1.Limiter/Session",
                       [&limiter](CallStream& stream, const CallContext&) {
                         return std::make_unique<Session>(limiter, stream);
                       });
}

}  // namespace weir
