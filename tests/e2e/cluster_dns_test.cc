// Nodes that find each other by a name (--peers dns:NAME). What names come to stands in a file, which
// libnss-wrapper puts in the place of the machine's own. As such nodes do, all listen on one port, each
// on an address of its own: 127.0.0.1 for "a", 127.0.0.2 for "b".
#include "lab/live/free_port.h"
#include "tests/e2e/cluster_nodes.h"

namespace weir::e2e::cluster_dns_test {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class E2eClusterDns : public ClusterNodes {
 protected:
  void SetUp() override {
    Resolve("probe.test", {"a"});
    std::vector<std::string> probe = Environment();
    probe.insert(probe.begin(), "env");
    probe.insert(probe.end(), {"getent", "ahosts", "probe.test"});
    if (RunProgram(probe).exit_code != 0) GTEST_SKIP() << "libnss-wrapper is not installed";
  }

  std::string AddressOf(const std::string& id) const {
    return "127.0.0." + std::to_string(id[0] - 'a' + 1) + ":" + std::to_string(port_);
  }
  void Resolve(const std::string& name, Names ids) {
    hosts_[name].clear();
    for (const std::string& id : ids) {
      const std::string address = AddressOf(id);
      hosts_[name] += address.substr(0, address.find(':')) + " " + name + "\n";
    }
    std::string text;
    for (const auto& [one, lines] : hosts_) text += lines;
    files_.Write("hosts", text);
  }
  std::vector<std::string> Environment() const {
    return {"LD_PRELOAD=libnss_wrapper.so", "NSS_WRAPPER_HOSTS=" + files_.path() + "/hosts",
            "NSS_WRAPPER_DISABLE_DEEPBIND=1"};  // sanitizers do not stand it
  }
  void Start(const std::string& id, const std::string& peers = "dns:weir.test") {
    Launch(id, AddressOf(id), peers, key_, Environment());
  }
  void StartThree() {
    Resolve("weir.test", {"a", "b", "c"});
    Start("a");
    Start("b");
    Start("c", "dns:weir.test:" + std::to_string(port_));
    ASSERT_TRUE(Eventually([&] { return AreWhole({"a", "b", "c"}, 2); })) << Status("a");
  }
  void UseUp() {
    for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(Ask(id)) << id;
    EXPECT_TRUE(Eventually(
        [&] { return Remaining("a") == 0 && Remaining("b") == 0 && Remaining("c") == 0; }));
  }

  const int port_ = lab::FreePort();
  std::map<std::string, std::string> hosts_;  // the lines of each name
};

TEST_F(E2eClusterDns, WhatOneAdmitsTheOthersRefuse) {
  StartThree();
  UseUp();
  for (const char* id : {"a", "b", "c"}) EXPECT_FALSE(Ask(id)) << id;
  EXPECT_EQ(Peer("a", "c")["address"], AddressOf("c"));
}

TEST_F(E2eClusterDns, OneThatIsKilledIsSeenDeadAndReturns) {
  StartThree();
  UseUp();
  Kill("c");
  EXPECT_TRUE(
      Eventually([&] { return Alive("a") == 1 && Alive("b") == 1; }, std::chrono::seconds(8)));
  EXPECT_EQ(Peer("a", "c")["alive"], false);
  Start("c");
  EXPECT_FALSE(Ask("c")) << "it has copied what the others know before it answers";
  EXPECT_TRUE(Eventually([&] { return AreWhole({"a", "b", "c"}, 2); }));
}

// The others look the name up again only later: it greets them.
TEST_F(E2eClusterDns, OneMoreAddressOfTheNameJoinsAtOnce) {
  StartThree();
  UseUp();
  Resolve("weir.test", {"a", "b", "c", "d"});
  Start("d");
  EXPECT_FALSE(Ask("d"));
  EXPECT_TRUE(Eventually([&] { return AreWhole({"a", "b", "c", "d"}, 3); })) << Status("a");
}

// Who was never met has no name: it is told by its address, in every way.
TEST_F(E2eClusterDns, AWrongKeyOfANodeThatWasNeverMetIsTold) {
  Resolve("weir.test", {"a", "b"});
  Start("a");
  const std::string good = key_;
  key_ = WriteKey("other", "another secret that is just as long");
  Start("b");
  for (const char* id : {"a", "b"}) {
    const std::string other = AddressOf(id == std::string("a") ? "b" : "a");
    const std::string told = "somebody at " + other + " seals with another key";
    const auto ready = [&] { return HttpGet(nodes_[id]->port("http"), "/readyz"); };
    EXPECT_TRUE(Eventually([&] { return Has(ready(), told); })) << ready();
    EXPECT_TRUE(ready().starts_with("HTTP/1.1 200"));
    EXPECT_TRUE(nodes_[id]->WaitForLog("wrong_cluster_key: " + told)) << nodes_[id]->log();
    const std::string metrics = HttpGet(nodes_[id]->port("http"), "/metrics");
    EXPECT_TRUE(Has(metrics, "weir_problem{code=\"wrong_cluster_key\"} 1")) << metrics;
    const Finished status = RunProgram({WEIR_BINARY, "cluster", "status", "--http",
                                        "127.0.0.1:" + std::to_string(nodes_[id]->port("http"))});
    EXPECT_EQ(status.exit_code, 1);
    EXPECT_TRUE(Has(status.output, "problem: " + told)) << status.output;
    EXPECT_TRUE(Has(status.output, "compare --cluster-key-file")) << status.output;
  }
  key_ = good;
  Start("b");
  EXPECT_TRUE(Eventually([&] { return AreWhole({"a", "b"}, 1); })) << Status("a");
  EXPECT_TRUE(Eventually([&] { return Status("a")["problems"].empty(); })) << Status("a");
}

TEST_F(E2eClusterDns, OneThatHasTheNameForItselfWaitsForNobody) {
  Resolve("weir.test", {"b"});
  Start("b");
  EXPECT_FALSE(Has(nodes_["b"]->log(), "serving without")) << nodes_["b"]->log();
  EXPECT_TRUE(Ask("b"));
}

TEST_F(E2eClusterDns, ANameThatIsNotFoundIsLookedUpAgainSoon) {
  Start("a");
  // The machine's own resolver is asked, too, and may take its time.
  ServerProcess& a = *nodes_["a"];
  const std::string trouble = "\"weir.test\" cannot be found";
  EXPECT_TRUE(Has(a.log(), trouble) || a.WaitForLog(trouble)) << a.log();
  EXPECT_TRUE(Has(a.log(), "serving without")) << "there may be others: " << a.log();
  EXPECT_TRUE(Eventually([&] {
    return Has(HttpGet(a.port("http"), "/readyz"), "what --peers names could not be looked up");
  }));
  Resolve("other.test", {"b"});
  Start("b", "dns:other.test");  // does not know of it
  Resolve("weir.test", {"a", "b"});
  EXPECT_TRUE(Eventually([&] { return AreWhole({"a", "b"}, 1); })) << Status("a");
}

}  // namespace
}  // namespace weir::e2e::cluster_dns_test
