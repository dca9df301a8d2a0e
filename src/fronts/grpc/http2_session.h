// gRPC on one connection: HTTP/2 frames by libnghttp2, in memory, and the calls in them.
//
//   Receive --> FrameMeter --> nghttp2 --> OnHeader, OnData, OnHalfClose --> handler
//   link.out() <-- Pump <-- nghttp2 <-- Respond, ReadOut, trailers <----------'
//
// Answers that are no answers of a handler:
//
//   not POST, not application/grpc          405, 415
//   no such method                          UNIMPLEMENTED
//   a compressed message                    UNIMPLEMENTED; we accept identity alone
//   too long: headers, message, all calls   RESOURCE_EXHAUSTED
//   a call for which there is no memory     reset with REFUSED_STREAM: it may be tried again
//   waited too long to be decided           RESOURCE_EXHAUSTED, "overloaded: …"
//   no token that is good, any more         UNAUTHENTICATED, PERMISSION_DENIED
//   past its grpc-timeout                   DEADLINE_EXCEEDED, "overloaded: …"
//   not one message in a unary call         UNIMPLEMENTED
//   messages that are cut off               INTERNAL
//
// A peer that floods us with frames that bring nothing, or does not read what it asked for, is sent
// GOAWAY with ENHANCE_YOUR_CALM and closed. Of a header `te`, libnghttp2 lets nothing but
// "trailers" through; that it is missing is forgiven.
#pragma once

#include <nghttp2/nghttp2.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fronts/grpc/frame_meter.h"
#include "fronts/grpc/grpc_call.h"
#include "fronts/grpc/grpc_options.h"
#include "fronts/grpc/method_table.h"
#include "fronts/protocol.h"

namespace weir {

class Http2Session : public Protocol {
 public:
  Http2Session(Link& link, const MethodTable& methods, const GrpcOptions& options);
  ~Http2Session() override;
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  size_t Receive(std::string_view in, const Turn& now) override;
  // Ends what is late: calls past their time, answers that nobody reads, a frame that never ends.
  void Tick(const Turn& now) override;
  // Says that no new calls will be taken, and pings. Once that is answered (or a second later) no
  // call can be on its way: streaming ones are ended, and the last stream is named.
  void Drain(const Turn& now) override;
  void Closed(const Turn& now) override;
  void HalfClosed(const Turn& now) override;
  bool owes() const override;
  size_t bytes() const override;
  bool idle() const override;
  bool done() const override;

  // For GrpcCall.
  void Write(GrpcCall& call, std::string_view message);
  void Finish(GrpcCall& call, const GrpcStatus& status);
  Link& link() { return link_; }
  const Reach* ReachNow(const GrpcCall& call) const;

 private:
  struct Callbacks;  // nghttp2's, to the functions below
  friend struct Callbacks;
  // While it lives there is a turn, and what is written waits to be pumped.
  class InTurn {
   public:
    InTurn(Http2Session& session, const Turn& now) : session_(session) {
      session_.busy_ = true;
      session_.now_ = &now;
    }
    ~InTurn() {
      session_.busy_ = false;
      session_.now_ = nullptr;
    }
    InTurn(const InTurn&) = delete;
    InTurn& operator=(const InTurn&) = delete;

   private:
    Http2Session& session_;
  };

  // What arrives. Those with a result end the connection with it, unless it is 0.
  int OnBeginHeaders(int32_t stream);
  int OnHeader(int32_t stream, std::string_view name, std::string_view value);
  int OnFrame(const nghttp2_frame& frame);
  int OnData(int32_t stream, std::string_view bytes);
  void OnClose(int32_t stream, uint32_t error);
  // What leaves.
  ssize_t ReadOut(GrpcCall& call, uint8_t* buffer, size_t size, uint32_t& flags);
  void OnSent(const nghttp2_frame& frame);

  void Take(std::string_view in);
  void EndIfLate(GrpcCall& call);
  void BeginCall(GrpcCall& call);
  // Whether the call may be made at all; where, is in its reach. Else it is refused.
  bool May(GrpcCall& call);
  // The same of a call that was let in, if other tokens are known since.
  bool StillMay(GrpcCall& call);
  void HalfClose(GrpcCall& call);
  void AnswerUnary(GrpcCall& call);
  // Uses up the messages of a streaming call; of a unary one only looks whether it is as it should.
  void ReadMessages(GrpcCall& call);
  bool FitsHead(GrpcCall& call, std::string_view head, size_t& length);

  void Respond(GrpcCall& call);
  void SubmitTrailers(GrpcCall& call);
  void SubmitTrailersOnly(GrpcCall& call);
  void AnswerHttp(GrpcCall& call, std::string_view status);

  GrpcCall* Find(int32_t stream);
  GrpcCall& TakeCall(int32_t stream);
  void GiveBack(GrpcCall& call);
  CallContext Context(GrpcCall& call) {
    return {*now_, link_, link_.peer(), call.metadata, call, call.Patience(*now_), call.reach};
  }
  void AbandonWaiter(GrpcCall& call);
  size_t most_bytes() const {
    return link_.trusted() ? options_.max_connection_bytes : bytes_when_empty_ + kMostOfAStranger;
  }
  // A call was answered well.
  void Trust();
  void DropPool();

  void Pump();
  void PumpLater();
  void FinishDrain();
  void EndCalls(const Turn& now);
  void Fail(uint32_t error);

  Link& link_;
  const MethodTable& methods_;
  const GrpcOptions options_;
  size_t library_bytes_ = 0;  // that libnghttp2 has taken
  size_t bytes_when_empty_ = 0;
  nghttp2_session* session_ = nullptr;
  FrameMeter meter_;
  const Turn* now_ = nullptr;  // while it is being called, or writes
  Instant drain_began_{};

  std::vector<std::unique_ptr<GrpcCall>> calls_;  // open ones and the pool
  std::vector<GrpcCall*> pool_;
  GrpcCall* last_ = nullptr;  // to which the last frame belonged, if it is open
  size_t open_ = 0;
  size_t held_ = 0;             // memory of all calls: their heap_bytes
  size_t held_by_streams_ = 0;  // memory of their handlers, at the last tick
  size_t held_out_ = 0;         // unsent bytes in all calls' `out`
  // Handlers of calls that are over: they may be the ones who write at this moment.
  std::vector<std::unique_ptr<StreamingCall>> ended_;

  bool busy_ = false;  // within Receive or Drain: what is written will be pumped
  bool draining_ = false;
  bool drained_ = false;  // the last stream was named
  bool overrun_ = false;  // held_out_ was: the peer asks for more than it reads
  bool failed_ = false;
};

}  // namespace weir
