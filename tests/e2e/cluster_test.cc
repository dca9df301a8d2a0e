// Three servers that are nodes of one cluster.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <map>

#include "lab/live/free_port.h"
#include "tests/e2e/cluster_nodes.h"

namespace weir::e2e::cluster_test {
namespace {

void SendDatagram(int port, const std::string& bytes) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&address),
         sizeof address);
  close(fd);
}

class E2eCluster : public ClusterNodes {
 protected:
  E2eCluster() { WritePeers(); }
  // Where everybody is who was ever started.
  void WritePeers() {
    std::string text = "# the nodes\n";
    for (const auto& [id, port] : ports_) {
      text += id + "=127.0.0.1:" + std::to_string(port) + "\n";
    }
    peers_ = files_.Write("peers", text);
  }
  // On the same port each time.
  void Start(const std::string& id, const std::string& key_file = "") {
    if (!ports_.contains(id)) ports_[id] = lab::FreePort();
    Launch(id, "127.0.0.1:" + std::to_string(ports_[id]), "file:" + peers_,
           key_file.empty() ? key_ : key_file);
  }
  void StartThree() {
    for (const char* id : {"a", "b", "c"}) Start(id);
    WritePeers();
    ASSERT_TRUE(Eventually([&] { return AreWhole({"a", "b", "c"}, 2); })) << nodes_["a"]->log();
  }
  Finished StatusCommand(const std::string& id, const std::string& more = "--deadline=5s") {
    return RunProgram({WEIR_BINARY, "cluster", "status", "--http",
                       "127.0.0.1:" + std::to_string(nodes_[id]->port("http")), more});
  }
  Finished AtNode(const std::string& id, std::vector<std::string> command) {
    command.insert(command.begin(), WEIR_BINARY);
    command.insert(command.end(),
                   {"--server", "127.0.0.1:" + std::to_string(nodes_[id]->port("http"))});
    return RunProgram(command);
  }
  // The log of a server that does not start.
  std::string Refusal(std::vector<std::string> arguments) {
    ServerProcess server(arguments);
    EXPECT_EQ(server.WaitForEnd(), 1);
    return server.log();
  }

