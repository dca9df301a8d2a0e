#include "fronts/grpc/health_service.h"

#include <grpc/health/v1/health.pb.h>

#include <algorithm>
#include <optional>

#include "fronts/grpc/parse_message.h"

namespace weir {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;

GrpcStatus NotAMessage() {
  return {GrpcCode::kInvalidArgument, "the message is not a HealthCheckRequest"};
}

HealthCheckResponse Response(bool serving) {
  HealthCheckResponse response;
  response.set_status(serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING);
  return response;
}

}  // namespace

// A call of Watch. Link::Post hands a change over to the connection's thread; what tells whether
// the call is still there is `alive_`.
class HealthBoard::Watcher : public StreamingCall {
 public:
  Watcher(HealthBoard& board, CallStream& stream) : board_(board), stream_(stream) {}

  void OnMessage(std::string_view bytes, const CallContext&) override {
    HealthCheckRequest request;
    if (watching_) {
      stream_.Finish({GrpcCode::kUnimplemented, "Watch takes one message"});
    } else if (!ParseMessage(bytes, request)) {
      stream_.Finish(NotAMessage());
    } else {
      watching_ = true;
      known_ = board_.Knows(request.service());
      board_.Add(*this);
      Tell(board_.serving());
    }
  }
  void OnHalfClose(const CallContext&) override {
    if (!watching_) stream_.Finish({GrpcCode::kUnimplemented, "Watch takes one message"});
  }
  void OnEnd(const Turn&) override {
    board_.Remove(*this);
    alive_.reset();
  }

  // From any thread, while the board knows this watcher.
  void Changed(bool serving) {
    stream_.link().Post([alive = std::weak_ptr<Watcher*>(alive_), serving](const Turn&) {
      if (const auto watcher = alive.lock()) (*watcher)->Tell(serving);
    });
  }

 private:
  void Tell(bool serving) {
    if (told_ == serving) return;
    told_ = serving;
    HealthCheckResponse response = Response(serving);
    if (!known_) response.set_status(HealthCheckResponse::SERVICE_UNKNOWN);
    stream_.Write(response.SerializeAsString());
  }

  HealthBoard& board_;
  CallStream& stream_;
  bool watching_ = false;
  bool known_ = false;
  std::optional<bool> told_;
  std::shared_ptr<Watcher*> alive_ = std::make_shared<Watcher*>(this);
};

void HealthBoard::SetServing(bool serving) {
  const std::lock_guard lock(mutex_);
  if (serving_ == serving) return;
  serving_ = serving;
  for (Watcher* watcher : watchers_) watcher->Changed(serving);
}

bool HealthBoard::serving() const {
  const std::lock_guard lock(mutex_);
  return serving_;
}

bool HealthBoard::Knows(std::string_view service) const {
  return service.empty() ||
         std::find(services_.begin(), services_.end(), service) != services_.end();
}

void HealthBoard::Add(Watcher& watcher) {
  const std::lock_guard lock(mutex_);
  watchers_.push_back(&watcher);
}

void HealthBoard::Remove(Watcher& watcher) {
  const std::lock_guard lock(mutex_);
  watchers_.erase(std::remove(watchers_.begin(), watchers_.end(), &watcher), watchers_.end());
}

void AddHealthService(MethodTable& methods, HealthBoard& board) {
  methods.AddUnary(
      "/grpc.health.v1.Health/Check",
      [&board](std::string_view bytes, const CallContext&, std::string& reply) -> GrpcStatus {
        HealthCheckRequest request;
        if (!ParseMessage(bytes, request)) return NotAMessage();
        if (!board.Knows(request.service())) {
          return {GrpcCode::kNotFound, "there is no such service"};
        }
        Response(board.serving()).AppendToString(&reply);
        return {};
      },
      Operation::kHealth);
  methods.AddStreaming(
      "/grpc.health.v1.Health/Watch",
      [&board](CallStream& stream, const CallContext&) {
        return std::make_unique<HealthBoard::Watcher>(board, stream);
      },
      Operation::kHealth);
}

}  // namespace weir
