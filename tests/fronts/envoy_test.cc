// Envoy's rate-limit service: requests against rules in the format of envoyproxy/ratelimit.
#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <gtest/gtest.h>

#include "fronts/envoy/rate_limit_json.h"
#include "tests/fronts/grpc_client.h"
#include "tests/fronts/http_testing.h"

namespace weir::testing::envoy_test {
namespace {

using envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using Entries = std::vector<std::pair<std::string, std::string>>;

constexpr auto kOk = RateLimitResponse::OK;
constexpr auto kOver = RateLimitResponse::OVER_LIMIT;
const std::string kPath = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

RateLimitDescriptor& Add(RateLimitRequest& request, const Entries& entries) {
  RateLimitDescriptor& descriptor = *request.add_descriptors();
  for (const auto& [key, value] : entries) {
    auto& entry = *descriptor.add_entries();
    entry.set_key(key);
    entry.set_value(value);
  }
  return descriptor;
}

RateLimitRequest Ask(const std::vector<Entries>& descriptors, uint32_t hits = 0) {
  RateLimitRequest request;
  request.set_domain("edge");
  request.set_hits_addend(hits);
  for (const Entries& entries : descriptors) Add(request, entries);
  return request;
}

// Of rules below "domain: edge".
class Edge {
 public:
  explicit Edge(const std::string& descriptors, const GrpcFrontOptions& options = {})
      : rig(RatelimitRulesOf("domain: edge\ndescriptors:\n" + descriptors), options) {}

  RateLimitResponse operator()(const RateLimitRequest& request) {
    return rig.client.Ask<RateLimitResponse>(kPath, request);
  }
  RateLimitResponse operator()(const std::vector<Entries>& descriptors, uint32_t hits = 0) {
    return (*this)(Ask(descriptors, hits));
  }
  std::string Error(const RateLimitRequest& request) {
    return rig.client.Call(kPath, request.SerializeAsString()).status();
  }

