// A gRPC client in memory: libnghttp2's client session, back to back with a front's protocol. No
// socket, no clock.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/manual_executor.h"
#include "fronts/grpc/grpc_front.h"
#include "fronts/protocol.h"
#include "tests/limiter/testing.h"

namespace weir::testing {

inline constexpr Instant kGrpcStart = FromNanos(1'800'000'000'000'000'000);

// Counts what is asked of a link, and does none of it.
class BareLink : public Link {
 public:
  void Flush() override { flushes += 1; }
  void FlushSoon() override { flushes += 1; }
  ManualExecutor& executor() override { return manual_executor; }
  ManualClock& clock() override { return manual_clock; }
  // What was posted, in this turn.
  void RunPosted() { manual_executor.RunSome(); }
  Turn At(Instant now) {
    manual_clock.Set(now);
    return Turn(manual_clock);
  }
  std::string_view peer() const override { return "192.0.2.7"; }
  // What is handed over has waited so long; `late`: too long.
  void SetWaited(Duration waited, bool late) { waited_ = waited, late_ = late; }
  uint64_t refused() const { return refused_; }

  int flushes = 0;
  ManualClock& manual_clock = KeptClock(kGrpcStart);
  ManualExecutor manual_executor{manual_clock};
};

// A call as its client sees it.
struct ClientCall {
  std::map<std::string, std::string> headers;  // trailers too
  int header_blocks = 0;
  std::string data;
  bool ended = false;  // the server's side
  bool closed = false;
  uint32_t error = 0;  // of a reset

  std::string status() const { return Header("grpc-status"); }
  std::string message() const { return Header("grpc-message"); }
  std::string Header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
  // The messages in `data`.
  std::vector<std::string> messages() const;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// With its five bytes before it.
std::string Framed(std::string_view message);

class GrpcClient {
 public:
  // `protocol` and `link` outlive the client.
  GrpcClient(Protocol& protocol, BareLink& link);
  ~GrpcClient();
  GrpcClient(const GrpcClient&) = delete;

  // Opens a call. Names in `headers` replace those of a usual call; an empty value leaves it out.
  int32_t Open(const std::string& path, const Headers& headers = {}, bool end = false);
  void Send(int32_t stream, std::string bytes, bool end);
  void Reset(int32_t stream);
  // Bytes back and forth until nothing moves.
  void Exchange();
  // What the client has to say, not yet given to the server.
  std::string TakeBytes();
  void Give(std::string_view bytes) { used += protocol_.Receive(bytes, link_.At(now)); }
  // What the server said, to the client.
  void Listen();

  // A whole call with one message.
  ClientCall& Call(const std::string& path, std::string_view message, const Headers& headers = {});
  template <typename Answer, typename Question>
  Answer Ask(const std::string& path, const Question& question) {
    ClientCall& call = Call(path, question.SerializeAsString());
    EXPECT_EQ(call.status(), "0") << call.message();
    Answer answer;
    const auto messages = call.messages();
    EXPECT_EQ(messages.size(), 1u);
    if (!messages.empty()) {
      EXPECT_TRUE(answer.ParseFromString(messages[0]));
    }
    return answer;
  }

  ClientCall& operator[](int32_t stream) { return calls_[stream]; }
  nghttp2_session* session() { return session_; }

  Instant now = kGrpcStart;
  size_t used = 0;
  std::vector<uint32_t> goaways;  // errors
  std::vector<int32_t> goaway_last;

 private:
  struct Callbacks;
  struct Outgoing {
    std::string bytes;
    bool end = false;
    bool deferred = false;
  };

  Protocol& protocol_;
  BareLink& link_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, ClientCall> calls_;
  std::map<int32_t, Outgoing> outgoing_;
};

// A limiter, its gRPC front, one connection and a client on it.
class GrpcRig {
 public:
  explicit GrpcRig(std::shared_ptr<const Rulebook> rules, const GrpcFrontOptions& options = {})
      : limiter(std::move(rules), OverTestStore(), kGrpcStart),
        front(limiter, options),
        protocol(front.Accept(link)),
        client(*protocol, link) {}

  Limiter limiter;
  GrpcFront front;
  BareLink link;
  std::unique_ptr<Protocol> protocol;
  GrpcClient client;
};

std::shared_ptr<const Rulebook> RatelimitRulesOf(std::string_view yaml);

// A frame of HTTP/2.
inline std::string Frame(unsigned char type, unsigned char flags, uint32_t stream,
                         const std::string& payload) {
  std::string frame(9, '\0');
  frame[0] = static_cast<char>(payload.size() >> 16);
  frame[1] = static_cast<char>(payload.size() >> 8);
  frame[2] = static_cast<char>(payload.size());
  frame[3] = static_cast<char>(type);
  frame[4] = static_cast<char>(flags);
  for (size_t i = 0; i < 4; ++i) frame[5 + i] = static_cast<char>(stream >> (24 - 8 * i));
  return frame + payload;
}

}  // namespace weir::testing
