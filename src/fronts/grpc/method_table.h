// The methods that a gRPC front answers: path -> handler.
//
//   unary      one message in, one out: a function, which answers at once or leaves somebody who will.
//   streaming  an object for each call, which is told of every message and writes as many as it
//              likes, at once or later.
//
// Handlers are shared by all connections, and so by many threads; an object of a streaming call is
// its connection's own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fronts/access.h"
#include "fronts/grpc/call_metadata.h"
#include "fronts/grpc/grpc_status.h"
#include "fronts/protocol.h"
#include "fronts/waiter.h"
#include "weir/instant.h"

namespace weir {

// The way back of a call. Exists until StreamingCall::OnEnd or Waiter::Abandoned has returned, or a late
// unary call was answered; to be used on the connection's thread only.
class CallStream {
 public:
  // After Finish, all do nothing.
  virtual void Write(std::string_view message) = 0;
  virtual void Finish(const GrpcStatus& status) = 0;
  // A unary call is answered late: if the status is ok, with the message.
  virtual void Answer(const GrpcStatus& status, std::string_view message) = 0;
  virtual Link& link() = 0;
  // Of whoever asks, as it is by now; null: he may ask for no decision any more.
  virtual const Reach* ReachNow() const = 0;

 protected:
  ~CallStream() = default;
};

struct CallContext {
  Turn::Field now;
  Link& link;
  std::string_view peer;
  const CallMetadata& metadata;
  CallStream& stream;
  Duration patience;   // what is left of the time that the peer gives it
  const Reach* reach;  // of whoever asks for decisions; not null
};

class StreamingCall {
 public:
  virtual ~StreamingCall() = default;
  virtual void OnMessage(std::string_view message, const CallContext& context) = 0;
  // The peer sends no more.
  virtual void OnHalfClose(const CallContext& context) = 0;
  // Answers are to come to what the peer has sent.
  virtual bool owes() const { return false; }
  // The whole connection's peer sends nothing more, and may be gone.
  virtual void OnPeerDone(const Turn& /*now*/) {}
  // What it keeps for the peer, in bytes of memory.
  virtual size_t bytes() const { return 0; }
  // The call is over: finished, reset, or its connection is gone. The last that is called.
  virtual void OnEnd(const Turn& /*now*/) {}
};

// Answered with a status; or somebody waits, who will answer by CallStream::Answer.
struct UnaryAnswer {
  UnaryAnswer(GrpcStatus the_status) : status(std::move(the_status)) {}  // NOLINT
  UnaryAnswer(Waiter& the_waiter) : waiter(&the_waiter) {}               // NOLINT
  GrpcStatus status;
  Waiter* waiter = nullptr;
};

// Appends the answer to `reply`, which is not empty at first; what it appends counts if it is ok.
using UnaryHandler =
    std::function<UnaryAnswer(std::string_view message, const CallContext&, std::string& reply)>;
using StreamingHandler =
    std::function<std::unique_ptr<StreamingCall>(CallStream& stream, const CallContext&)>;

struct Method {
  std::string path;            // "/package.Service/Method"
  UnaryHandler unary;          // one of the two
  StreamingHandler streaming;  // is set
  Operation what = Operation::kDecide;

  bool decides() const {
    return unary && what == Operation::kDecide;
  }  // is refused when it is late
};

class MethodTable {
 public:
  void AddUnary(std::string path, UnaryHandler handler, Operation what = Operation::kDecide) {
    methods_.push_back({std::move(path), std::move(handler), nullptr, what});
  }
  void AddStreaming(std::string path, StreamingHandler handler,
                    Operation what = Operation::kDecide) {
    methods_.push_back({std::move(path), nullptr, std::move(handler), what});
  }
  // Null if there is none. A dozen comparisons of lengths: no hash is faster. Those called most
  // should be added first.
  const Method* Find(std::string_view path) const {
    for (const Method& method : methods_) {
      if (method.path == path) return &method;
    }
    return nullptr;
  }
  const std::vector<Method>& all() const { return methods_; }
  // "package.Service", each once, in the order of their methods.
  std::vector<std::string> Services() const;

 private:
  std::vector<Method> methods_;  // does not change once there are connections
};

}  // namespace weir