  GrpcRig rig;
};

constexpr char kPerMinute2[] = "rate_limit: {unit: minute, requests_per_unit: 2}";
std::string Rule(const std::string& fields) { return "  - {" + fields + "}\n"; }
std::string Limited(const std::string& fields) { return Rule(fields + ", " + kPerMinute2); }

TEST(Envoy, CountsUpToTheLimitAndTellsAboutIt) {
  Edge edge(Rule("key: a, value: x, rate_limit: {name: ours, unit: minute, requests_per_unit: 2}"));
  RateLimitResponse response = edge({{{"a", "x"}}});
  EXPECT_EQ(response.overall_code(), kOk);
  ASSERT_EQ(response.statuses_size(), 1);
  const auto& status = response.statuses(0);
  EXPECT_EQ(status.code(), kOk);
  EXPECT_EQ(status.limit_remaining(), 1u);
  EXPECT_EQ(status.current_limit().requests_per_unit(), 2u);
  EXPECT_EQ(status.current_limit().unit(), RateLimitResponse::RateLimit::MINUTE);
  EXPECT_EQ(status.current_limit().name(), "ours");
  EXPECT_EQ(status.duration_until_reset().seconds(), 60);
  EXPECT_EQ(edge({{{"a", "x"}}}).statuses(0).limit_remaining(), 0u);
  response = edge({{{"a", "x"}}});
  EXPECT_EQ(response.overall_code(), kOver);
  EXPECT_EQ(response.statuses(0).code(), kOver);
  edge.rig.client.now += std::chrono::minutes(1);
  EXPECT_EQ(edge({{{"a", "x"}}}).overall_code(), kOk);
}

TEST(Envoy, TheResponsesBytesAreEnvoys) {
  Edge edge(Limited("key: a"));
  // domain "edge", one descriptor with one entry, hits_addend 2.
  const std::string request(
      "\x0a\x04"
      "edge"
      "\x12\x08\x0a\x06\x0a\x01"
      "a"
      "\x12\x01"
      "b"
      "\x18\x02");
  const auto messages = edge.rig.client.Call(kPath, request).messages();
  ASSERT_EQ(messages.size(), 1u);
  const std::string expected("\x08\x01\x12\x0c\x08\x01\x12\x04\x08\x02\x10\x02\x22\x02\x08\x3c");
  EXPECT_EQ(messages[0].substr(0, expected.size()), expected);
}

TEST(Envoy, ExactThenWildcardThenKeyAlone) {
  Edge edge(
      Rule("key: a, value: x, rate_limit: {name: exact, unit: day, requests_per_unit: 9}") +
      Rule("key: a, value: \"x*\", rate_limit: {name: wild, unit: day, requests_per_unit: 9}") +
      Rule("key: a, rate_limit: {name: any, unit: day, requests_per_unit: 9}"));
  const auto name = [&](const std::string& value) {
    return edge({{{"a", value}}}).statuses(0).current_limit().name();
  };
  EXPECT_EQ(name("x"), "exact");
  EXPECT_EQ(name("xy"), "wild");
  EXPECT_EQ(name("y"), "any");
}

TEST(Envoy, AKeyAloneCountsEachValueByItself) {
  Edge edge(Limited("key: a"));
  EXPECT_EQ(edge({{{"a", "x"}}}, 2).overall_code(), kOk);
  EXPECT_EQ(edge({{{"a", "x"}}}).overall_code(), kOver);
  EXPECT_EQ(edge({{{"a", "y"}}}).overall_code(), kOk);
}

TEST(Envoy, SharedThresholdsCountAllValuesTogether) {
  Edge edge(Limited("key: a, value: \"x*\", share_threshold: true"));
  EXPECT_EQ(edge({{{"a", "x1"}}}, 2).overall_code(), kOk);
  EXPECT_EQ(edge({{{"a", "x2"}}}).overall_code(), kOver);
}

TEST(Envoy, NestedRulesApplyAtTheirDepthOnly) {
  Edge edge("  - key: a\n    descriptors:\n  " + Limited("key: b, value: y"));
  EXPECT_TRUE(edge({{{"a", "x"}, {"b", "y"}}}).statuses(0).has_current_limit());
  EXPECT_FALSE(edge({{{"a", "x"}}}).statuses(0).has_current_limit());
  EXPECT_FALSE(edge({{{"b", "y"}}}).statuses(0).has_current_limit());
  EXPECT_FALSE(edge({{{"a", "x"}, {"b", "z"}}}).statuses(0).has_current_limit());
  EXPECT_FALSE(edge({{{"a", "x"}, {"b", "y"}, {"c", "z"}}}).statuses(0).has_current_limit());
}

TEST(Envoy, WhatNothingMatchesIsOk) {
  Edge edge(Limited("key: a"));
  RateLimitRequest request = Ask({{{"b", "x"}}, {{"a", "x"}}});
  RateLimitResponse response = edge(request);
  EXPECT_EQ(response.overall_code(), kOk);
  ASSERT_EQ(response.statuses_size(), 2);
  EXPECT_EQ(response.statuses(0).code(), kOk);
  EXPECT_FALSE(response.statuses(0).has_current_limit());
  EXPECT_TRUE(response.statuses(1).has_current_limit());
  request.set_domain("elsewhere");
  response = edge(request);
  EXPECT_EQ(response.overall_code(), kOk);
  ASSERT_EQ(response.statuses_size(), 2);
  EXPECT_EQ(response.statuses(1).code(), kOk);
  EXPECT_FALSE(response.statuses(1).has_current_limit());
}

TEST(Envoy, UnlimitedLeavesAllThereIs) {
  Edge edge(Rule("key: a, rate_limit: {unlimited: true}"));
  const RateLimitResponse response = edge({{{"a", "x"}}});
  EXPECT_EQ(response.overall_code(), kOk);
  EXPECT_EQ(response.statuses(0).limit_remaining(), UINT32_MAX);
  EXPECT_FALSE(response.statuses(0).has_current_limit());
  EXPECT_EQ(response.response_headers_to_add_size(), 0);
}

TEST(Envoy, ARuleReplacesAnotherInTheSameRequest) {
  Edge edge(Rule("key: a, rate_limit: {name: narrow, unit: day, requests_per_unit: 1}") +
            Rule("key: b, rate_limit: {name: wide, unit: day, requests_per_unit: 5, "
                 "replaces: [{name: narrow}]}"));
  EXPECT_EQ(edge({{{"a", "x"}}, {{"b", "x"}}}).overall_code(), kOk);
  EXPECT_EQ(edge({{{"a", "x"}}, {{"b", "x"}}}).overall_code(), kOk);
  EXPECT_EQ(edge({{{"a", "x"}}}).overall_code(), kOk);
  EXPECT_EQ(edge({{{"a", "x"}}}).overall_code(), kOver);
}

TEST(Envoy, ShadowNeverRefuses) {
  Edge edge(Limited("key: a, shadow_mode: true"));
  EXPECT_EQ(edge({{{"a", "x"}}}, 2).overall_code(), kOk);
  const RateLimitResponse response = edge({{{"a", "x"}}});
  EXPECT_EQ(response.overall_code(), kOk);
  EXPECT_EQ(response.statuses(0).code(), kOk);
  EXPECT_EQ(response.statuses(0).limit_remaining(), 0u);
}

TEST(Envoy, QuotasRefuseOnlyAllTogether) {
  Edge edge(Limited("key: a, quota_mode: true") + Limited("key: b, quota_mode: true"));
  EXPECT_EQ(edge({{{"a", "x"}}}, 2).overall_code(), kOk);
  EXPECT_EQ(edge({{{"a", "x"}}, {{"b", "x"}}}, 2).overall_code(), kOk);
  EXPECT_EQ(edge({{{"a", "x"}}, {{"b", "x"}}}, 2).overall_code(), kOver);
}

TEST(Envoy, ARefusalCountsNowhere) {
  Edge edge(Limited("key: a") + Rule("key: b, rate_limit: {unit: minute, requests_per_unit: 0}"));
  for (int i = 0; i < 3; ++i) {
    const RateLimitResponse response = edge({{{"a", "x"}}, {{"b", "x"}}});
    EXPECT_EQ(response.overall_code(), kOver);
    EXPECT_EQ(response.statuses(0).code(), kOk);
    EXPECT_EQ(response.statuses(1).code(), kOver);
  }
  EXPECT_EQ(edge({{{"a", "x"}}}).statuses(0).limit_remaining(), 1u);
}

TEST(Envoy, NoHitsMeansOneButADescriptorMayLook) {
  Edge edge(Limited("key: a"));
  EXPECT_EQ(edge({{{"a", "x"}}}, 0).statuses(0).limit_remaining(), 1u);
  RateLimitRequest request = Ask({{{"a", "x"}}}, 2);
  request.mutable_descriptors(0)->mutable_hits_addend()->set_value(0);
  EXPECT_EQ(edge(request).statuses(0).limit_remaining(), 1u);
  EXPECT_EQ(edge(request).overall_code(), kOk);
  request.mutable_descriptors(0)->mutable_hits_addend()->set_value(1);
  EXPECT_EQ(edge(request).statuses(0).limit_remaining(), 0u);
}

TEST(Envoy, NegativeHitsGiveBack) {
  Edge edge(Limited("key: a"));
  edge({{{"a", "x"}}}, 2);
  RateLimitRequest request = Ask({{{"a", "x"}}});
  request.mutable_descriptors(0)->set_is_negative_hits(true);
  RateLimitResponse response = edge(request);
  EXPECT_EQ(response.overall_code(), kOk);
  EXPECT_EQ(response.statuses(0).limit_remaining(), 1u);
  request.set_hits_addend(100);
  response = edge(request);
  EXPECT_EQ(response.overall_code(), kOk);
  EXPECT_EQ(response.statuses(0).limit_remaining(), 2u);
}

TEST(Envoy, ACarriedLimitWins) {
  Edge edge(Limited("key: a, shadow_mode: true"));
  RateLimitRequest request = Ask({{{"a", "x"}}});
  auto& limit = *request.mutable_descriptors(0)->mutable_limit();
  limit.set_requests_per_unit(1);
  limit.set_unit(envoy::type::v3::HOUR);
  const RateLimitResponse response = edge(request);
  EXPECT_EQ(response.overall_code(), kOk);
  EXPECT_EQ(response.statuses(0).current_limit().requests_per_unit(), 1u);
  EXPECT_EQ(response.statuses(0).current_limit().unit(), RateLimitResponse::RateLimit::HOUR);
  EXPECT_EQ(edge(request).overall_code(), kOver);
  limit.set_unit(envoy::type::v3::UNKNOWN);
  EXPECT_EQ(edge.Error(request), "3");
}

TEST(Envoy, BadRequestsAreErrorsAndNotUnknown) {
  Edge edge(Limited("key: a"));
  RateLimitRequest request = Ask({{{"a", "x"}}});
  request.clear_domain();
  EXPECT_EQ(edge.Error(request), "3");
  EXPECT_EQ(edge.Error(Ask({})), "3");
  EXPECT_EQ(edge.rig.client.Call(kPath, "\xff").status(), "3");
}

TEST(Envoy, MetadataOfRulesIsMergedInOrder) {
  Edge edge(Limited("key: a, metadata: {team: one, deep: {n: 5, list: [1, ~, true]}}") +
            Limited("key: b, metadata: {team: two}"));
  const RateLimitResponse response = edge({{{"a", "x"}}, {{"b", "x"}}, {{"c", "x"}}});
  const auto& fields = response.dynamic_metadata().fields();
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields.at("team").string_value(), "two");
  const auto& deep = fields.at("deep").struct_value().fields();
  EXPECT_EQ(deep.at("n").number_value(), 5);
  EXPECT_EQ(deep.at("list").list_value().values_size(), 3);
  EXPECT_TRUE(deep.at("list").list_value().values(2).bool_value());
  EXPECT_FALSE(edge({{{"c", "x"}}}).has_dynamic_metadata());
}

TEST(Envoy, NothingOfAResponseIsLeftInTheNext) {
  Edge edge(Limited("key: a, metadata: {team: one}") +
            Rule("key: u, rate_limit: {unlimited: true}"));
  const std::vector<Entries> few = {{{"c", "x"}}};
  const std::string alone = edge(few).SerializeAsString();
  const std::string unlimited = edge({{{"u", "x"}}}).SerializeAsString();
  edge({{{"a", "x"}}, {{"a", "y"}}});
  EXPECT_EQ(edge(few).SerializeAsString(), alone);
  edge({{{"a", "x"}}}, 5);
  EXPECT_EQ(edge({{{"u", "x"}}}).SerializeAsString(), unlimited);
}

TEST(Envoy, HeadersTellOfTheScarcest) {
  const std::string rules =
      Limited("key: a") + Rule("key: b, rate_limit: {unit: hour, requests_per_unit: 2000}");
  Edge edge(rules);
  const RateLimitResponse response = edge({{{"b", "x"}}, {{"a", "x"}}, {{"c", "x"}}});
  ASSERT_EQ(response.response_headers_to_add_size(), 3);
  EXPECT_EQ(response.response_headers_to_add(0).key(), "RateLimit-Limit");
  EXPECT_EQ(response.response_headers_to_add(0).value(), "2");
  EXPECT_EQ(response.response_headers_to_add(1).key(), "RateLimit-Remaining");
  EXPECT_EQ(response.response_headers_to_add(1).value(), "1");
  EXPECT_EQ(response.response_headers_to_add(2).key(), "RateLimit-Reset");
  EXPECT_EQ(response.response_headers_to_add(2).value(), "60");

  GrpcFrontOptions options;
  options.envoy.headers = false;
  Edge silent(rules, options);
  EXPECT_EQ(silent({{{"a", "x"}}}).response_headers_to_add_size(), 0);
}

TEST(Envoy, AWeirBlockBringsOtherAlgorithms) {
  Edge edge(Rule("key: a, weir: {algorithm: token_bucket, limit: 6, per: 90s, burst: 1}"));
  const RateLimitResponse response = edge({{{"a", "x"}}});
  EXPECT_EQ(response.statuses(0).current_limit().unit(), RateLimitResponse::RateLimit::UNKNOWN);
  EXPECT_EQ(edge({{{"a", "x"}}}).overall_code(), kOver);
  edge.rig.client.now += std::chrono::seconds(15);
  EXPECT_EQ(edge({{{"a", "x"}}}).overall_code(), kOk);
}

class EnvoyJson : public ::testing::Test {
 protected:
  std::string Ask(const std::string& body) { return link_.Send(Post("/json", body), kGrpcStart); }

