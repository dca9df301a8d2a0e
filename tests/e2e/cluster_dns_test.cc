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
  Resolve("other.test", {"b"});
  Start("b", "dns:other.test");  // does not know of it
  Resolve("weir.test", {"a", "b"});
  EXPECT_TRUE(Eventually([&] { return AreWhole({"a", "b"}, 1); })) << Status("a");
}

}  // namespace
}  // namespace weir::e2e::cluster_dns_test
