// A second server under the name of a node, keys that are wrong or changed: real processes.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>

#include "lab/live/free_port.h"
#include "tests/e2e/cluster_nodes.h"

namespace weir::e2e::cluster_names_test {
namespace {

constexpr char kOldKey[] = "0123456789abcdef0123456789abcdef";  // ClusterNodes begins with it
constexpr char kNewKey[] = "fedcba9876543210fedcba9876543210";

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class E2eClusterNames : public ClusterNodes {
 protected:
  void StartNodes(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) ports_[id] = lab::FreePort();
    for (const auto& [id, port] : ports_) {
      peers_ += (peers_.empty() ? "" : ",") + id + "=127.0.0.1:" + std::to_string(port);
    }
    for (const std::string& id : ids) Start(id);
    for (const std::string& id : ids) {
      const int others = static_cast<int>(ids.size()) - 1;
      ASSERT_TRUE(Eventually([&] { return AreWhole({id}, others); })) << nodes_[id]->log();
    }
  }
  void Start(const std::string& id) {
    Launch(id, "127.0.0.1:" + std::to_string(ports_[id]), peers_, key_);
  }
  // Another server of that name, at an address of its own; nothing is kept.
  std::unique_ptr<ServerProcess> Second(const std::string& id, const std::string& address) {
    return std::make_unique<ServerProcess>(
        std::vector<std::string>{"--config", rules_, "--node", id, "--cluster", address,
                                 "--cluster-key-file", key_, "--peers", peers_});
  }
  std::string Readyz(const std::string& id) { return HttpGet(nodes_[id]->port("http"), "/readyz"); }
  Finished StatusCommand(const std::string& id) {
    return RunProgram({WEIR_BINARY, "cluster", "status", "--http",
                       "127.0.0.1:" + std::to_string(nodes_[id]->port("http"))});
  }
  void WriteKeys(const std::string& text) { WriteKey("key", text); }

  std::string peers_;
  std::map<std::string, int> ports_;
};

TEST_F(E2eClusterNames, ASecondNodeOfANameEndsWith78AndChangesNothing) {
  StartNodes({"n1", "n2"});
  const uint64_t life = Peer("n2", "n1")["incarnation"].get<uint64_t>();
  EXPECT_TRUE(Ask("n1"));
  const std::unique_ptr<ServerProcess> second = Second("n1", "127.0.0.3:0");
  EXPECT_EQ(second->WaitForEnd(), 78);
  EXPECT_TRUE(Has(second->log(), "another node is \"n1\"")) << second->log();
  EXPECT_TRUE(Has(second->log(), "127.0.0.1:" + std::to_string(ports_["n1"]))) << second->log();
  EXPECT_FALSE(Has(second->log(), "info ready")) << "it never was: " << second->log();

  // Whoever has met it says so: the true one, or a member that it asked before it ended.
  std::string who;
  EXPECT_TRUE(Eventually([&] {
    for (const char* node : {"n2", "n1"}) {
      if (Has(Readyz(node), "name_taken")) who = node;
    }
    return !who.empty();
  }));
  EXPECT_TRUE(Readyz(who).starts_with("HTTP/1.1 200"));
  const Finished status = StatusCommand(who);
  EXPECT_EQ(status.exit_code, 1);
  EXPECT_TRUE(Has(status.output, "problem: another node calls itself \"n1\", at 127.0.0.3:"))
      << status.output;
  EXPECT_TRUE(nodes_[who]->WaitForLog("another node calls itself \"n1\""));
  const std::string metrics = HttpGet(nodes_[who]->port("http"), "/metrics");
  EXPECT_TRUE(Has(metrics, "weir_problem{code=\"name_taken\"} 1")) << metrics;

  EXPECT_EQ(Peer("n2", "n1")["incarnation"].get<uint64_t>(), life);
  EXPECT_EQ(Alive("n1"), 1);
  EXPECT_EQ(Alive("n2"), 1);
  EXPECT_TRUE(Ask("n2"));
  EXPECT_TRUE(Eventually([&] { return Remaining("n1") == 1 && Remaining("n2") == 1; }));
}

TEST_F(E2eClusterNames, OneThatWasPausedAndLostItsNameEndsWith78) {
  StartNodes({"n1", "n2"});
  const auto known = [&] { return Peer("n2", "n1")["incarnation"].get<uint64_t>(); };
  const uint64_t first = known();
  nodes_["n1"]->Signal(SIGSTOP);
  const std::unique_ptr<ServerProcess> second = Second("n1", "127.0.0.3:0");
  ASSERT_TRUE(Eventually([&] { return known() != first; })) << second->log();
  const uint64_t life = known();
  nodes_["n1"]->Signal(SIGCONT);
  EXPECT_EQ(nodes_["n1"]->WaitForEnd(), 78) << nodes_["n1"]->log();
  EXPECT_TRUE(Has(nodes_["n1"]->log(), "another node is \"n1\" at 127.0.0.3:"));
  EXPECT_EQ(Peer("n2", "n1")["incarnation"].get<uint64_t>(), life);
  EXPECT_TRUE(Ask("n2"));
  nodes_["n1"] = nullptr;
}

TEST_F(E2eClusterNames, OneThatIsKilledAndStartsAgainIsNoSecondOne) {
  StartNodes({"n1", "n2"});
  EXPECT_TRUE(Ask("n1"));
  EXPECT_TRUE(Eventually([&] { return Remaining("n2") == 2; }));
  Kill("n1");
  Start("n1");  // with what is kept
  EXPECT_EQ(Remaining("n1"), 2) << nodes_["n1"]->log();
  Kill("n1");
  const std::string address = "127.0.0.1:" + std::to_string(ports_["n1"]);
  nodes_["n1"] = Second("n1", address);  // without
  EXPECT_EQ(Remaining("n1"), 2) << nodes_["n1"]->log();
  EXPECT_TRUE(Eventually([&] { return AreWhole({"n1", "n2"}, 1); }));
  Kill("n1");
  std::filesystem::create_directories(files_.path() + "/n1");
  files_.Write("n1/incarnation", "4000000000\n");  // the clock was ahead, and is set back
  Start("n1");
  EXPECT_EQ(Remaining("n1"), 2) << nodes_["n1"]->log();
  EXPECT_TRUE(Eventually([&] { return AreWhole({"n1", "n2"}, 1); }));
  Kill("n1");
  nodes_["n1"] = Second("n1", address);  // and it does not know: its number is less
  EXPECT_EQ(Remaining("n1"), 2) << nodes_["n1"]->log();
  EXPECT_TRUE(Ask("n1"));
  EXPECT_TRUE(Eventually([&] { return Remaining("n2") == 1; }));
  EXPECT_TRUE(Ask("n2"));
  EXPECT_TRUE(Eventually([&] { return Remaining("n1") == 0; }));
}

TEST_F(E2eClusterNames, OneThatIsKilledAgainAndAgainHasAGreaterNumberEachTime) {
  StartNodes({"n1", "n2"});
  EXPECT_TRUE(Ask("n1"));
  EXPECT_TRUE(Eventually([&] { return Remaining("n2") == 2; }));
  uint64_t last = Status("n1")["incarnation"].get<uint64_t>();
  Kill("n1");
  for (int i = 0; i < 6; ++i) {  // nothing is kept, and it is ready a few milliseconds later
    nodes_["n1"] = Second("n1", "127.0.0.1:" + std::to_string(ports_["n1"]));
    const uint64_t life = Status("n1")["incarnation"].get<uint64_t>();
    EXPECT_GT(life, last);
    last = life;
    EXPECT_EQ(Remaining("n1"), 2) << nodes_["n1"]->log();
    Kill("n1");
  }
}

TEST_F(E2eClusterNames, AWrongKeyAndADeadPeerAreTold) {
  StartNodes({"n1", "n2"});
  Kill("n2");
  EXPECT_TRUE(Eventually([&] { return Has(Readyz("n1"), "peer_dead"); })) << Readyz("n1");
  EXPECT_TRUE(nodes_["n1"]->WaitForLog("n2 at 127.0.0.1:" + std::to_string(ports_["n2"]) +
                                       " is dead: it does not answer. Is it running"));
  key_ = WriteKey("other", "another secret that is just as long");
  Start("n2");
  EXPECT_TRUE(Eventually([&] { return Has(Readyz("n1"), "wrong_cluster_key"); })) << Readyz("n1");
  EXPECT_TRUE(Eventually([&] { return Has(Readyz("n2"), "wrong_cluster_key"); })) << Readyz("n2");
  EXPECT_TRUE(nodes_["n1"]->WaitForLog("seals with another key"));
  EXPECT_TRUE(Has(StatusCommand("n1").output, "Compare --cluster-key-file"));
  WriteKey("other", kOldKey);
  nodes_["n2"]->Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return AreWhole({"n1", "n2"}, 1); }));
}

