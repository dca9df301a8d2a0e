// What has business value survives a restart of the real server.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/server_process.h"

namespace weir::e2e::persist_test {
namespace {

constexpr char kRules[] =
    "namespaces: {shop: {resources: {\n"
    "  api: {limits: [{name: month, algorithm: fixed_window, limit: 100, per: 30d, persist: "
    "true}]},\n"
    "  fleeting: {limits: [{name: month, algorithm: fixed_window, limit: 100, per: 30d}]},\n"
    "  seats: {copies: {per_subject: 2}}}}}\n";

class E2ePersist : public ::testing::Test {
 protected:
  std::unique_ptr<ServerProcess> Start(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--config", files_.Write("rules.yaml", kRules), "--data",
                                          files_.path() + "/data"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<ServerProcess>(arguments);
  }
  static nlohmann::json Post(const ServerProcess& server, const std::string& path,
                             const std::string& resource, int cost = 1) {
    const std::string body = R"({"namespace":"shop","resource":")" + resource +
                             R"(","subject":"ann","cost":)" + std::to_string(cost) + "}";
    Socket socket(server.port("http"));
    socket.Send("POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    const std::string answer = socket.ReadAll();
    return nlohmann::json::parse(answer.substr(answer.find("\r\n\r\n") + 4), nullptr, false);
  }
  static int Remaining(const ServerProcess& server, const std::string& resource) {
    return Post(server, "/v1/peek", resource)["limits"][0]["remaining"];
  }
  static bool Reserves(Socket& socket, const std::string& more = "") {
    socket.Send("WEIR.RESERVE shop seats ann" + more + "\r\n");
    return socket.ReadUntil("groups\r\n*0\r\n").find("allowed\r\n:1\r\n") != std::string::npos;
  }

  TemporaryFiles files_;
};

TEST_F(E2ePersist, SigtermLosesNothing) {
  auto server = Start({"--persist-interval", "1h"});
  Post(*server, "/v1/request", "api", 30);
  Post(*server, "/v1/request", "fleeting", 30);
  server->Signal(SIGTERM);
  ASSERT_EQ(server->WaitForEnd(), 0) << server->log();
  server = Start();
  EXPECT_EQ(Remaining(*server, "api"), 70);
  EXPECT_EQ(Remaining(*server, "fleeting"), 100);
}

TEST_F(E2ePersist, AKillLosesAtMostAnInterval) {
  auto server = Start({"--persist-interval", "20ms"});
  Post(*server, "/v1/request", "api", 30);
  // Written when the metric says so.
  std::string metrics;
  for (int i = 0; i < 5000 && metrics.find("weir_persist_saved_total 1\n") == std::string::npos;
       ++i) {
    metrics = HttpGet(server->port("http"), "/metrics");
  }
  server->Signal(SIGKILL);
  server->WaitForEnd();
  server = Start();
  EXPECT_EQ(Remaining(*server, "api"), 70);
  EXPECT_NE(HttpGet(server->port("http"), "/metrics").find("weir_persist_restored_total 1\n"),
            std::string::npos);
}

TEST_F(E2ePersist, AfterACrashWithHoldsNoCopiesUntilTheyMustBeGone) {
  auto server = Start({"--session-timeout", "2s"});
  Socket holder(server->port("resp"));
  ASSERT_TRUE(Reserves(holder));
  server->Signal(SIGKILL);
  server->WaitForEnd();

  const auto start = std::chrono::steady_clock::now();
  server = Start({"--session-timeout", "2s"});
  Socket early(server->port("resp"));
  EXPECT_FALSE(Reserves(early)) << server->log();
  EXPECT_TRUE(Reserves(early, " WAIT 9000")) << "who waits is served then";
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1900));
  EXPECT_NE(server->log().find("no copies are granted"), std::string::npos) << server->log();
}

// Whoever held copies from the first of these servers may not have noticed anything yet.
TEST_F(E2ePersist, NoCopiesAfterACrashHoweverOftenTheServerIsStartedAgain) {
  for (const int end : {SIGKILL, SIGTERM}) {
    auto server = Start();
    Socket holder(server->port("resp"));
    ASSERT_TRUE(Reserves(holder, " WAIT 9000"));
    server->Signal(SIGKILL);
    server->WaitForEnd();
    const std::vector<std::string> soon = {"--session-timeout", "3s"};
    server = Start(soon);
    server->Signal(end);
    server->WaitForEnd();
    server = Start(soon);
    Socket early(server->port("resp"));
    EXPECT_FALSE(Reserves(early)) << "ended by signal " << end;
    EXPECT_TRUE(Reserves(early, " WAIT 9000"));
    early.CloseSending();
    server->Signal(SIGTERM);
    server->Signal(SIGTERM);
    server->WaitForEnd();
  }
}

// Otherwise its client would think that it holds copies that others are granted after a crash.
TEST_F(E2ePersist, NoSessionIsSilentForLongerThanTheTimeout) {
  auto server = Start({"--session-timeout", "2s"});
  const std::string body = "{\"ttl_ms\":60000}";
  Socket socket(server->port("http"));
  socket.Send("POST /v1/session HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  const std::string answer = socket.ReadAll();
  EXPECT_TRUE(answer.ends_with("\"ttl_ms\":2000}")) << answer;
}

TEST_F(E2ePersist, AStopInOrderWithHoldsLeavesNothingBehind) {
  auto server = Start();
  Socket holder(server->port("resp"));
  ASSERT_TRUE(Reserves(holder));
  server->Signal(SIGTERM);
  server->Signal(SIGTERM);
  ASSERT_EQ(server->WaitForEnd(), 0) << server->log();
  server = Start();
  Socket socket(server->port("resp"));
  EXPECT_TRUE(Reserves(socket));
}

TEST_F(E2ePersist, TwoServersDoNotShareADirectory) {
  auto one = Start();
  auto two = Start();
  EXPECT_EQ(two->WaitForEnd(), 1);
  EXPECT_NE(two->log().find("another server"), std::string::npos) << two->log();
}

}  // namespace
}  // namespace weir::e2e::persist_test
