#include <gtest/gtest.h>

#include <set>

#include "tests/clients_cpp/fakes.h"

namespace weir::client::failover_test {
namespace {

TEST(Failover, TheNextAddressAnswersAndTheFirstIsPreferredOnceItIsBack) {
  std::set<std::string> away = {"a:1"};
  Bench bench(
      [&](const Question& question) {
        if (away.contains(question.address)) BeAway();
        return Allowed();
      },
      {.addresses = {"a:1", "b:1"}, .probe_after = 1s});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bench.Ask().address, "b:1");
  EXPECT_EQ(bench.wire->questions.size(), 4u);
  EXPECT_FALSE(bench.client.degraded());
  away.clear();
  bench.clock->now += 1100ms;
  EXPECT_EQ(bench.Ask().address, "a:1");
  EXPECT_EQ(bench.client.counters().failovers, 1u);
  EXPECT_EQ(bench.client.counters().degraded_entered, 0u);
}

TEST(Failover, ATicketIsSettledWhereItWasGiven) {
  bool away = true;
  Bench bench(
      [&](const Question& question) {
        if (away && question.address == "a:1") BeAway();
        if (question.words[0] == "WEIR.SETTLE") return Map({{"charged", Value::Integer(2)}});
        return Map({{"allowed", Value::Integer(1)}, {"ticket", Value::Text("t")}});
      },
      {.addresses = {"a:1", "b:1"}});
  const Decision decision = bench.Ask({.settle = true});
  away = false;
  bench.clock->now += 10s;
  EXPECT_EQ(bench.client.Settle(decision, 2).charged, 2u);
  EXPECT_EQ(bench.wire->questions.back().address, "b:1");
  EXPECT_EQ(bench.wire->questions.back().words,
            (std::vector<std::string>{"WEIR.SETTLE", "t", "2"}));
}

TEST(Failover, AnErrorOfTheCallerIsNotAskedElsewhere) {
  Bench bench([](const Question&) { return Value::Error("BAD_REQUEST cost"); },
              {.addresses = {"a:1", "b:1"}});
  EXPECT_EQ(CodeOf([&] { bench.Ask(); }), "bad_request");
  EXPECT_EQ(bench.wire->questions.size(), 1u);
}

TEST(Failover, AClientWithoutAnAddressIsAMistake) {
  EXPECT_EQ(CodeOf([] { Client client(Options{}); }), "bad_request");
  EXPECT_EQ(CodeOf([] { Client client("localhost"); }), "bad_request");
}

}  // namespace
}  // namespace weir::client::failover_test
