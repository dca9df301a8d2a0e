// The server as whoever runs it sees it: starting, reloading, stopping, and what strangers send.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/e2e/server_process.h"

namespace weir::e2e::server_test {
namespace {

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{name: burst, limit: 3, per: 1h}]}}}}\n";
constexpr char kOtherRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{name: burst, limit: 5, per: 1h}]}}}}\n";
constexpr char kBadRules[] = "namespaces: {shop: {resources: {search: {limits: 7}}}}\n";

std::string Ask(const ServerProcess& server) {
  Socket socket(server.port("resp"));
  socket.Send("WEIR.REQUEST shop search ann\r\n");
  return socket.ReadUntil("reset_after_ms");
}

class E2eServer : public ::testing::Test {
 protected:
  TemporaryFiles files_;
  std::string rules_ = files_.Write("rules.yaml", kRules);
};

TEST_F(E2eServer, BadSettingsEndItWithOneClearLine) {
  const auto fails = [&](std::vector<std::string> arguments, const std::string& why) {
    ServerProcess server(arguments);
    EXPECT_EQ(server.WaitForEnd(), 1) << why;
    EXPECT_NE(server.log().find(why), std::string::npos) << server.log();
  };
  fails({"--config", files_.Write("bad.yaml", kBadRules)}, "bad.yaml:1:");
  fails({"--config", "/nowhere.yaml"}, "/nowhere.yaml");
  fails({"--config", rules_, "--http", "no address"}, "is not an address");
  fails({"--config", rules_, "--http", "127.0.0.1:99999"}, "has no port from 0 to 65535");
  fails({"--config", rules_, "--http", "192.0.2.1:80"}, "cannot listen on 192.0.2.1:80");
  fails({"--config", rules_, "--tls-cert", "/nowhere"}, "both --tls-cert and --tls-key");
  fails({"--config", rules_, "--tls-cert", "/nowhere", "--tls-key", "/nowhere"}, "/nowhere");
  fails({"--config", rules_, "--token-file", "/nowhere"}, "/nowhere: cannot be read");
  fails({"--config", rules_, "--trusted-hops", "10.0.0.0/99"}, "is not a network");
}

TEST_F(E2eServer, ASecondServerDoesNotShareThePortOfTheFirst) {
  ServerProcess first({"--config", rules_});
  ServerProcess second(
      {"--config", rules_, "--http", "127.0.0.1:" + std::to_string(first.port("http"))});
  EXPECT_EQ(second.WaitForEnd(), 1);
  EXPECT_NE(second.log().find("cannot listen on 127.0.0.1:"), std::string::npos) << second.log();
  EXPECT_NE(second.log().find("--http ADDRESS or WEIR_HTTP"), std::string::npos) << second.log();
}

TEST_F(E2eServer, AChangedFileIsReadAndABadOneChangesNothing) {
  ServerProcess server({"--config", rules_});
  EXPECT_NE(Ask(server).find("remaining\r\n:2"), std::string::npos);
  files_.Write("rules.yaml", kOtherRules);
  ASSERT_TRUE(server.WaitForLog("new rules are in force")) << server.log();
  EXPECT_NE(Ask(server).find("remaining\r\n:3"), std::string::npos);

  files_.Write("rules.yaml", kBadRules);
  ASSERT_TRUE(server.WaitForLog("rules.yaml:1:")) << server.log();
  EXPECT_NE(Ask(server).find("remaining\r\n:2"), std::string::npos);
  const std::string ready = HttpGet(server.port("http"), "/readyz");
  EXPECT_TRUE(ready.starts_with("HTTP/1.1 200")) << "a typo takes nobody out of service: " << ready;
  EXPECT_NE(ready.find(R"({"ready":true,"problems":[{"code":"rules_unreadable","message":")"),
            std::string::npos)
      << ready;
  EXPECT_NE(ready.find("rules.yaml:1:"), std::string::npos) << ready;
  const std::string healthy = HttpGet(server.port("http"), "/healthz?verbose");
  EXPECT_NE(healthy.find("rules.yaml:1:"), std::string::npos) << healthy;
  EXPECT_NE(
      HttpGet(server.port("http"), "/metrics").find("weir_problem{code=\"rules_unreadable\"} 1"),
      std::string::npos);
  const std::string metrics = HttpGet(server.port("http"), "/metrics");
  EXPECT_NE(metrics.find("weir_reload_last_failed 1"), std::string::npos);
  EXPECT_NE(metrics.find("weir_reloads_total{outcome=\"failed\"} 1"), std::string::npos);

  files_.Write("rules.yaml", kRules);
  ASSERT_TRUE(server.WaitForLog("rules_unreadable is over"));
  EXPECT_NE(HttpGet(server.port("http"), "/readyz").find(R"({"ready":true,"problems":[]})"),
            std::string::npos);
}

