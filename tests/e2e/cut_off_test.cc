// A client that is cut off closes nothing: the server has to find out, within --session-timeout.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/e2e/hold_session.h"
#include "tests/e2e/network_namespace.h"
#include "tests/e2e/server_process.h"

namespace weir::e2e::cut_off_test {
namespace {

using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

constexpr char kRules[] = "namespaces: {n: {resources: {box: {copies: {per_subject: 1}}}}}\n";
constexpr Millis kTimeout(2000);
constexpr Millis kUntilFound(1000);  // the kernel counts in whole seconds

bool Reserves(HoldSession& session, Millis wait) {
  return session.Reserve("ann", 1, 1, wait).kind == HoldAnswer::kYes;
}

void LosesItsHoldsWhenCutOff() {
  const TemporaryFiles files;
  const ServerProcess server({"--config", files.Write("rules.yaml", kRules), "--session-timeout",
                              std::to_string(kTimeout.count()) + "ms"});
  const auto holder = HoldSession::OverResp(server.port("resp"));
  const auto other = HoldSession::OverResp(server.port("resp"));
  ASSERT_TRUE(holder != nullptr && other != nullptr) << server.log();
  ASSERT_TRUE(Reserves(*holder, Millis(0)));
  EXPECT_FALSE(Reserves(*other, kTimeout + kUntilFound)) << "silence alone is no reason";

  SetLoopback(false);
  const auto cut = Clock::now();
  EXPECT_EQ(other->Renew().kind, HoldAnswer::kLost) << "it is not cut off at all";
  ASSERT_GE(Clock::now() - cut, kTimeout + kUntilFound);
  SetLoopback(true);

  const auto newcomer = HoldSession::OverResp(server.port("resp"));
  ASSERT_NE(newcomer, nullptr);
  EXPECT_TRUE(Reserves(*newcomer, Millis(0)));
  EXPECT_EQ(holder->Renew().kind, HoldAnswer::kLost) << "and its connection with them";
}

TEST(E2eCutOff, AClientLosesItsHoldsWithinTheSessionTimeout) {
  const std::string why_not = WhyNoOwnNetwork();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_TRUE(InOwnNetwork(LosesItsHoldsWhenCutOff));
}

}  // namespace
}  // namespace weir::e2e::cut_off_test