  std::string peers_;
  std::map<std::string, int> ports_;
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(E2eCluster, WhatOneAdmitsTheOthersRefuse) {
  StartThree();
  EXPECT_TRUE(Ask("a"));
  EXPECT_TRUE(Eventually([&] { return Remaining("b") == 2 && Remaining("c") == 2; }));
  EXPECT_TRUE(Ask("b"));
  EXPECT_TRUE(Eventually([&] { return Remaining("a") == 1 && Remaining("c") == 1; }));
  EXPECT_TRUE(Ask("c"));
  EXPECT_TRUE(Eventually([&] { return Remaining("a") == 0 && Remaining("b") == 0; }));
  for (const char* id : {"a", "b", "c"}) EXPECT_FALSE(Ask(id)) << id;

  Kill("c");
  Start("c");
  EXPECT_FALSE(Ask("c")) << "it has copied what the others know before it answers";
}

TEST_F(E2eCluster, AllSeeAllAndTellItInEveryWay) {
  StartThree();
  ASSERT_TRUE(Eventually(
      [&] { return HttpGet(nodes_["a"]->port("http"), "/readyz").starts_with("HTTP/1.1 200"); }));
  const Finished table = StatusCommand("a");
  EXPECT_EQ(table.exit_code, 0) << table.output;
  EXPECT_TRUE(Has(table.output, "127.0.0.1:" + std::to_string(ports_["c"]))) << table.output;
  const Finished json = StatusCommand("b", "--json");
  EXPECT_EQ(Json::parse(json.output, nullptr, false)["peers"].size(), 2u) << json.output;
  const std::string metrics = HttpGet(nodes_["c"]->port("http"), "/metrics");
  for (const char* line : {"weir_cluster_peers_alive 2", "weir_cluster_peer_alive{peer=\"a\"} 1",
                           "weir_cluster_received_bytes_total{peer=\"b\"}",
                           "weir_cluster_staleness_seconds{peer=\"a\"}",
                           "weir_cluster_rejected_datagrams_total{reason=\"unreadable\"} 0",
                           "weir_cluster_copies_total{outcome=\"received\"}"}) {
    EXPECT_TRUE(Has(metrics, line)) << line << "\n" << metrics;
  }
}

TEST_F(E2eCluster, WhatEachNodeCountsAloneIsToldByTheStatus) {
  rules_ =
      files_.Write("rules.yaml",
                   "namespaces: {shop: {coordination: replicated, resources: {search: {limits: "
                   "[{name: burst, limit: 3, per: 1h}, "
                   "{name: slots, algorithm: sliding_log, limit: 5, per: 1h}]}}}}\n");
  StartThree();
  const Finished status = StatusCommand("a");
  EXPECT_EQ(status.exit_code, 0) << "nothing is wrong: " << status.output;
  EXPECT_TRUE(Has(status.output, "warning: limits that requests carry")) << status.output;
  EXPECT_TRUE(Has(status.output, "slots")) << status.output;
  EXPECT_FALSE(Has(status.output, "burst")) << status.output;
}

TEST_F(E2eCluster, OneThatIsKilledIsDeadWithinSecondsAndReturnsWithANewLife) {
  StartThree();
  const uint64_t life = Peer("a", "b")["incarnation"].get<uint64_t>();
  Kill("b");
  EXPECT_TRUE(
      Eventually([&] { return Alive("a") == 1 && Alive("c") == 1; }, std::chrono::seconds(8)));
  EXPECT_EQ(Peer("a", "b")["alive"], false);
  EXPECT_EQ(StatusCommand("a").exit_code, 1);
  Start("b");
  EXPECT_TRUE(Eventually([&] { return AreWhole({"a", "b", "c"}, 2); }));
  EXPECT_GT(Peer("a", "b")["incarnation"].get<uint64_t>(), life);
  EXPECT_TRUE(Eventually([&] { return Status("b")["copies"]["received"].get<uint64_t>() >= 1; }))
      << Status("b");
}

TEST_F(E2eCluster, ATicketIsSettledAtWhateverNodeItIsBroughtTo) {
  StartThree();
  const Finished asked =
      AtNode("a", {"request", "shop", "search", "ann", "--cost", "3", "--settle"});
  const size_t at = asked.output.find("ticket ");
  ASSERT_NE(at, std::string::npos) << asked.output;
  const std::string ticket = asked.output.substr(at + 7, 32);
  EXPECT_TRUE(Eventually([&] { return Remaining("c") == 0; }));

  const Finished settled = AtNode("b", {"settle", ticket, "1"});
  EXPECT_EQ(settled.exit_code, 0) << settled.output;
  EXPECT_TRUE(Has(settled.output, "charged 1")) << settled.output;
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_TRUE(Eventually([&] { return Remaining(id) == 2; })) << id;
  }
  EXPECT_TRUE(Has(AtNode("c", {"settle", ticket, "1"}).output, "no such ticket"));
  EXPECT_EQ(Status("a")["questions"]["given"], 2);

  nodes_["a"]->Signal(SIGKILL);
  nodes_["a"]->WaitForEnd();
  const Finished lost = AtNode("b", {"settle", ticket, "1", "--deadline", "5s"});
  EXPECT_TRUE(Has(lost.output, "node a, which issued the ticket, does not answer")) << lost.output;
}

