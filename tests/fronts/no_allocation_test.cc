// In steady state the hot paths allocate nothing: pipelined commands of Redis clients, and the
// decisions that proxies ask for.
#include <gtest/gtest.h>

#include "fronts/http/http_front.h"
#include "fronts/resp/resp_front.h"
#include "tests/fronts/testing.h"
#include "tests/rules/allocations.h"

namespace weir::no_allocation_test {
namespace {

using testing::kStart;

constexpr std::string_view kRules = R"(
namespaces:
  shop:
    resources:
      search: {limits: [{name: burst, limit: 20, per: 1s}, {name: daily, limit: 1000, per: 1d}]}
)";

// As lean as the server's.
class LeanLink : public Link {
 public:
  explicit LeanLink(Front& front) : protocol_(front.Accept(*this)) {}
  void Flush() override {}
  void FlushSoon() override {}
  ManualExecutor& executor() override { return executor_; }
  ManualClock& clock() override { return clock_; }
  std::string_view peer() const override { return "2001:db8::1234:5678"; }
  void Send(std::string_view bytes, Instant now) {
    clock_.Set(now);
    EXPECT_EQ(protocol_->Receive(bytes, Turn(clock_)), bytes.size());
    EXPECT_FALSE(out().empty());
    out().clear();
  }

 private:
  ManualClock clock_;
  ManualExecutor executor_{clock_};
  std::unique_ptr<Protocol> protocol_;
};

size_t SteadyAllocations(Front& front, std::string_view bytes, std::string_view first = {}) {
  if (testing::OverLater()) return 0;  // what waits allocates: tests/limiter/calls_test.cc
  LeanLink link(front);
  Instant now = kStart;
  if (!first.empty()) link.Send(first, now);
  const auto round = [&] {
    for (int i = 0; i < 100; ++i) link.Send(bytes, now += std::chrono::milliseconds(10));
  };
  round();
  const size_t before = Allocations();
  round();
  return Allocations() - before;
}

TEST(NoAllocation, OfPipelinedCommands) {
  const auto limiter = testing::Open(kRules);
  RespFront front(*limiter);
  std::string pipeline;
  for (int i = 0; i < 40; ++i) {
    pipeline += "*4\r\n$12\r\nWEIR.REQUEST\r\n$4\r\nshop\r\n$6\r\nsearch\r\n$26\r\n";
    pipeline += "a-subject-of-some-length-" + std::to_string(i % 10) + "\r\n";
    if (i % 10 == 0) pipeline += "PING\r\nECHO hello\r\nCL.THROTTLE a-key-of-some-length 5 9 1\r\n";
  }
  EXPECT_EQ(SteadyAllocations(front, pipeline), 0u);
}

TEST(NoAllocation, OfDecisionsForProxies) {
  const auto limiter = testing::Open(kRules);
  HttpFront front(*limiter);
  EXPECT_EQ(SteadyAllocations(front,
                              "GET /v1/auth?namespace=shop&resource=search&subject=a%20long%20"
                              "subject%20with%20blanks%20in%20it HTTP/1.1\r\nHost: h\r\n\r\n"
                              "GET /v1/auth?namespace=shop&resource=search&subject_from=address "
                              "HTTP/1.1\r\nHost: h\r\n\r\n"),
            0u);
}

constexpr std::string_view kJsonRequest =
    "POST /v1/request HTTP/1.1\r\nHost: h\r\nContent-Length: 81\r\n\r\n"
    "{\"namespace\":\"shop\",\"resource\":\"search\",\"subject\":"
    "\"a-subject-of-some-length-and\"}";

TEST(NoAllocation, OfNativeRequestsInJson) {
  const auto limiter = testing::Open(kRules);
  HttpFront front(*limiter);
  EXPECT_EQ(SteadyAllocations(front, kJsonRequest), 0u);
}

TEST(NoAllocation, OfJsonBehindALargeBody) {
  const auto limiter = testing::Open(kRules);
  HttpFront front(*limiter, {.trusts = [](const auto&, const Link&) { return true; }});
  const std::string large =
      "POST /v1/request HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n";
  EXPECT_EQ(SteadyAllocations(front, kJsonRequest, large + std::string(500'000, ' ')), 0u);
}

}  // namespace
}  // namespace weir::no_allocation_test
