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
  const std::string answer = SettleAnswer(limiter, *SettleQuestion(request), kStart);
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
  RC_ASSERT(read.ok() == (bytes.size() == 18 && bytes[0] == 1 && bytes[1] == 0));
}

TEST(SettleElsewhere, ATokenSettlesOnlyWhereItReaches) {
  const auto limiter = testing::Open(kRules);
  SettleRequest request = Asked(*limiter, 2);
  const Reach elsewhere{.namespaces = {"bank", ""}}, here{.namespaces = {"bank", "shop"}}, none;
  for (const Reach* reach : {&elsewhere, &none}) {
    request.reach = reach;
    EXPECT_EQ(Settle(*limiter, request).error().code, Code::kUnknownTicket);
  }
  request.reach = &here;
  EXPECT_EQ(*SettleQuestion(request), std::string("\x01\x02", 2) +
                                          SettleQuestion({request.ticket, 2})->substr(2) +
                                          "\x04"
                                          "bank\x04"
                                          "shop");
  const std::string cut = SettleQuestion(request)->substr(0, 28);
  EXPECT_EQ(SettleAnswer(*limiter, cut, kStart).substr(0, 2), "\x01\x03") << "is not read";
  ASSERT_TRUE(Settle(*limiter, request).ok());
  Reach many;
  for (int i = 0; i < 10; ++i)
    many.namespaces.push_back(std::string(200, static_cast<char>('a' + i)));
  request.reach = &many;
  EXPECT_FALSE(SettleQuestion(request)) << "too long";
}

// Nodes of other versions, and with other processors, read these.
TEST(SettleElsewhere, TheBytesBetweenNodesAreTheseForEver) {
  const SettleRequest request{{0x0102030405060708, 0x090a0b0c0d0e0f10}, 0x1112131415161718};
  EXPECT_EQ(*SettleQuestion(request),
            std::string("\x01\x01"
                        "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
                        "\x11\x12\x13\x14\x15\x16\x17\x18",
                        26));
  const auto limiter = testing::Open(kRules);
  EXPECT_EQ(SettleAnswer(*limiter, *SettleQuestion(Asked(*limiter, 2)), kStart),
            std::string("\x01\x00\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x08", 18));

  const auto answer = [](const std::string& bytes) {
    return ReadSettleAnswer({Outcome::kAnswered, bytes});
  };
  const Result<Settled> settled =
      answer(std::string("\x01\x00\0\0\0\0\0\0\x01\x00\0\0\0\0\0\0\0\x03", 18));
  ASSERT_TRUE(settled.ok());
  EXPECT_EQ(settled->charged, 256u);
  EXPECT_EQ(settled->remaining, 3u);
  EXPECT_EQ(answer("\x01\x01no").error().code, Code::kBadRequest);
  EXPECT_EQ(answer("\x01\x02no").error().code, Code::kUnknownTicket);
  EXPECT_EQ(answer("\x01\x03no").error().code, Code::kUnavailable);
  EXPECT_EQ(answer("\x01\x2ano").error().code, Code::kUnavailable) << "an outcome of the future";
  EXPECT_EQ(answer("\x01\x02no").error().message, "no");
  EXPECT_EQ(answer("\x02\x00").error().message, "the ticket's node is of another version");
  EXPECT_EQ(SettleAnswer(*limiter, "\x02\x01", kStart).substr(0, 2), "\x01\x03");
  EXPECT_EQ(SettleAnswer(*limiter, std::string("\x01\x02", 2), kStart).substr(0, 2), "\x01\x03");
}

}  // namespace
}  // namespace weir::settle_elsewhere_test