 private:
  static HttpOptions Options(Limiter& limiter) {
    HttpOptions options;
    options.json_rate_limit = RateLimitJson(limiter);
    return options;
  }
  Limiter limiter_{RatelimitRulesOf("domain: edge\ndescriptors:\n" + Limited("key: a")),
                   OverTestStore(), kGrpcStart};
  HttpFront front_{limiter_, Options(limiter_)};
  FakeLink link_{front_};
};

TEST_F(EnvoyJson, AnswersAsTheServiceDoes) {
  const std::string body =
      R"({"domain": "edge", "hitsAddend": 2, "descriptors": [{"entries": [{"key": "a", "value": "x"}]}]})";
  const std::string answer = Ask(body);
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_EQ(BodyOf(answer),
            R"({"overallCode":"OK","statuses":[{"code":"OK","currentLimit":{"requestsPerUnit":2,)"
            R"("unit":"MINUTE"},"durationUntilReset":"60s"}],"responseHeadersToAdd":[)"
            R"({"key":"RateLimit-Limit","value":"2"},{"key":"RateLimit-Remaining","value":"0"},)"
            R"({"key":"RateLimit-Reset","value":"60"}]})");
  const std::string over = Ask(body);
  EXPECT_EQ(StatusOf(over), 429);
  EXPECT_NE(BodyOf(over).find(R"("overallCode":"OVER_LIMIT")"), std::string::npos);
}

TEST_F(EnvoyJson, WhatIsWrongIsTold) {
  for (const char* body :
       {"", "[", "17", R"({"domain": 5})", R"({"domane": "edge"})", R"({"domain": "edge"})",
        R"({"descriptors": [{"entries": [{"key": "a"}]}]})"}) {
    const std::string answer = Ask(body);
    EXPECT_EQ(StatusOf(answer), 400) << body;
    EXPECT_NE(BodyOf(answer), "") << body;
  }
}

}  // namespace
}  // namespace weir::testing::envoy_test
