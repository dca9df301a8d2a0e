#include "server/settle_elsewhere.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/limiter/testing.h"

namespace weir::settle_elsewhere_test {
namespace {

using Answer = cluster::Node::Answer;
using Outcome = Answer::Outcome;
using testing::kStart;

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{limit: 10, per: 1h}]}}}}";

SettleRequest Asked(Limiter& limiter, uint64_t cost) {
  Request request{"shop", "search", "ann", 5};
  request.settle = true;
  return {limiter.Decide(request, kStart).ticket, cost};
}

Result<Settled> Settle(Limiter& limiter, const SettleRequest& request) {
  const std::string answer = SettleAnswer(limiter, SettleQuestion(request), kStart);
  return ReadSettleAnswer({Outcome::kAnswered, answer});
}

TEST(SettleElsewhere, IsAsIfItWereHere) {
  const auto limiter = testing::Open(kRules);
  const SettleRequest request = Asked(*limiter, 2);
  const Result<Settled> settled = Settle(*limiter, request);
  ASSERT_TRUE(settled.ok());
  EXPECT_EQ(settled->charged, 2u);
  EXPECT_EQ(settled->remaining, 8u);
  const Result<Settled> again = Settle(*limiter, request);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::kUnknownTicket);
  EXPECT_EQ(Settle(*limiter, Asked(*limiter, UINT64_MAX)).error().code, Code::kBadRequest);
}

TEST(SettleElsewhere, ANodeThatCannotBeAskedIsNamed) {
  const auto error = [](Outcome outcome) { return ReadSettleAnswer({outcome, "b"}).error(); };
  EXPECT_EQ(error(Outcome::kUnknownNode).code, Code::kUnknownTicket);
  for (const Outcome outcome : {Outcome::kDeadNode, Outcome::kSilentNode}) {
    EXPECT_EQ(error(outcome).code, Code::kUnavailable);
    EXPECT_TRUE(error(outcome).message.starts_with("node b, which issued the ticket, "));
  }
  EXPECT_EQ(error(Outcome::kTooMany).code, Code::kOverloaded);
}

RC_GTEST_PROP(SettleElsewhere, AnyBytesAreAnErrorOrAnAnswer, (const std::string& bytes)) {
  static const auto limiter = testing::Open(kRules);
  RC_ASSERT(!ReadSettleAnswer({Outcome::kAnswered, SettleAnswer(*limiter, bytes, kStart)}).ok());
  const Result<Settled> read = ReadSettleAnswer({Outcome::kAnswered, bytes});
  RC_ASSERT(read.ok() == (bytes.size() == 17 && bytes[0] == 0));
}

}  // namespace
}  // namespace weir::settle_elsewhere_test
