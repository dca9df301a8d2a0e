// The HTTP port as curl sees it.
#include <gtest/gtest.h>

#include "tests/e2e/server_process.h"

namespace weir::e2e::http_clients_test {
namespace {

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{name: burst, limit: 3, per: 1d}]}}}}\n";
constexpr char kAsk[] = R"({"namespace":"shop","resource":"search","subject":"ann"})";

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

class E2eHttpClients : public ::testing::Test {
 protected:
  std::string Url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(server_.port("http")) + path;
  }
  // What comes, with its headers, and with what curl tells of the connection.
  std::string Curl(std::vector<std::string> words) {
    words.insert(words.begin(), {"curl", "-sS", "-i", "--max-time", "10"});
    const Finished finished = RunProgram(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    return finished.output;
  }
  std::string Auth(const std::string& subject) const {
    return Url("/v1/auth?namespace=shop&resource=search&subject=" + subject);
  }

  TemporaryFiles files_;
  ServerProcess server_{{"--config", files_.Write("rules.yaml", kRules)}};
};

TEST_F(E2eHttpClients, ARefusalSaysWhenToComeBackAndWhatWasUsedUp) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Curl({"-d", kAsk, Url("/v1/request")}).starts_with("HTTP/1.1 200 OK\r\n"));
  }
  const std::string refused = Curl({"-d", kAsk, Url("/v1/request")});
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 429 Too Many Requests\r\n")) << refused;
  for (const char* part :
       {"\r\nContent-Type: application/problem+json\r\n", "\r\nRetry-After: 28800\r\n",
        "\r\nRateLimit-Policy: \"burst\";q=3;w=86400\r\n",
        "\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\"",
        "\"violated-policies\":[\"burst\"]", "\"allowed\":false"}) {
    EXPECT_NE(refused.find(part), std::string::npos) << part << "\n" << refused;
  }
}

TEST_F(E2eHttpClients, AConnectionStaysOpen) {
  const std::string twice =
      Curl({"-v", "-d", kAsk, Url("/v1/request"), "--next", "-sSiv", "-d", kAsk, Url("/v1/peek")});
  EXPECT_EQ(Count(twice, "HTTP/1.1 200 OK\r\n"), 4u) << "each is shown twice: " << twice;
  EXPECT_NE(twice.find("Re-using existing connection"), std::string::npos) << twice;
}

// curl itself has given up pipelining.
TEST_F(E2eHttpClients, PipelinedPostsAreAnsweredInOrder) {
  constexpr int kRequests = 200;
  std::string bytes;
  for (int i = 0; i < kRequests; ++i) {
    bytes += "POST /v1/request HTTP/1.1\r\nHost: x\r\nContent-Length: " +
             std::to_string(sizeof kAsk - 1) + "\r\n\r\n" + kAsk;
  }
  bytes += "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  Socket socket(server_.port("http"));
  ASSERT_TRUE(socket.Send(bytes));
  const std::string answers = socket.ReadAll();
  EXPECT_TRUE(socket.closed_by_peer());
  EXPECT_EQ(Count(answers, "HTTP/1.1 200 OK\r\n"), 3u + 1);
  EXPECT_EQ(Count(answers, "HTTP/1.1 429 "), kRequests - 3u);
  EXPECT_LT(answers.find("\"remaining\":2"), answers.find("HTTP/1.1 429 "));
}

TEST_F(E2eHttpClients, HeadHasTheHeadersOfGetAndNoBody) {
  EXPECT_TRUE(Curl({"-I", Url("/healthz")}).starts_with("HTTP/1.1 200 OK\r\n"));
  const std::string head = Curl({"-I", Url("/metrics"), "--next", "-sSi", Url("/healthz")});
  EXPECT_EQ(Count(head, "HTTP/1.1 200 OK\r\n"), 2u) << head;
  EXPECT_EQ(head.find("# HELP"), std::string::npos) << head;
}

TEST_F(E2eHttpClients, ABodyMayComeInChunks) {
  const std::string answer =
      Curl({"-H", "Transfer-Encoding: chunked", "-d", kAsk, Url("/v1/request")});
  EXPECT_NE(answer.find("\"remaining\":2"), std::string::npos) << answer;
}

TEST_F(E2eHttpClients, WhoeverWaitsToSendABodyIsToldToGoOn) {
  const std::string answer = Curl({"-v", "--expect100-timeout", "9", "-H", "Expect: 100-continue",
                                   "-d", kAsk, Url("/v1/request")});
  EXPECT_NE(answer.find("HTTP/1.1 100 Continue\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\"remaining\":2"), std::string::npos) << answer;
}

TEST_F(E2eHttpClients, Http10IsAnsweredAndClosed) {
  const std::string answer = Curl({"-v", "--http1.0", "-d", kAsk, Url("/v1/request")});
  EXPECT_NE(answer.find("\"remaining\":2"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("Closing connection"), std::string::npos) << answer;
}

TEST_F(E2eHttpClients, TheAuthPathAnswersWithAStatusAlone) {
  for (const char* status : {"200", "200", "200", "429"}) {
    const std::string answer = Curl({Auth("bob")});
    EXPECT_EQ(answer.substr(9, 3), status);
    EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
  }
  EXPECT_EQ(Curl({Auth("bob") + "&deny=403"}).substr(9, 3), "403");
  EXPECT_EQ(Curl({"-d", "a body that is not read", Auth("bob")}).substr(9, 3), "429");
}

TEST_F(E2eHttpClients, ManyCurlsAtOnceGetExactlyTheLimit) {
  std::vector<std::string> words = {"--parallel", "--parallel-max", "16", "-w", "%{http_code}\n"};
  for (int i = 0; i < 50; ++i) words.insert(words.end(), {"-o", "/dev/null", Auth("crowd")});
  const std::string answers = Curl(words);
  EXPECT_EQ(Count(answers, "200\n"), 3u) << answers;
  EXPECT_EQ(Count(answers, "429\n"), 47u) << answers;
}

}  // namespace
}  // namespace weir::e2e::http_clients_test