TEST_F(E2eClusterNames, AKeyIsChangedWhileThreeNodesCountOn) {
  StartNodes({"a", "b", "c"});
  const auto change = [&](const std::string& text) {
    WriteKeys(text);
    for (const char* id : {"a", "b", "c"}) {
      nodes_[id]->Signal(SIGHUP);
      ASSERT_TRUE(nodes_[id]->WaitForLog("keys read again")) << nodes_[id]->log();
      EXPECT_EQ(Alive(id), 2);
    }
  };
  const auto left = [&](int tokens) {
    return Eventually([&] {
      return Remaining("a") == tokens && Remaining("b") == tokens && Remaining("c") == tokens;
    });
  };
  const std::string names = std::string("\nnames: ") + kOldKey + "\n";
  EXPECT_TRUE(Ask("a"));
  EXPECT_TRUE(left(2));
  change(std::string(kOldKey) + "\n" + kNewKey + names);
  EXPECT_TRUE(Ask("b"));
  EXPECT_TRUE(left(1));
  change(std::string(kNewKey) + "\n" + kOldKey + names);
  EXPECT_TRUE(left(1));
  change(kNewKey + names);
  EXPECT_TRUE(Ask("c"));
  EXPECT_TRUE(left(0));
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_FALSE(Ask(id)) << id;
    EXPECT_EQ(Rejected(id, "unreadable"), 0u) << id;
    EXPECT_TRUE(Has(Readyz(id), "\"problems\":[]")) << Readyz(id);
  }
  Kill("c");
  Start("c");
  EXPECT_FALSE(Ask("c")) << "with the new key alone it still names keys as the others do";

  WriteKeys("too short");
  nodes_["a"]->Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return Has(Readyz("a"), "cluster_key_unreadable"); }));
  EXPECT_EQ(Alive("a"), 2);
  WriteKeys(kNewKey);  // what names keys is missing
  nodes_["a"]->Signal(SIGHUP);
  EXPECT_TRUE(nodes_["a"]->WaitForLog("add the line `names: KEY`"));
  Kill("c");
  Start("c");
  EXPECT_TRUE(Eventually([&] { return Has(Readyz("a"), "names_differ"); })) << Readyz("a");
}

}  // namespace
}  // namespace weir::e2e::cluster_names_test
