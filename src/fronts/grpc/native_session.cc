#include "fronts/grpc/native_session.h"

#include <vector>

#include "fronts/grpc/native_messages.h"
#include "fronts/grpc/parse_message.h"
#include "fronts/numbers.h"
#include "fronts/way_back.h"
#include "limiter/call.h"
#include "limiter/call_pool.h"

namespace weir {
namespace {

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
    } else if (request.has_request() || request.has_peek()) {
      Decide(request, context);
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
    for (Awaited* call : std::exchange(awaited_, {})) call->GiveUp(*this, now);
    if (session_) limiter_.EndSession(session_, now);
  }

 private:
  GrpcStatus Answer(const v1::SessionRequest& request, const CallContext& context,
                    v1::SessionResponse& response) {
    switch (request.operation_case()) {
      case v1::SessionRequest::kRelease:
        return Release(request.release(), context, *response.mutable_released());
      case v1::SessionRequest::kTransfer:
        return Transfer(request.transfer(), context, *response.mutable_transferred());
      case v1::SessionRequest::kSeize:
        return Seize(request.seize(), context, *response.mutable_seized());
      case v1::SessionRequest::kRequest:
      case v1::SessionRequest::kPeek:
      case v1::SessionRequest::kReserve:
      case v1::SessionRequest::kSettle:  // are not answered here
      case v1::SessionRequest::OPERATION_NOT_SET: break;
    }
    return ToGrpcStatus(Code::kBadRequest, "no operation that is known");
  }

  void Reserve(uint64_t id, const v1::ReserveRequest& message, const CallContext& context) {
    const Turn& now = context.now;
    ReserveRequest request = ToReserve(message);
    request.reach = context.reach;
    waiting_ += 1;
    const bool waits = request.wait > Duration::zero();
    ReserveOnThread(
        *way_back_, now, waits,
        [&](ReserveDone done) { limiter_.Reserve(HeldBy(now), request, now, std::move(done)); },
        [this, id, ns = std::string(waits ? request.namespace_name : "")](
            const Result<Reservation>& granted, const Turn& at) {
          const Result<Reservation> told =
              ns.empty() ? granted
                         : IfReached(stream_.ReachNow(), ns, granted, limiter_, session_, at);
          AnswerAsked(id, told, [&](v1::SessionResponse& response) {
            FillReservation(*told, *response.mutable_reservation());
          });
        });
  }

  void Decide(const v1::SessionRequest& request, const CallContext& context) {
    std::unique_ptr<SessionDecide> call = SessionDecide::Pool().Take();
    const bool peek = request.has_peek();
    call->ask = peek ? DecideCall::Ask::kPeek : DecideCall::Ask::kRequest;
    call->request = ToRequest(peek ? request.peek() : request.request());
    call->home = &stream_.link().executor();
    call->reach = context.reach;
    call->id = request.id();
    if (limiter_.Decide(*call, context.now) == When::kLater) return Await(*call.release());
    WriteDecision(*call);
    SessionDecide::Pool().GiveBack(std::move(call));
  }

  void Settle(uint64_t id, const v1::SettleRequest& message, const CallContext& context) {
    const std::optional<Ticket> ticket = Ticket::Parse(message.ticket());
    if (!ticket) return WriteError(id, NotATicket());
    std::unique_ptr<SessionSettle> call = SessionSettle::Pool().Take();
    call->request = {*ticket, message.cost(), context.reach};
    call->home = &stream_.link().executor();
    call->id = id;
    if (limiter_.Settle(*call, context.now) == When::kLater) return Await(*call.release());
    WriteSettled(*call);
    SessionSettle::Pool().GiveBack(std::move(call));
  }

  // What the session waits for, so that it can be given up.
  class Awaited {
   public:
    virtual void GiveUp(Session& session, const Turn& now) = 0;
    size_t place = 0;  // among awaited_
    Session* session = nullptr;
    uint64_t id = 0;

   protected:
    ~Awaited() = default;
  };
  void Await(Awaited& call) {
    call.session = this;
    call.place = awaited_.size();
    awaited_.push_back(&call);
    waiting_ += 1;
  }
  void Came(Awaited& call) {
    awaited_[call.place] = awaited_.back();
    awaited_[call.place]->place = call.place;
    awaited_.pop_back();
    waiting_ -= 1;
    FinishIfDone();
  }

  class SessionDecide final : public DecideCall, public Awaited {
   public:
    static CallPool<SessionDecide>& Pool() {
      thread_local CallPool<SessionDecide> pool;
      return pool;
    }
    void Answered(const Turn& /*now*/) override {
      session->WriteDecision(*this);
      session->Came(*this);
      Pool().GiveBack(std::unique_ptr<SessionDecide>(this));
    }
    void GiveUp(Session& of, const Turn& now) override {
      of.limiter_.Abandon(*this, now);
      Pool().GiveBack(std::unique_ptr<SessionDecide>(this));
    }
  };
  class SessionSettle final : public SettleCall, public Awaited {
   public:
    static CallPool<SessionSettle>& Pool() {
      thread_local CallPool<SessionSettle> pool;
      return pool;
    }
    void Answered(const Turn& /*now*/) override {
      session->WriteSettled(*this);
      session->Came(*this);
      Pool().GiveBack(std::unique_ptr<SessionSettle>(this));
    }
    void GiveUp(Session& of, const Turn& now) override {
      of.limiter_.Abandon(*this, now);
      Pool().GiveBack(std::unique_ptr<SessionSettle>(this));
    }
  };

  void WriteDecision(const SessionDecide& call) {
    if (call.decision.error != Code::kOk) return WriteError(call.id, StatusOf(call.decision));
    MessageArena arena;
    v1::SessionResponse& response = arena.New<v1::SessionResponse>();
    response.set_id(call.id);
    FillDecision(call.decision, *response.mutable_decision());
    Write(response);
  }
  void WriteSettled(const SessionSettle& call) {
    if (!call.answer) return WriteError(call.id, ToGrpcStatus(call.answer.error()));
    MessageArena arena;
    v1::SessionResponse& response = arena.New<v1::SessionResponse>();
    response.set_id(call.id);
    FillSettled(*call.answer, *response.mutable_settled());
    Write(response);
  }
  void WriteError(uint64_t id, const GrpcStatus& status) {
    MessageArena arena;
    v1::SessionResponse& response = arena.New<v1::SessionResponse>();
    response.set_id(id);
    SetError(status, *response.mutable_error());
    Write(response);
  }

  void Refuse(uint64_t id) {
    WriteError(id, ToGrpcStatus(Code::kOverloaded, "the server is busy: this waited too long"));
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
    if (!session_) session_ = limiter_.OpenSession(kNever, now, stream_.link().peer());
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
  size_t waiting_ = 0;             // for answers
  std::vector<Awaited*> awaited_;  // those of them that are decided or settled
  bool half_closed_ = false;
  bool ended_ = false;  // the stream is not there any more
  const std::shared_ptr<WayBack> way_back_ = WayBack::To(stream_.link());
};

}  // namespace

std::unique_ptr<StreamingCall> NewSession(Limiter& limiter, CallStream& stream) {
  return std::make_unique<Session>(limiter, stream);
}

}  // namespace weir
