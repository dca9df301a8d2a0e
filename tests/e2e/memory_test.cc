// What a server takes of the machine's memory stays near --memory, whatever fills it.
#include <gtest/gtest.h>

#include <functional>

#include "tests/e2e/server_process.h"

namespace weir::e2e::memory_test {
namespace {

constexpr char kRules[] = R"(
namespaces:
  shop:
    resources:
      daily: {limits: [{limit: 10, per: 1d}]}
      bucket: {limits: [{limit: 1000000, per: 1d}]}
      log: {limits: [{algorithm: sliding_log, limit: 10, per: 1d}]}
      box: {copies: {per_subject: 1000000000}}
)";
constexpr size_t kMemory = size_t{32} << 20;

class E2eMemory : public ::testing::Test {
 protected:
#ifdef WEIR_SANITIZED
  void SetUp() override { GTEST_SKIP() << "a sanitizer takes memory of its own"; }
#endif

  TemporaryFiles files_;
  ServerProcess server_{{"--config", files_.Write("rules.yaml", kRules), "--http", "off", "--grpc",
                         "off", "--memory", std::to_string(kMemory)}};
  Socket socket_{server_.port("resp")};

  // Sends so many commands, and waits for the answers.
  void Flood(int from, int to, const std::function<std::string(int)>& command) {
    constexpr int kAtOnce = 1000;
    for (int i = from; i < to; i += kAtOnce) {
      std::string bytes;
      for (int j = i; j < std::min(i + kAtOnce, to); ++j) bytes += command(j) + "\r\n";
      ASSERT_TRUE(socket_.Send(bytes + "PING\r\n"));
      ASSERT_TRUE(socket_.ReadUntil("+PONG\r\n").ends_with("+PONG\r\n"));
    }
  }
  // Floods until the memory is full and then some. What is beyond the base is at most 1.15 times
  // what is allowed, all along.
  void StaysWithin(int commands, const std::function<std::string(int)>& command,
                   size_t full = kMemory / 2) {
    Flood(0, 1000, command);
    const size_t base = server_.resident_bytes();
    size_t most = 0;
    for (int i = 1000; i < commands; i += commands / 20) {
      Flood(i, i + commands / 20, command);
      most = std::max(most, server_.resident_bytes());
    }
    RecordProperty("percent", static_cast<int>((most - base) * 100 / kMemory));
    EXPECT_LE(most, base + kMemory * 115 / 100);
    EXPECT_GE(most, base + full) << "it was never full";
  }
};

TEST_F(E2eMemory, BucketsStayWithinWhatIsAllowed) {
  StaysWithin(1'600'000, [](int i) { return "CL.THROTTLE " + std::to_string(i) + " 0 1 86400"; });
}

TEST_F(E2eMemory, LogsStayWithinWhatIsAllowed) {
  StaysWithin(400'000, [](int i) { return "WEIR.REQUEST shop log " + std::to_string(i); });
}

// Logs that grow, unevenly, and are dropped as others grow.
TEST_F(E2eMemory, LogsOfAllSizesStayWithinWhatIsAllowed) {
  StaysWithin(600'000, [](int i) {
    return "WEIR.REQUEST shop log " + std::to_string(i % (i % 7 == 0 ? 30'000 : 300'000));
  });
}

TEST_F(E2eMemory, TicketsStayWithinWhatIsAllowed) {
  StaysWithin(
      400'000,
      [](int i) { return "WEIR.REQUEST shop bucket s" + std::to_string(i % 200'000) + " SETTLE"; },
      kMemory / 4);
}

// A connection that ends with very many holds does not keep others waiting.
TEST_F(E2eMemory, TheEndOfAConnectionWithManyHoldsStallsNobody) {
  constexpr int kHolds = 40'000;
  Socket other(server_.port("resp"));
  Flood(0, kHolds, [](int) { return "WEIR.RESERVE shop box ann"; });
  EXPECT_LE(server_.resident_bytes(), (size_t{64} << 20) + kMemory);
  socket_.CloseSending();
  const std::string looks = "WEIR.RESERVE shop box ann\r\n";
  // Copies of the dead connection come back by and by, and all of them.
  std::string answer;
  for (int i = 0; i < 200'000 && answer.find("held\r\n:1\r\n") == std::string::npos; ++i) {
    ASSERT_TRUE(other.Send(looks));
    answer = other.ReadUntil("groups");
    const size_t hold = answer.find("hold\r\n$32\r\n");
    ASSERT_NE(hold, std::string::npos) << answer;
    ASSERT_TRUE(other.Send("WEIR.RELEASE " + answer.substr(hold + 11, 32) + "\r\nPING\r\n"));
    ASSERT_TRUE(other.ReadUntil("+PONG\r\n").ends_with("+PONG\r\n"));
  }
  EXPECT_NE(answer.find("held\r\n:1\r\n"), std::string::npos) << answer;
}

// The attack: a flood of newcomers with full debt against the subjects of a namespace.
TEST_F(E2eMemory, AFloodOfCarriedLimitsResetsNobody) {
  Flood(0, 100, [](int i) { return "WEIR.REQUEST shop daily u" + std::to_string(i) + " COST 9"; });
  Flood(0, 1'600'000, [](int i) { return "CL.THROTTLE " + std::to_string(i) + " 0 1 86400"; });
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(
        socket_.Send("WEIR.REQUEST shop daily u" + std::to_string(i) + " COST 9\r\nPING\r\n"));
    const std::string answer = socket_.ReadUntil("+PONG\r\n");
    EXPECT_NE(answer.find("allowed\r\n:0"), std::string::npos) << answer;
  }
}

}  // namespace
}  // namespace weir::e2e::memory_test
