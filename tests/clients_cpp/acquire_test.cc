// The same number of several resources, or of none.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/clients_cpp/fakes.h"

namespace weir::client::acquire_test {
namespace {

Copies C(const std::string& name) { return {"shop", name, "ann"}; }
Rate R(const std::string& name) { return {"shop", name, "ann"}; }

TEST(AcquireAll, TheSameNumberOfEachAndSurplusGoesBackOnTheWay) {
  CopyServer server({{"a", 10}, {"b", 6}, {"c", 8}, {"r", 4}});
  Bench bench(std::ref(server));
  using Free = std::map<std::string, int64_t>;
  {
    const Acquired acquired =
        bench.client.AcquireAll({C("a"), C("b"), C("c"), R("r")}, {.min = 2, .max = 9});
    EXPECT_TRUE(acquired.allowed());
    EXPECT_EQ(acquired.copies, 4u);
    EXPECT_EQ(acquired.decision->granted, 4u);
    for (const Hold& hold : acquired.holds) EXPECT_EQ(hold.copies(), 4u);
    EXPECT_EQ(server.free, (Free{{"a", 6}, {"b", 2}, {"c", 4}, {"r", 0}}));
  }
  EXPECT_EQ(server.free, (Free{{"a", 10}, {"b", 6}, {"c", 8}, {"r", 0}}));
}

TEST(AcquireAll, ARefusalGivesEverythingBack) {
  CopyServer server({{"a", 10}, {"b", 1}, {"r", 9}});
  Bench bench(std::ref(server));
  const Acquired acquired = bench.client.AcquireAll({C("a"), C("b"), R("r")}, {.min = 2, .max = 9});
  EXPECT_FALSE(acquired.allowed());
  EXPECT_EQ(acquired.copies, 0u);
  EXPECT_EQ(acquired.refused_by, "b");
  EXPECT_EQ(server.free["a"], 10);
  EXPECT_EQ(CodeOf([&] { acquired.ThrowIfRefused(); }), "refused");
  EXPECT_TRUE(bench.wire->Asked("WEIR.REQUEST").empty());
}

TEST(AcquireAll, AllShareOneBudget) {
  CopyServer server({{"a", 1}, {"b", 0}});
  FakeClock* clock = nullptr;
  Bench bench([&](const Question& question) {
    return clock->now < 1003s ? NotGranted() : server(question);
  });
  clock = bench.clock.get();
  const Acquired acquired = bench.client.AcquireAll({C("a"), C("b")}, {.max_wait = 5s});
  EXPECT_FALSE(acquired.allowed());
  EXPECT_EQ(acquired.waited, 5s);
  EXPECT_EQ(clock->sleeps, (std::vector<Duration>{1s, 2s, 1s, 1s}));
}

TEST(AcquireAll, AnErrorGivesEverythingBack) {
  CopyServer server({{"a", 3}});
  Bench bench([&](const Question& question) {
    const bool b = question.words[0] == "WEIR.RESERVE" && question.words[2] == "b";
    return b ? Value::Error("UNKNOWN_RESOURCE b") : server(question);
  });
  EXPECT_EQ(CodeOf([&] { bench.client.AcquireAll({C("a"), C("b")}); }), "unknown_resource");
  EXPECT_EQ(server.free["a"], 3);
}

TEST(AcquireAll, WhatCouldNotBeGivenBackComesLastAndAlone) {
  CopyServer server({});
  Bench bench(std::ref(server));
  const std::vector<std::vector<Wanted>> wrong = {{}, {R("r"), C("a")}, {C("a"), R("r"), R("s")}};
  for (const auto& wanted : wrong) {
    EXPECT_EQ(CodeOf([&] { bench.client.AcquireAll(wanted); }), "bad_request");
  }
  for (const AcquireOptions& options : {AcquireOptions{.min = 0}, AcquireOptions{.min = 3}}) {
    EXPECT_EQ(CodeOf([&] { bench.client.AcquireAll({C("a")}, options); }), "bad_request");
  }
  EXPECT_TRUE(bench.wire->questions.empty());
}

RC_GTEST_PROP(AcquireAll, GrantsTheMostThatAllHaveOrNothingAndLeaksNothing, ()) {
  const auto count = *rc::gen::inRange(1, 6);
  const bool with_rate = *rc::gen::arbitrary<bool>();
  const auto least = static_cast<uint64_t>(*rc::gen::inRange(1, 6));
  const uint64_t most = least + static_cast<uint64_t>(*rc::gen::inRange(0, 6));
  std::map<std::string, int64_t> free;
  std::vector<Wanted> wanted;
  auto expected = static_cast<int64_t>(most);
  for (int i = 0; i < count; ++i) {
    const std::string name = "r" + std::to_string(i);
    free[name] = *rc::gen::inRange<int64_t>(0, 12);
    expected = std::min(expected, free[name]);
    const bool rate = with_rate && i == count - 1;
    wanted.push_back(rate ? Wanted(R(name)) : Wanted(C(name)));
  }
  if (expected < static_cast<int64_t>(least)) expected = 0;

  CopyServer server(free);
  Bench bench(std::ref(server));
  {
    const Acquired acquired = bench.client.AcquireAll(wanted, {.min = least, .max = most});
    RC_ASSERT(acquired.copies == static_cast<uint64_t>(expected));
    for (const auto& [name, left] : server.free) RC_ASSERT(left == free[name] - expected);
  }
  if (with_rate) free["r" + std::to_string(count - 1)] -= expected;
  RC_ASSERT(server.free == free);
}

}  // namespace
}  // namespace weir::client::acquire_test
