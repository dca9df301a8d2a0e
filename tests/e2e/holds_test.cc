// Holds against the real server: whoever dies, is silent or hangs up loses them, and nobody else.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/server_process.h"

namespace weir::e2e::holds_test {
namespace {

constexpr char kRules[] =
    "namespaces: {n: {resources: {lock: {copies: {per_subject: 1}}, box: {copies: {per_subject: "
    "4}},"
    " rate: {limits: [{limit: 1, per: 1s}]}}}}\n";

// The 32 digits behind a field's name, in whatever protocol.
std::string TicketOf(const std::string& answer, const std::string& field) {
  const size_t at = answer.find(field);
  const size_t from = answer.find_first_of("0123456789abcdef", at + field.size());
  if (at == std::string::npos || from == std::string::npos) return "";
  // RESP tells the length first.
  const size_t skipped = answer.compare(from, 4, "32\r\n") == 0 ? 4 : 0;
  return answer.substr(from + skipped, 32);
}

class E2eHolds : public ::testing::Test {
 protected:
  // The last field of an answer is groups, which nobody here belongs to.
  static std::string Reserve(Socket& socket, const std::string& what) {
    socket.Send("WEIR.RESERVE " + what + "\r\n");
    return socket.ReadUntil("groups\r\n*0\r\n");
  }
  static bool Granted(const std::string& answer) {
    return answer.find("allowed\r\n:1\r\n") != std::string::npos;
  }
  std::string Http(const std::string& method, const std::string& path, const std::string& body) {
    Socket socket(server_.port("http"));
    socket.Send(method + " " + path +
                " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    return socket.ReadAll();
  }
  Finished Weir(std::vector<std::string> words, const std::string& resource = "lock") {
    words.insert(words.begin(), {WEIR_BINARY, "reserve", "n", resource, "ann", "--resp",
                                 "127.0.0.1:" + std::to_string(server_.port("resp"))});
    return RunProgram(words);
  }
  std::string Metric(const std::string& name) {
    const std::string all = HttpGet(server_.port("http"), "/metrics");
    const size_t at = all.find("\n" + name + " ") + name.size() + 2;
    return all.substr(at, all.find('\n', at) - at);
  }

  TemporaryFiles files_;
  ServerProcess server_{
      {"--config", files_.Write("rules.yaml", kRules), "--poolcounter", "127.0.0.1:0"}};
};

TEST_F(E2eHolds, AClosedConnectionReleasesAndWhoWaitsIsServed) {
  Socket waiter(server_.port("resp"));
  {
    Socket holder(server_.port("resp"));
    EXPECT_TRUE(Granted(Reserve(holder, "n lock ann")));
    EXPECT_FALSE(Granted(Reserve(waiter, "n lock ann")));
    waiter.Send("WEIR.RESERVE n lock ann WAIT 9000\r\nPING\r\n");
    // Another connection's answer shows that the server lives and the waiter waits.
    Socket other(server_.port("resp"));
    EXPECT_TRUE(Granted(Reserve(other, "n box ann")));
    EXPECT_EQ(Metric("weir_holds"), "2");
  }
  const std::string answers = waiter.ReadUntil("+PONG\r\n");
  EXPECT_TRUE(Granted(answers)) << answers;
  EXPECT_TRUE(answers.ends_with("+PONG\r\n")) << answers;
}

TEST_F(E2eHolds, CopiesGoFromTheRedisFrontToHttp) {
  Socket giver(server_.port("resp"));
  const std::string hold = TicketOf(Reserve(giver, "n box ann COPIES 3"), "hold");
  giver.Send("WEIR.TRANSFER " + hold + " COPIES 2 TTL 60000\r\n");
  std::string answer = giver.ReadUntil("\r\n$32\r\n");
  answer += giver.ReadUntil("\r\n");
  const std::string transfer = TicketOf(answer, "$8\r\ntransfer");
  ASSERT_EQ(transfer.size(), 32u);
  EXPECT_EQ(Metric("weir_transfers"), "1");
  const std::string session =
      TicketOf(Http("POST", "/v1/session", "{\"ttl_ms\":60000}"), "\"session\":\"");
  const std::string seized = Http(
      "POST", "/v1/seize", "{\"session\":\"" + session + "\",\"transfer\":\"" + transfer + "\"}");
  EXPECT_NE(seized.find("\"subject\":\"ann\",\"copies\":2,"), std::string::npos) << seized;
  const std::string refused = Http("POST", "/v1/reserve",
                                   "{\"session\":\"" + session +
                                       "\",\"namespace\":\"n\",\"resource\":\"box\","
                                       "\"subject\":\"ann\",\"copies\":2}");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 429 ")) << refused;
  EXPECT_TRUE(Http("DELETE", "/v1/session/" + session, "").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(Granted(Reserve(giver, "n box ann COPIES 3")));
}

// Whoever is killed closes nothing himself.
TEST_F(E2eHolds, AKilledClientReleases) {
  const std::string script =
      "import signal, socket\n"
      "s = socket.create_connection(('127.0.0.1', " +
      std::to_string(server_.port("resp")) +
      "))\n"
      "s.sendall(b'WEIR.RESERVE n lock ann\\r\\n')\n"
      "s.recv(4096)\n"
      "print('held', flush=True)\n"
      "signal.pause()\n";
  int out[2];
  ASSERT_EQ(pipe(out), 0);
  const pid_t client = Spawn({"/usr/bin/python3", "-c", script}, -1, out[1], -1);
  close(out[1]);
  char word[8] = {};
  ASSERT_GT(read(out[0], word, sizeof word), 0);
  close(out[0]);
  Socket socket(server_.port("resp"));
  EXPECT_FALSE(Granted(Reserve(socket, "n lock ann")));
  kill(client, SIGKILL);
  EXPECT_TRUE(Granted(Reserve(socket, "n lock ann WAIT 4000")));
  waitpid(client, nullptr, 0);
}

TEST_F(E2eHolds, ASessionThatIsNotRenewedReleases) {
  const std::string session =
      TicketOf(Http("POST", "/v1/session", "{\"ttl_ms\":1000}"), "\"session\":\"");
  const std::string body = "{\"session\":\"" + session +
                           "\",\"namespace\":\"n\",\"resource\":\"lock\",\"subject\":\"ann\"}";
  EXPECT_TRUE(Http("POST", "/v1/reserve", body).starts_with("HTTP/1.1 200 "));
  Socket socket(server_.port("resp"));
  EXPECT_FALSE(Granted(Reserve(socket, "n lock ann")));
  EXPECT_TRUE(Granted(Reserve(socket, "n lock ann WAIT 4000")));
  EXPECT_TRUE(Http("POST", "/v1/session/" + session, "").starts_with("HTTP/1.1 404 "));
}

TEST_F(E2eHolds, PoolCounterLocksAndLetsGo) {
  ASSERT_NE(server_.port("poolcounter"), 0) << server_.log();
  Socket waiter(server_.port("poolcounter"));
  {
    Socket holder(server_.port("poolcounter"));
    holder.Send("ACQ4ME article 1 2 5\nACQ4ME other 1 2 5\n");
    EXPECT_EQ(holder.ReadUntil("HELD\n"), "LOCKED\nLOCK_HELD\n");
    Socket third(server_.port("poolcounter"));
    third.Send("ACQ4ME article 1 1 5\nHELLO\n");
    EXPECT_EQ(third.ReadUntil("COMMAND\n"), "QUEUE_FULL\nERROR BAD_COMMAND\n");
    waiter.Send("ACQ4ME article 1 2 5\nACQ4ME article 1 2 5\n");
    EXPECT_EQ(waiter.ReadUntil("\n"), "ERROR WAIT_FOR_RESPONSE\n");
  }
  EXPECT_EQ(waiter.ReadUntil("\n"), "LOCKED\n");
  waiter.Send("RELEASE\n");
  EXPECT_EQ(waiter.ReadUntil("\n"), "RELEASED\n");
}

TEST_F(E2eHolds, ACommandRunsWhileItsCopiesAreHeld) {
  EXPECT_EQ(Weir({"--", "true"}).exit_code, 0);
  EXPECT_EQ(Weir({"--", "sh", "-c", "echo -n $0; exit 3", "out"}).exit_code, 3);
  EXPECT_EQ(Weir({"--", "echo", "--wait"}).output, "--wait\n");
  EXPECT_EQ(Weir({"--", "sh", "-c", "kill -TERM $$"}).exit_code, 128 + SIGTERM);
  EXPECT_EQ(Weir({"--", "/nowhere"}).exit_code, 127);
  EXPECT_EQ(Weir({"--", "true"}, "rate").exit_code, 2);

  Socket holder(server_.port("resp"));
  EXPECT_TRUE(Granted(Reserve(holder, "n lock ann")));
  const Finished refused = Weir({"--", "echo", "ran"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_EQ(refused.output, "refused by per_subject: ann holds 1 of 1\n");
  EXPECT_EQ(Weir({"--wait", "100ms", "--", "echo", "ran"}).output,
            "refused by per_subject: ann holds 1 of 1\n");
  EXPECT_EQ(Weir({"--copies", "4", "--wait", "10s", "--", "true"}, "box").exit_code, 0);
  EXPECT_NE(Weir({"--copies", "4", "--", WEIR_BINARY, "reserve", "n", "box", "ann", "--resp",
                  "127.0.0.1:" + std::to_string(server_.port("resp")), "--", "echo", "ran"},
                 "box")
                .output.find("refused by "),
            std::string::npos)
      << "they are held while the command runs";
}

}  // namespace
}  // namespace weir::e2e::holds_test