TEST_F(E2eCluster, StrangersAreCountedAndChangeNothing) {
  StartThree();
  const Json before = Peer("a", "b");
  SendDatagram(ports_["a"], "hello?");
  SendDatagram(ports_["a"], std::string(1300, '\x10'));
  for (int i = 0; i < 50; ++i) {
    SendDatagram(ports_["a"], std::string(100, static_cast<char>(0x10 + i % 2)));
  }
  EXPECT_TRUE(Eventually([&] {
    return Rejected("a", "unreadable") + Rejected("a", "malformed") >= 52;
  })) << Status("a");
  Socket stream(ports_["a"]);
  ASSERT_TRUE(stream.connected());
  stream.Send(std::string("\xff\xff\xff\xff", 4));  // the length of a frame of 4 GiB
  stream.ReadAll();
  EXPECT_TRUE(stream.closed_by_peer());
  EXPECT_EQ(Alive("a"), 2);
  EXPECT_EQ(Peer("a", "b")["incarnation"], before["incarnation"]);
}

TEST_F(E2eCluster, OneWithAnotherKeyIsNobody) {
  Start("a");
  Start("b", WriteKey("other", "another secret that is just as long"));
  WritePeers();
  EXPECT_TRUE(Eventually([&] { return Rejected("a", "unreadable") >= 2; }));
  EXPECT_EQ(Alive("a"), 0);
  EXPECT_EQ(Alive("b"), 0);
  EXPECT_TRUE(Eventually([&] { return Status("a")["ready"].get<bool>(); })) << "after a while";
}

TEST_F(E2eCluster, ANodeThatIsTakenOffTheListIsAStranger) {
  StartThree();
  const int port = ports_["c"];
  ports_.erase("c");
  WritePeers();
  EXPECT_TRUE(Eventually([&] { return Status("a")["peers"].size() == 1; }));
  ports_["c"] = port;
}

TEST_F(E2eCluster, SigtermEndsANodeInOrder) {
  StartThree();
  nodes_["a"]->Signal(SIGTERM);
  EXPECT_EQ(nodes_["a"]->WaitForEnd(), 0) << nodes_["a"]->log();
}

TEST_F(E2eCluster, WhatIsWrongWithTheSettingsIsToldClearly) {
  const std::string open_key = WriteKey("open", "0123456789abcdef0123456789abcdef", 0644);
  const std::string short_key = WriteKey("short", "0123456789abcdef");
  using Arguments = std::vector<std::string>;
  const std::vector<std::pair<Arguments, std::string>> mistakes = {
      {{"--peers", "a=127.0.0.1:1"}, "--peers goes with --cluster"},
      {{"--cluster", "127.0.0.1:0", "--node", "a"}, "--cluster needs --cluster-key-file"},
      {{"--cluster", "127.0.0.1:0", "--cluster-key-file", key_}, "--cluster needs --node"},
      {{"--cluster", "127.0.0.1:0", "--node", "a", "--cluster-key-file", "/nowhere"},
       "/nowhere: cannot be read"},
      {{"--cluster", "127.0.0.1:0", "--node", "a", "--cluster-key-file", open_key}, "chmod 600"},
      {{"--cluster", "127.0.0.1:0", "--node", "a", "--cluster-key-file", short_key}, "too short"},
      {{"--cluster", "nonsense", "--node", "a", "--cluster-key-file", key_}, "not an address"},
      {{"--cluster", "127.0.0.1:0", "--node", "a b", "--cluster-key-file", key_},
       "not the name of a node"},
      {{"--cluster", "127.0.0.1:0", "--node", "a", "--cluster-key-file", key_, "--peers",
        "b=127.0.0.1:1,b=127.0.0.1:2"},
       "\"b\" is there twice"},
      {{"--config", rules_}, "needs the server to be started with `--cluster`"},
  };
  for (const auto& [arguments, told] : mistakes) {
    const std::string log = Refusal(arguments);
    EXPECT_TRUE(Has(log, told)) << told << "\n" << log;
  }
}

TEST_F(E2eCluster, AServerWithoutAClusterSaysSo) {
  ServerProcess server({});
  const std::string answer = HttpGet(server.port("http"), "/v1/cluster");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 404")) << answer;
  EXPECT_TRUE(Has(answer, "\"field\":null}}")) << "as in every error: " << answer;
}

}  // namespace
}  // namespace weir::e2e::cluster_test
