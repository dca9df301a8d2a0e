// The gRPC front: any bytes on a connection, in any pieces, and it neither falls over nor holds more
// than it may.
//
// The first byte of the input says in what pieces the rest comes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/manual_executor.h"
#include "fronts/grpc/grpc_front.h"
#include "weir/limiter.h"

namespace {

constexpr std::string_view kRules = R"(
namespaces:
  edge:
    resources:
      search: {limits: [{limit: 5, per: 1s}]}
    descriptors:
      - {key: a, rate_limit: {unit: second, requests_per_unit: 5}, metadata: {team: x}}
)";

class NoLink : public weir::Link {
 public:
  void Flush() override {}
  void FlushSoon() override {}
  weir::Executor& executor() override { return executor_; }
  weir::ManualClock& clock() override { return clock_; }
  std::string_view peer() const override { return "192.0.2.7"; }

 private:
  weir::ManualClock clock_{weir::FromNanos(1'000'000'000)};
  weir::ManualExecutor executor_{clock_};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = data[0] == 0 ? size : data[0];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  static std::string errors;
  static const auto rules = weir::ParseRules(kRules, &errors);
  // New each time: what an input does depends on it alone, and nothing it left looks like a leak.
  weir::Limiter limiter(rules, {.memory_bytes = uint64_t{4} << 20}, weir::Instant{});
  weir::GrpcFront front(limiter);
  NoLink link;
  const std::unique_ptr<weir::Protocol> protocol = front.Accept(link);
  while (!rest.empty() && !protocol->done()) {
    const std::string_view in = rest.substr(0, piece);
    const size_t used = protocol->Receive(in, weir::Turn(link.clock()));
    if (used == 0) std::abort();  // answers are never in the way: they are taken every time
    if (link.out().size() > (size_t{8} << 20)) std::abort();
    link.out().clear();
    rest.remove_prefix(used);
    link.clock().Advance(std::chrono::milliseconds(1));
  }
  protocol->idle();
  protocol->Drain(weir::Turn(link.clock()));
  link.clock().Advance(std::chrono::seconds(60));
  protocol->Tick(weir::Turn(link.clock()));
  return 0;
}
