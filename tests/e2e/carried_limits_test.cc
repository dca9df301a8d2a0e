// Limits that have no coordination of their own, over two nodes.
#include <gtest/gtest.h>

#include "lab/live/free_port.h"
#include "tests/e2e/cluster_nodes.h"

namespace weir::e2e::carried_limits_test {
namespace {

class E2eCarriedLimits : public ClusterNodes {
 protected:
  void StartTwo(const std::vector<std::string>& environment) {
    const int a = lab::FreePort(), b = lab::FreePort();
    const std::string peers =
        "a=127.0.0.1:" + std::to_string(a) + ",b=127.0.0.1:" + std::to_string(b);
    Launch("a", "127.0.0.1:" + std::to_string(a), peers, key_, environment);
    Launch("b", "127.0.0.1:" + std::to_string(b), peers, key_, environment);
    ASSERT_TRUE(Eventually([&] { return AreWhole({"a", "b"}, 1); })) << nodes_["a"]->log();
  }
  // Ten an hour. The answer: limited, limit, remaining, …
  std::string Throttle(const std::string& id, int quantity) {
    Socket socket(nodes_[id]->port("resp"));
    socket.Send("CL.THROTTLE user 9 10 3600 " + std::to_string(quantity) + "\r\nPING\r\n");
    return socket.ReadUntil("PONG\r\n");
  }
  bool Take(const std::string& id, int quantity) {
    return Throttle(id, quantity).starts_with("*5\r\n:0\r\n");
  }
  bool Leaves(const std::string& id, int remaining) {
    return Eventually([&] {
      return Throttle(id, 0).starts_with("*5\r\n:0\r\n:10\r\n:" + std::to_string(remaining) + "\r");
    });
  }
};

TEST_F(E2eCarriedLimits, ThrottleAdmitsTheLimitOnceWhereTheyAreCountedTogether) {
  StartTwo({"WEIR_ADHOC_COORDINATION=replicated"});
  EXPECT_TRUE(Take("a", 6));
  EXPECT_TRUE(Leaves("b", 4)) << Throttle("b", 0);
  EXPECT_FALSE(Take("b", 5));
  EXPECT_TRUE(Take("b", 4));
  EXPECT_TRUE(Leaves("a", 0)) << Throttle("a", 0);
  EXPECT_FALSE(Take("a", 1));
  EXPECT_FALSE(Take("b", 1));
  EXPECT_EQ(Status("a")["adhoc_coordination"], "replicated");
  EXPECT_EQ(Status("a")["warnings"], Json::array());
}

TEST_F(E2eCarriedLimits, ANodeSaysWhatItCountsAlone) {
  rules_ =
      files_.Write("all.yaml",
                   "namespaces: {shop: {coordination: replicated, resources: {search: {limits: ["
                   "{name: burst, limit: 3, per: 1h}, {name: log, algorithm: sliding_log, "
                   "limit: 9, per: 1s}]}}}}\n");
  StartTwo({});
  for (const char* id : {"a", "b"}) {
    EXPECT_TRUE(Take(id, 10)) << "each its own";
    EXPECT_NE(nodes_[id]->log().find("--adhoc-coordination replicated counts them together"),
              std::string::npos)
        << nodes_[id]->log();
    EXPECT_NE(nodes_[id]->log().find("limit `log` of resource `search` in namespace `shop` is"),
              std::string::npos)
        << nodes_[id]->log();
  }
  const Json warnings = Status("a")["warnings"];
  ASSERT_EQ(warnings.size(), 2u) << warnings;
  EXPECT_NE(warnings[1].get<std::string>().find("limit `log`"), std::string::npos);
  EXPECT_TRUE(Ask("a"));
  EXPECT_TRUE(Eventually([&] { return Remaining("b") == 2; })) << "what the namespace says";
}

TEST_F(E2eCarriedLimits, TheFlagsNeedACluster) {
  for (const char* flag : {"--adhoc-coordination", "--ratelimit-coordination"}) {
    ServerProcess server({"--config", rules_, flag, "replicated"});
    EXPECT_EQ(server.WaitForEnd(), 1);
    EXPECT_NE(server.log().find(std::string(flag) + " replicated goes with --cluster"),
              std::string::npos)
        << server.log();
  }
}

}  // namespace
}  // namespace weir::e2e::carried_limits_test
