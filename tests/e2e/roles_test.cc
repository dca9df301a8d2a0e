// One server keeps the configuration, others follow it.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "lab/live/free_port.h"
#include "tests/e2e/server_process.h"

namespace weir::e2e::roles_test {
namespace {

using Json = nlohmann::json;

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{name: burst, limit: 3, per: 1h}]}}}}\n";

std::string Ask(int port, const std::string& method, const std::string& path,
                const std::string& body = "", const std::string& headers = "") {
  Socket socket(port);
  if (!socket.connected()) return "";
  socket.Send(method + " " + path +
              " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
  return socket.ReadAll();
}

int Limit(const ServerProcess& server) {
  const std::string answer = Ask(server.port("http"), "POST", "/v1/peek",
                                 R"({"namespace":"shop","resource":"search","subject":"ann"})");
  const Json body = Json::parse(answer.substr(answer.find("\r\n\r\n") + 4), nullptr, false);
  return body.contains("limits") ? body["limits"][0]["limit"].get<int>() : 0;
}

std::chrono::milliseconds TimeUntilLimit(const ServerProcess& server, int limit) {
  const auto start = std::chrono::steady_clock::now();
  while (Limit(server) != limit) {
    const auto elapsed = std::chrono::steady_clock::now() - start;
    if (elapsed > std::chrono::seconds(10)) return std::chrono::hours(1);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               start);
}

class E2eRoles : public ::testing::Test {
 protected:
  // On the same port each time, so that it can come back.
  std::unique_ptr<ServerProcess> StartConfig(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--role", "config",
                                          "--data", files_.path() + "/config",
                                          "--seed", files_.Write("seed.yaml", kRules),
                                          "--http", "127.0.0.1:" + std::to_string(config_port_)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<ServerProcess>(arguments);
  }
  std::unique_ptr<ServerProcess> StartLimiter(std::vector<std::string> more = {},
                                              const std::string& data = "limiter") {
    std::vector<std::string> arguments = {
        "--role",        "limiter",
        "--data",        files_.path() + "/" + data,
        "--config-from", "http://127.0.0.1:" + std::to_string(config_port_)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<ServerProcess>(arguments);
  }
  void SetLimit(int limit, const std::string& headers = "") {
    const std::string answer =
        Ask(config_port_, "PATCH", "/v1/config/namespaces/shop/resources/search/limits/burst",
            "{\"limit\":" + std::to_string(limit) + "}", headers);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
  }
  static bool Ready(const ServerProcess& server) {
    return HttpGet(server.port("http"), "/readyz").starts_with("HTTP/1.1 200");
  }

  TemporaryFiles files_;
  const int config_port_ = lab::FreePort();
};

TEST_F(E2eRoles, AChangeReachesALimiterWithinASecond) {
  auto config = StartConfig();
  auto limiter = StartLimiter();
  EXPECT_EQ(Limit(*limiter), 3);
  for (const int limit : {5, 7, 9}) {
    SetLimit(limit);
    EXPECT_LT(TimeUntilLimit(*limiter, limit), std::chrono::seconds(1)) << limiter->log();
  }
  EXPECT_TRUE(Ask(limiter->port("http"), "DELETE", "/v1/config/namespaces/shop")
                  .starts_with("HTTP/1.1 409"))
      << "a follower's configuration can only be read";
}

TEST_F(E2eRoles, WhatIsTakenAwayOrMadeIsSoAtALimiterToo) {
  auto config = StartConfig();
  auto limiter = StartLimiter();
  const auto rules = [&](int port) {
    const std::string answer = Ask(port, "GET", "/v1/config/namespaces?names=true");
    return answer.substr(answer.find("\r\n\r\n") + 4);
  };
  const auto await = [&](const std::string& wanted) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (rules(limiter->port("http")) != wanted && std::chrono::steady_clock::now() < until) {
    }
    EXPECT_EQ(rules(limiter->port("http")), wanted) << limiter->log();
  };
  Ask(config_port_, "PUT", "/v1/config/namespaces/other", R"({"resources":{"a":{"limits":[]}}})");
  await(R"(["other","shop"])");
  SetLimit(11);
  EXPECT_LT(TimeUntilLimit(*limiter, 11), std::chrono::seconds(1));
  Ask(config_port_, "DELETE", "/v1/config/namespaces/other");
  await(R"(["shop"])");
  EXPECT_EQ(Limit(*limiter), 11) << "what did not change stays";
}

TEST_F(E2eRoles, AConfigurationServerDecidesNothing) {
  auto config = StartConfig();
  EXPECT_EQ(config->port("resp"), 0);
  EXPECT_EQ(config->port("grpc"), 0);
  EXPECT_TRUE(Ask(config_port_, "POST", "/v1/request",
                  R"({"namespace":"shop","resource":"search","subject":"ann"})")
                  .starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(Ready(*config));
}

TEST_F(E2eRoles, ALimiterServesFromItsCopyWhileTheApiIsAway) {
  auto config = StartConfig();
  auto limiter = StartLimiter();
  SetLimit(5);
  ASSERT_LT(TimeUntilLimit(*limiter, 5), std::chrono::seconds(5));
  config->Signal(SIGKILL);
  config->WaitForEnd();
  EXPECT_EQ(Limit(*limiter), 5);
  EXPECT_TRUE(limiter->WaitForLog("warning config_away: ")) << limiter->log();
  EXPECT_TRUE(Ready(*limiter)) << "it has rules";
  limiter->Signal(SIGKILL);
  limiter->WaitForEnd();

  limiter = StartLimiter();
  EXPECT_EQ(Limit(*limiter), 5) << limiter->log();
  EXPECT_TRUE(Ready(*limiter));
  config = StartConfig();
  SetLimit(8);
  EXPECT_LT(TimeUntilLimit(*limiter, 8), std::chrono::seconds(3)) << limiter->log();
}

TEST_F(E2eRoles, WithoutApiAndCopyALimiterIsThereButNotReady) {
  auto config = StartConfig();
  config->Signal(SIGKILL);
  config->WaitForEnd();
  auto limiter = StartLimiter();
  EXPECT_FALSE(Ready(*limiter));
  const std::string health = HttpGet(limiter->port("http"), "/readyz");
  EXPECT_NE(health.find(R"({"ready":false,"problems":[{"code":"no_rules")"), std::string::npos)
      << health;
  EXPECT_NE(health.find("config_away"), std::string::npos) << health;
  EXPECT_TRUE(HttpGet(limiter->port("http"), "/healthz").starts_with("HTTP/1.1 200"));
  EXPECT_NE(HttpGet(limiter->port("http"), "/metrics").find("weir_ready 0"), std::string::npos);
  EXPECT_EQ(limiter->log().find("info ready"), std::string::npos) << "only when it is";
  config = StartConfig();
  EXPECT_TRUE(limiter->WaitForLog("info ready")) << limiter->log();
  EXPECT_LT(TimeUntilLimit(*limiter, 3), std::chrono::seconds(5)) << limiter->log();
  EXPECT_TRUE(Ready(*limiter));
  EXPECT_NE(HttpGet(limiter->port("http"), "/readyz").find(R"("problems":[])"), std::string::npos);
}

TEST_F(E2eRoles, ABrokenCopyIsToldAndReplaced) {
  auto config = StartConfig();
  {
    auto limiter = StartLimiter();
    limiter->Signal(SIGTERM);
    EXPECT_EQ(limiter->WaitForEnd(), 0) << limiter->log();
  }
  files_.Write("limiter/rules.json", "{\"version\":");
  auto limiter = StartLimiter();
  EXPECT_TRUE(limiter->log().find("rules.json is of no use") != std::string::npos)
      << limiter->log();
  EXPECT_EQ(Limit(*limiter), 3);
}

TEST_F(E2eRoles, AFollowerShowsItsToken) {
  const std::string tokens = files_.Write("tokens", "s3cret write *\n");
  auto config = StartConfig({"--token-file", tokens});
  auto stranger = StartLimiter({}, "stranger");
  EXPECT_FALSE(Ready(*stranger));
  EXPECT_NE(stranger->log().find("--config-token"), std::string::npos) << stranger->log();
  auto limiter = StartLimiter({"--config-token", "s3cret"});
  EXPECT_TRUE(Ready(*limiter)) << limiter->log();
  SetLimit(5, "Authorization: Bearer s3cret\r\n");
  EXPECT_LT(TimeUntilLimit(*limiter, 5), std::chrono::seconds(5));
}

TEST_F(E2eRoles, RolesThatMakeNoSenseAreRefused) {
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--role", "limiter"},
                                                {"--config-from", "127.0.0.1:1"},
                                                {"--role", "limiter", "--config-from", "nonsense"},
                                                {"--role", "king"}}) {
    ServerProcess server(wrong);
    EXPECT_NE(server.WaitForEnd(), 0) << wrong.back();
    EXPECT_NE(server.log(), "");
  }
}

}  // namespace
}  // namespace weir::e2e::roles_test
