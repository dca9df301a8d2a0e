// What runs late is decided when it runs: nobody's waiting moves anybody's clock.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "tests/e2e/hold_session.h"
#include "tests/e2e/server_process.h"

namespace weir::e2e::late_callbacks_test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr char kRules[] = R"(
namespaces:
  n:
    resources:
      slow: {limits: [{limit: 1000, per: 1000s}]}
      box: {copies: {per_subject: 1}}
)";

class E2eLateCallbacks : public ::testing::Test {
 protected:
  std::string Ask(const std::string& path, const std::string& body) {
    Socket socket(server_.port("http"));
    socket.Send("POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    return socket.ReadAll();
  }
  // Until the bucket of `victim` is full again.
  milliseconds Reset() {
    const std::string answer =
        Ask("/v1/peek", R"({"namespace":"n","resource":"slow","subject":"victim"})");
    const size_t at = answer.find("\"reset_after_ms\":");
    EXPECT_NE(at, std::string::npos) << answer;
    return milliseconds(std::atol(answer.c_str() + at + 17));
  }
  // The reset falls as time passes, whatever `work` does meanwhile.
  template <typename Work>
  void ExpectTimePassesAsEver(const Work& work) {
    const auto begin = Clock::now();
    const milliseconds before = Reset();
    const auto inner_begin = Clock::now();
    work();
    const auto inner_end = Clock::now();
    const milliseconds after = Reset();
    const auto end = Clock::now();
    constexpr milliseconds kRounding(20);
    EXPECT_LE(before - after, (end - begin) + kRounding);
    EXPECT_GE(before - after, (inner_end - inner_begin) - kRounding);
  }

  TemporaryFiles files_;
  ServerProcess server_{
      {"--config", files_.Write("rules.yaml", kRules), "--poolcounter", "127.0.0.1:0"}};
};

TEST_F(E2eLateCallbacks, APoolCounterTimeoutMovesNobodysClock) {
  Ask("/v1/request", R"({"namespace":"n","resource":"slow","subject":"victim","cost":1000})");
  Socket holder(server_.port("poolcounter"));
  holder.Send("ACQ4ME lock 1 9 5\n");
  ASSERT_EQ(holder.ReadUntil("\n"), "LOCKED\n");
  ExpectTimePassesAsEver([&] {
    Socket waiter(server_.port("poolcounter"));
    waiter.Send("ACQ4ME lock 1 9 2\n");
    EXPECT_EQ(waiter.ReadUntil("\n"), "TIMEOUT\n");
  });
}

TEST_F(E2eLateCallbacks, WhoHangsUpOnAReserveMovesNobodysClock) {
  Ask("/v1/request", R"({"namespace":"n","resource":"slow","subject":"victim","cost":1000})");
  const auto holder = HoldSession::OverResp(server_.port("resp"));
  const HoldAnswer hold = holder->Reserve("ann", 1, 1, milliseconds(0));
  ASSERT_EQ(hold.kind, HoldAnswer::kYes) << hold.text;
  const std::string opened = Ask("/v1/session", R"({"ttl_ms":15000})");
  const std::string session = opened.substr(opened.find("\"session\":\"") + 11, 32);
  ExpectTimePassesAsEver([&] {
    const std::string body = R"({"session":")" + session +
                             R"(","namespace":"n","resource":"box","subject":"ann",)"
                             R"("copies":1,"wait_ms":10000})";
    {
      Socket waiter(server_.port("http"));
      waiter.Send("POST /v1/reserve HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n" + body);
      // Something to wait for: another who loses patience.
      const auto other = HoldSession::OverResp(server_.port("resp"));
      EXPECT_EQ(other->Reserve("ann", 1, 1, milliseconds(1500)).kind, HoldAnswer::kNo);
    }
    const HoldAnswer released = holder->Release(hold.name, 1);
    EXPECT_EQ(released.kind, HoldAnswer::kYes) << released.text;
    // Who has hung up was granted it, and has given it back.
    EXPECT_EQ(holder->Reserve("ann", 1, 1, milliseconds(5000)).kind, HoldAnswer::kYes);
  });
}

}  // namespace
}  // namespace weir::e2e::late_callbacks_test
