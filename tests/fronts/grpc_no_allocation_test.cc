// In steady state a unary call over gRPC allocates nothing but what libnghttp2 takes for itself.
#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include "tests/fronts/grpc_client.h"
#include "tests/rules/allocations.h"

namespace weir::testing::grpc_no_allocation_test {
namespace {

constexpr std::string_view kRules = R"(
namespaces:
  shop:
    resources:
      search: {limits: [{name: burst, limit: 20, per: 1s}, {name: daily, limit: 1000, per: 1d}]}
    descriptors:
      - {key: user, rate_limit: {unit: minute, requests_per_unit: 100}}
      - {key: path, rate_limit: {name: a-limit-with-a-long-name, unit: hour, requests_per_unit: 100}}
)";

size_t SteadyAllocations(const std::string& path, const std::string& message) {
  GrpcRig rig(Rules(kRules));
  const auto round = [&] {
    std::vector<std::string> reads;
    for (int i = 0; i < 50; ++i) {
      for (int j = 0; j < 4; ++j) {
        rig.client.Send(rig.client.Open(path), Framed(message), true);
      }
      reads.push_back(rig.client.TakeBytes());
    }
    const size_t before = Allocations();
    for (const std::string& bytes : reads) {
      rig.client.now += std::chrono::milliseconds(10);
      rig.client.Give(bytes);
    }
    const size_t count = Allocations() - before;
    const size_t capacity = rig.link.out().capacity();
    rig.client.Listen();
    rig.link.out().reserve(2 * capacity);
    return count;
  };
  round();
  round();
  return round();
}

TEST(GrpcNoAllocation, OfNativeRequests) {
  v1::LimitRequest request;
  request.set_namespace_("shop");
  request.set_resource("search");
  request.set_subject("a-subject-of-some-length-and-more");
  EXPECT_EQ(SteadyAllocations("/weir.v1.Limiter/Request", request.SerializeAsString()), 0u);
}

TEST(GrpcNoAllocation, OfEnvoysRequests) {
  envoy::service::ratelimit::v3::RateLimitRequest request;
  request.set_domain("shop");
  for (const char* key : {"user", "path", "nothing"}) {
    auto& entry = *request.add_descriptors()->add_entries();
    entry.set_key(key);
    entry.set_value("a-value-of-some-length-and-more");
  }
  EXPECT_EQ(SteadyAllocations("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
                              request.SerializeAsString()),
            0u);
}

}  // namespace
}  // namespace weir::testing::grpc_no_allocation_test
