// A peer that closes its sending side gets what it was promised; one that is gone keeps nothing.
#include <csignal>

#include <gtest/gtest.h>

#include "tests/e2e/server_process.h"

namespace weir::e2e::half_close_test {
namespace {

constexpr char kRules[] =
    "namespaces: {n: {resources: {lock: {copies: {per_subject: 1}}, box: {copies: {per_subject: "
    "1}}}}}\n";

std::string TicketOf(const std::string& answer, const std::string& field) {
  const size_t at = answer.find(field);
  return at == std::string::npos ? "" : answer.substr(at + field.size(), 32);
}

class E2eHalfClose : public ::testing::Test {
 protected:
  static bool Granted(const std::string& answer) {
    return answer.find("allowed\r\n:1\r\n") != std::string::npos;
  }
  static std::string Reserve(Socket& socket, const std::string& what) {
    socket.Send("WEIR.RESERVE " + what + "\r\n");
    return socket.ReadUntil("groups\r\n*0\r\n");
  }
  std::string Metric(const std::string& name) {
    const std::string all = HttpGet(server_.port("http"), "/metrics");
    const size_t at = all.find("\n" + name + " ") + name.size() + 2;
    return all.substr(at, all.find('\n', at) - at);
  }
  // Each look is a request of its own: some seconds pass before it gives up.
  bool Becomes(const std::string& name, const std::string& value) {
    for (int i = 0; i < 5000; ++i) {
      if (Metric(name) == value) return true;
    }
    return false;
  }
  static std::string Post(const std::string& method, const std::string& path,
                          const std::string& body) {
    return method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json" +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  std::string OpenSession() {
    Socket socket(server_.port("http"));
    socket.Send(Post("POST", "/v1/session", "{\"ttl_ms\":60000}"));
    return TicketOf(socket.ReadUntil("}"), "\"session\":\"");
  }
  static std::string ReserveJson(const std::string& session) {
    return Post("POST", "/v1/reserve",
                "{\"session\":\"" + session +
                    "\",\"namespace\":\"n\",\"resource\":\"lock\",\"subject\":\"ann\","
                    "\"wait_ms\":60000}");
  }

