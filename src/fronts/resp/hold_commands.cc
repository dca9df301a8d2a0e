// The commands on holds. The connection is their session.
#include "fronts/resp/connection.h"
#include "fronts/resp/hold_reply.h"
#include "fronts/resp/request_words.h"

namespace weir::resp {

const SessionId& Connection::Session(const Turn& now) {
  if (!session_) session_ = limiter_.OpenSession(kNever, now, link_.peer());
  return session_;
}

void Connection::EndSession(const Turn& now) {
  if (session_) limiter_.EndSession(session_, now);
  session_ = {};
}

void Connection::Closed(const Turn& now) {
  way_back_->Close();
  line_.End(now);
  EndSession(now);
}

void Connection::HalfClosed(const Turn& now) {
  if (session_) limiter_.ReleaseAll(session_, now);
}

void Connection::GoOn() {
  if (!waiting_) return;
  waiting_ = false;
  link_.Flush();
}

void Connection::Reserve(const Words& words, const Turn& now) {
  ReserveRequest request;
  if (const Mistake mistake = ReadReserve(words, request)) return WriteMistake(mistake);
  request.reach = reach_;
  const bool waits = request.wait > Duration::zero();
  const auto answer = [this, waits, ns = std::string(waits ? request.namespace_name : "")](
                          const Result<Reservation>& told, const Turn& at) {
    if (waits) LookAtPasswordAgain(at);
    Reply reply = Answer();
    if (!open()) {
      reply.Error("NOAUTH", "Authentication required.");
    } else if (waits) {
      WriteReservation(IfReached(reach_, ns, told, limiter_, session_, at), reply);
    } else {
      WriteReservation(told, reply);
    }
    GoOn();
  };
  const auto reserve = [&](ReserveDone done) {
    limiter_.Reserve(Session(now), request, now, std::move(done));
  };
  waiting_ = !ReserveOnThread(*way_back_, now, waits, reserve, answer);
}

void Connection::Release(const Words& words, const Turn& now) {
  HoldWords request;
  if (const Mistake mistake = ReadRelease(words, request)) return WriteMistake(mistake);
  const Result<uint64_t> left =
      limiter_.Release(Session(now), request.hold, request.copies, now, reach_);
  Reply reply = Answer();
  if (!left) return reply.Error(left.error().code, left.error().message);
  WriteReleased(*left, reply);
}

void Connection::Transfer(const Words& words, const Turn& now) {
  HoldWords request;
  if (const Mistake mistake = ReadTransfer(words, request)) return WriteMistake(mistake);
  const Result<Ticket> transfer =
      limiter_.Transfer(Session(now), request.hold, request.copies, request.ttl, now, reach_);
  Reply reply = Answer();
  if (!transfer) return reply.Error(transfer.error().code, transfer.error().message);
  WriteTransfer(*transfer, reply);
}

void Connection::Seize(const Words& words, const Turn& now) {
  Ticket transfer;
  if (const Mistake mistake = ReadSeize(words, transfer)) return WriteMistake(mistake);
  const Result<Seized> seized = limiter_.Seize(Session(now), transfer, now, reach_);
  Reply reply = Answer();
  if (!seized) return reply.Error(seized.error().code, seized.error().message);
  WriteSeized(*seized, reply);
}

}  // namespace weir::resp