TEST_F(E2eServer, TheFirstLineTellsWhatRunsAndWithWhichRules) {
  const auto first = [](const ServerProcess& server) {
    return server.log().substr(0, server.log().find('\n'));
  };
  ServerProcess of_a_file({"--config", rules_});
  EXPECT_NE(first(of_a_file).find(" info weir "), std::string::npos) << first(of_a_file);
  EXPECT_NE(first(of_a_file).find(": rules from " + rules_ + ": 1 namespace, "), std::string::npos)
      << first(of_a_file);
  ServerProcess of_nothing({});
  EXPECT_NE(first(of_nothing).find("a database in memory: 0 namespaces, 0 resources, 0 limits"),
            std::string::npos)
      << first(of_nothing);
}

TEST_F(E2eServer, HangupReloadsAndTerminationDrains) {
  ServerProcess server({"--config", rules_});
  server.Signal(SIGHUP);
  ASSERT_TRUE(server.WaitForLog("new rules are in force"));
  Socket idle(server.port("resp"));
  idle.Send("PING\r\n");
  idle.ReadUntil("PONG\r\n");
  server.Signal(SIGTERM);
  EXPECT_EQ(server.WaitForEnd(), 0) << server.log();
  idle.ReadAll();
  EXPECT_TRUE(idle.closed_by_peer());
}

// Whether a thread has seen it by then or not.
TEST_F(E2eServer, WhatWasSentBeforeTheStopIsAnswered) {
  for (int round = 0; round < 10; ++round) {
    ServerProcess server({"--config", rules_});
    std::vector<std::unique_ptr<Socket>> sockets;
    for (int i = 0; i < 8; ++i) {
      sockets.push_back(std::make_unique<Socket>(server.port("resp")));
      sockets.back()->Send("PING\r\n");
    }
    server.Signal(SIGTERM);
    for (const auto& socket : sockets) EXPECT_EQ(socket->ReadUntil("PONG\r\n"), "+PONG\r\n");
    EXPECT_EQ(server.WaitForEnd(), 0) << server.log();
  }
}

TEST_F(E2eServer, LogsAreJsonByFlag) {
  ServerProcess server({"--config", rules_, "--log-json"});
  EXPECT_TRUE(server.log().starts_with("{\"time\":\"")) << server.log();
}

TEST_F(E2eServer, StatisticsNeedATokenOnceThereIsOne) {
  const std::string tokens = files_.Write("tokens", "secret read shop\nall-of-it write *\n");
  ServerProcess server({"--config", rules_, "--token-file", tokens});
  const auto status = [&](const std::string& path, const std::string& token) {
    return HttpGet(server.port("http"), path,
                   token.empty() ? "" : "Authorization: Bearer " + token + "\r\n")
        .substr(9, 3);
  };
  EXPECT_EQ(status("/v1/stats?namespace=shop", ""), "401");
  EXPECT_EQ(status("/v1/stats?namespace=shop", "wrong"), "401");
  EXPECT_EQ(status("/v1/stats?namespace=shop", "secret"), "200");
  EXPECT_EQ(status("/v1/stats?namespace=other", "secret"), "403");
  EXPECT_EQ(status("/v1/stats", "secret"), "403");
  EXPECT_EQ(status("/v1/stats", "all-of-it"), "200");
  EXPECT_EQ(status("/healthz", ""), "200");
}

TEST_F(E2eServer, StatisticsTellWhoIsRefusedWhyAndUntilWhen) {
  ServerProcess server({"--config", rules_});
  for (int i = 0; i < 5; ++i) Ask(server);
  const std::string answer =
      HttpGet(server.port("http"), "/v1/stats?namespace=shop&resource=search&subject=ann");
  EXPECT_NE(answer.find("\"refused\":true"), std::string::npos) << answer;
  EXPECT_NE(answer.find("limit \\\"burst\\\" is used up"), std::string::npos) << answer;
  const std::string resource =
      HttpGet(server.port("http"), "/v1/stats?namespace=shop&resource=search");
  EXPECT_NE(resource.find("\"total\":{\"admitted\":3,\"refused\":2,\"cost\":3}"), std::string::npos)
      << resource;
  EXPECT_NE(resource.find("\"most_refused\":[{\"subject\":\"ann\",\"count\":2}]"),
            std::string::npos);
  EXPECT_NE(HttpGet(server.port("http"), "/v1/stats?namespace=shop&resource=x").find(" 404 "),
            std::string::npos);
}