  TemporaryFiles files_;
  ServerProcess server_{{"--config", files_.Write("rules.yaml", kRules), "--poolcounter",
                         "127.0.0.1:0", "--session-timeout", "60s"}};
};

TEST_F(E2eHalfClose, AWaitingReserveIsAnsweredAndThenGivenBack) {
  Socket holder(server_.port("resp")), waiter(server_.port("resp"));
  ASSERT_TRUE(Granted(Reserve(holder, "n lock ann")));
  waiter.Send("WEIR.RESERVE n lock ann WAIT 60000\r\nPING\r\n");
  ASSERT_TRUE(Becomes("weir_waiting", "1"));
  waiter.CloseSending();
  Socket other(server_.port("resp"));
  EXPECT_FALSE(Granted(Reserve(other, "n lock ann"))) << "the server goes on";
  holder.Send("QUIT\r\n");
  const std::string answers = waiter.ReadAll();
  EXPECT_TRUE(Granted(answers)) << answers;
  EXPECT_TRUE(answers.ends_with("+PONG\r\n")) << answers;
  EXPECT_TRUE(waiter.closed_by_peer());
  EXPECT_TRUE(Granted(Reserve(other, "n lock ann WAIT 4000"))) << "its session is over";
}

// A plain close looks the same until something is written to it.
TEST_F(E2eHalfClose, WhatAClosedConnectionWaitedForGoesToTheNext) {
  Socket holder(server_.port("resp")), next(server_.port("resp"));
  ASSERT_TRUE(Granted(Reserve(holder, "n lock ann")));
  {
    Socket gone(server_.port("resp"));
    gone.Send("WEIR.RESERVE n lock ann WAIT 60000\r\n");
    ASSERT_TRUE(Becomes("weir_waiting", "1"));
  }
  next.Send("WEIR.RESERVE n lock ann WAIT 60000\r\n");
  ASSERT_TRUE(Becomes("weir_waiting", "2"));
  holder.Send("QUIT\r\n");
  EXPECT_TRUE(Granted(next.ReadUntil("groups\r\n*0\r\n")));
}

// Whatever it waits for: what it holds is returned at once.
TEST_F(E2eHalfClose, WhatAClosedConnectionHoldsIsReleasedWhileItWaits) {
  Socket holder(server_.port("resp")), next(server_.port("resp"));
  ASSERT_TRUE(Granted(Reserve(holder, "n lock ann")));
  {
    Socket gone(server_.port("resp"));
    ASSERT_TRUE(Granted(Reserve(gone, "n box ann")));
    gone.Send("WEIR.RESERVE n lock ann WAIT 60000\r\n");
    ASSERT_TRUE(Becomes("weir_waiting", "1"));
    EXPECT_FALSE(Granted(Reserve(next, "n box ann")));
  }
  EXPECT_TRUE(Granted(Reserve(next, "n box ann WAIT 4000")));
}

TEST_F(E2eHalfClose, AResetIsNoticedAtOnce) {
  Socket holder(server_.port("resp"));
  ASSERT_TRUE(Granted(Reserve(holder, "n lock ann")));
  {
    Socket gone(server_.port("resp"));
    // An answer that was not read makes a close a reset.
    gone.Send("PING\r\nWEIR.RESERVE n lock ann WAIT 60000\r\n");
    ASSERT_TRUE(Becomes("weir_waiting", "1"));
  }
  EXPECT_TRUE(Becomes("weir_waiting", "0"));
}

TEST_F(E2eHalfClose, AWaitingReserveOverHttpIsAnsweredAndKept) {
  const std::string session = OpenSession();
  Socket holder(server_.port("resp")), waiter(server_.port("http"));
  ASSERT_TRUE(Granted(Reserve(holder, "n lock ann")));
  waiter.Send(ReserveJson(session));
  ASSERT_TRUE(Becomes("weir_waiting", "1"));
  waiter.CloseSending();
  holder.Send("QUIT\r\n");
  const std::string answer = waiter.ReadAll();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  EXPECT_EQ(TicketOf(answer, "\"hold\":\"").size(), 32u) << answer;
  Socket other(server_.port("resp"));
  EXPECT_FALSE(Granted(Reserve(other, "n lock ann"))) << "the session goes on";
}

TEST_F(E2eHalfClose, WhatOneWhoHungUpOnHttpWasGrantedIsReleased) {
  const std::string session = OpenSession();
  Socket holder(server_.port("resp")), next(server_.port("resp"));
  ASSERT_TRUE(Granted(Reserve(holder, "n lock ann")));
  {
    Socket gone(server_.port("http"));
    gone.Send(ReserveJson(session));
    ASSERT_TRUE(Becomes("weir_waiting", "1"));
  }
  holder.Send("QUIT\r\n");
  EXPECT_TRUE(Granted(Reserve(next, "n lock ann WAIT 4000")));
}

// The server grants before it hears that nobody is there any more.
TEST_F(E2eHalfClose, WhatOneWhoHungUpUnheardWasGrantedIsReleased) {
  for (int i = 0; i < 10; ++i) {
    const std::string session = OpenSession();
    Socket holder(server_.port("resp")), next(server_.port("resp"));
    ASSERT_TRUE(Granted(Reserve(holder, "n lock ann WAIT 4000"))) << i;
    {
      Socket gone(server_.port("http"));
      gone.Send(ReserveJson(session));
      ASSERT_TRUE(Becomes("weir_waiting", "1"));
      server_.Signal(SIGSTOP);
      holder.Send("QUIT\r\n");
    }
    server_.Signal(SIGCONT);
    EXPECT_TRUE(Granted(Reserve(next, "n lock ann WAIT 4000"))) << i;
  }
}

TEST_F(E2eHalfClose, WhoHangsUpOnceHeWasAnsweredKeepsWhatHeWasGranted) {
  for (const bool by_reset : {false, true}) {
    const std::string session = OpenSession();
    Socket next(server_.port("resp"));
    {
      Socket gone(server_.port("http"));
      gone.Send(ReserveJson(session));
      ASSERT_EQ(TicketOf(gone.ReadUntil("}"), "\"hold\":\"").size(), 32u);
      // An answer that was not read makes a close a reset.
      if (by_reset) gone.Send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    }
    EXPECT_FALSE(Granted(Reserve(next, "n lock ann WAIT 200"))) << by_reset;
    Socket ending(server_.port("http"));
    ending.Send(Post("DELETE", "/v1/session/" + session, ""));
    ending.ReadUntil("\r\n\r\n");
  }
}

TEST_F(E2eHalfClose, PoolCounterAnswersWhoWaits) {
  Socket holder(server_.port("poolcounter")), waiter(server_.port("poolcounter"));
  holder.Send("ACQ4ME article 1 2 60\n");
  EXPECT_EQ(holder.ReadUntil("\n"), "LOCKED\n");
  waiter.Send("ACQ4ME article 1 2 60\n");
  ASSERT_TRUE(Becomes("weir_waiting", "1"));
  waiter.CloseSending();
  holder.Send("RELEASE\n");
  EXPECT_EQ(waiter.ReadAll(), "LOCKED\n");
  EXPECT_TRUE(waiter.closed_by_peer());
}

// Written by another thread, answered late: on fresh connections, half of them closed on one side.
TEST(E2eHalfCloseConfig, EveryWriteOfTheConfigurationIsAnswered) {
  const TemporaryFiles files;
  const ServerProcess server({"--seed", files.Write("rules.yaml", kRules)});
  for (int i = 0; i < 200; ++i) {
    Socket socket(server.port("http"));
    const std::string body = "{\"limit\": " + std::to_string(i + 1) + ", \"per\": \"1s\"}";
    socket.Send("PUT /v1/config/namespaces/n/resources/r" + std::to_string(i % 7) +
                "/limits/rate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                "Content-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    if (i % 2 == 0) socket.CloseSending();
    const std::string answer = socket.ReadUntil("\r\n\r\n");
    ASSERT_TRUE(answer.starts_with("HTTP/1.1 20") || answer.starts_with("HTTP/1.1 4"))
        << i << ": '" << answer << "'";
  }
}

}  // namespace
}  // namespace weir::e2e::half_close_test