TEST_F(E2eServer, FrontsCanBeSwitchedOff) {
  ServerProcess server({"--config", rules_, "--grpc", "off", "--resp", "off"});
  EXPECT_NE(server.port("http"), 0);
  EXPECT_EQ(server.port("grpc"), 0);
  EXPECT_EQ(server.port("resp"), 0);
}

// ---- TLS ----

class E2eTls : public E2eServer {
 protected:
  void MakeCertificate(const std::string& name) {
    const std::string base = files_.path() + "/" + name;
    const Finished made = RunProgram({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                      "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                                      "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1",
                                      "-keyout", base + ".key", "-out", base + ".crt"});
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }
  std::string File(const std::string& name) const { return files_.path() + "/" + name; }
  Finished Curl(const ServerProcess& server, std::vector<std::string> more) {
    std::vector<std::string> command = {"curl", "-sS", "--max-time", "5"};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back("https://127.0.0.1:" + std::to_string(server.port("http")) + "/healthz");
    return RunProgram(command);
  }
};

TEST_F(E2eTls, OnlyTls13AndACertificateThatIsReloaded) {
  MakeCertificate("a");
  ServerProcess server(
      {"--config", rules_, "--tls-cert", File("a.crt"), "--tls-key", File("a.key")});
  EXPECT_EQ(Curl(server, {"--cacert", File("a.crt")}).exit_code, 0);
  EXPECT_NE(Curl(server, {"--cacert", File("a.crt"), "--tls-max", "1.2"}).exit_code, 0);
  const std::string old = File("old.crt");
  RunProgram({"cp", File("a.crt"), old});
  MakeCertificate("a");
  server.Signal(SIGHUP);
  ASSERT_TRUE(server.WaitForLog("new rules are in force"));
  EXPECT_EQ(Curl(server, {"--cacert", File("a.crt")}).exit_code, 0);
  EXPECT_NE(Curl(server, {"--cacert", old}).exit_code, 0);
  const Finished http2 =
      RunProgram({"curl", "-sS", "--max-time", "5", "--http2", "--cacert", File("a.crt"), "-o",
                  "/dev/null", "-w", "%{http_version} %{http_code}",
                  "https://127.0.0.1:" + std::to_string(server.port("grpc")) + "/"});
  EXPECT_EQ(http2.output, "2 405") << "the gRPC port agrees on HTTP/2";
  // Plain bytes on a TLS port end that connection only.
  Socket plain(server.port("resp"));
  plain.Send("PING\r\n");
  plain.ReadAll();
  EXPECT_TRUE(plain.closed_by_peer());
  const Finished redis = RunProgram({"redis-cli", "-p", std::to_string(server.port("resp")),
                                     "--tls", "--cacert", File("a.crt"), "PING"});
  EXPECT_EQ(redis.output, "PONG\n");
}

TEST_F(E2eTls, MutualTlsWantsACertificateOfTheClient) {
  MakeCertificate("a");
  MakeCertificate("b");
  ServerProcess server({"--config", rules_, "--tls-cert", File("a.crt"), "--tls-key", File("a.key"),
                        "--tls-ca", File("b.crt")});
  EXPECT_NE(Curl(server, {"--cacert", File("a.crt")}).exit_code, 0);
  EXPECT_NE(
      Curl(server, {"--cacert", File("a.crt"), "--cert", File("a.crt"), "--key", File("a.key")})
          .exit_code,
      0);
  EXPECT_EQ(
      Curl(server, {"--cacert", File("a.crt"), "--cert", File("b.crt"), "--key", File("b.key")})
          .exit_code,
      0);
}

// ---- Strangers ----

TEST_F(E2eServer, ARequestThatDoesNotEndLosesItsConnectionAndOthersGoOn) {
  ServerProcess server({"--config", rules_, "--request-timeout", "300ms"});
  Socket slow_resp(server.port("resp")), slow_http(server.port("http"));
  slow_resp.Send("*2\r\n$4\r\nPI");
  slow_http.Send("GET /healthz HT");
  Socket well(server.port("resp"));
  well.Send("PING\r\n");
  EXPECT_EQ(well.ReadUntil("PONG\r\n"), "+PONG\r\n");
  slow_resp.ReadAll();
  slow_http.ReadAll();
  EXPECT_TRUE(slow_resp.closed_by_peer());
  EXPECT_TRUE(slow_http.closed_by_peer());
  well.Send("PING\r\n");
  EXPECT_EQ(well.ReadUntil("PONG\r\n"), "+PONG\r\n") << "an idle connection may stay";
}

TEST_F(E2eServer, AnswersThatNobodyReadsStopTheirConnectionAndTakeLittleMemory) {
  ServerProcess server({"--config", rules_, "--request-timeout", "500ms", "--threads", "1"});
  const size_t before = server.resident_bytes();
  Socket deaf(server.port("resp"));
  std::string commands;
  for (int i = 0; i < 2000; ++i) commands += "WEIR.PEEK shop search ann\r\n";
  int sent = 0;
  while (sent < 100'000 && deaf.Send(commands)) ++sent;
  EXPECT_LT(sent, 100'000) << "it is read no further while it does not read";
  EXPECT_NE(HttpGet(server.port("http"), "/metrics")
                .find("weir_connections_timed_out_total{front=\"resp\"} 1"),
            std::string::npos);
  Socket well(server.port("resp"));
  well.Send("PING\r\n");
  EXPECT_EQ(well.ReadUntil("PONG\r\n"), "+PONG\r\n");
  EXPECT_LT(server.resident_bytes() - before, size_t{32} << 20);
}

TEST_F(E2eServer, ThousandsOfConnectionsLeaveRoomForOneMore) {
  ServerProcess server({"--config", rules_, "--max-connections", "200", "--threads", "1"});
  const size_t before = server.resident_bytes();
  std::vector<std::unique_ptr<Socket>> crowd;
  for (int i = 0; i < 900; ++i) crowd.push_back(std::make_unique<Socket>(server.port("resp")));
  Socket well(server.port("resp"));
  well.Send("PING\r\n");
  EXPECT_EQ(well.ReadUntil("PONG\r\n"), "+PONG\r\n");
  EXPECT_LT(server.resident_bytes() - before, size_t{16} << 20);
  crowd.front()->ReadAll();
  EXPECT_TRUE(crowd.front()->closed_by_peer()) << "the idlest makes room";
}

TEST_F(E2eServer, RandomBytesOnEveryPortHarmNobodyElse) {
  ServerProcess server({"--config", rules_});
  uint64_t draw = 1;
  for (const char* front : {"http", "grpc", "resp"}) {
    for (int i = 0; i < 100; ++i) {
      std::string bytes(static_cast<size_t>(1 + i * 7), '\0');
      for (char& byte : bytes) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        byte = static_cast<char>(draw >> 56);
      }
      Socket stranger(server.port(front));
      stranger.Send(bytes);
      stranger.CloseSending();
      stranger.ReadAll();
      EXPECT_TRUE(stranger.closed_by_peer()) << front;
    }
  }
  EXPECT_NE(Ask(server).find("remaining\r\n:2"), std::string::npos);
  EXPECT_NE(HttpGet(server.port("http"), "/healthz").find(" 200 "), std::string::npos);
}

// ---- The command line as a client ----

TEST_F(E2eServer, TheCommandLineAsksARunningServer) {
  ServerProcess server({"--config", rules_});
  const std::string at = "127.0.0.1:" + std::to_string(server.port("http"));
  const auto weir = [&](std::vector<std::string> words) {
    words.insert(words.begin(), WEIR_BINARY);
    words.insert(words.end(), {"--server", at});
    return RunProgram(words);
  };
  EXPECT_EQ(weir({"peek", "shop", "search", "bob"}).exit_code, 0);
  const Finished asked = weir({"request", "shop", "search", "bob", "--cost", "3", "--settle"});
  EXPECT_EQ(asked.exit_code, 0) << asked.output;
  EXPECT_NE(asked.output.find("3 per 1h             remaining 0 "), std::string::npos)
      << asked.output;
  const std::string ticket = asked.output.substr(asked.output.find("ticket ") + 7, 32);
  EXPECT_EQ(weir({"request", "shop", "search", "bob"}).exit_code, 1);
  const Finished settled = weir({"settle", ticket, "1"});
  EXPECT_EQ(settled.exit_code, 0) << settled.output;
  EXPECT_NE(settled.output.find("charged 1"), std::string::npos);
  EXPECT_EQ(weir({"request", "shop", "nothing", "bob"}).exit_code, 2);
  const Finished top = weir({"top", "--once"});
  EXPECT_EQ(top.exit_code, 0) << top.output;
  EXPECT_NE(top.output.find("shop/search"), std::string::npos) << top.output;
  const Finished nobody =
      RunProgram({WEIR_BINARY, "request", "a", "b", "c", "--server", "127.0.0.1:1"});
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_NE(nobody.output.find("is `weir serve` running there?"), std::string::npos);
}

}  // namespace
}  // namespace weir::e2e::server_test
