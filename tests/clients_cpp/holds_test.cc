#include <gtest/gtest.h>

#include "clients/cpp/src/local_transfer.h"
#include "tests/clients_cpp/fakes.h"

namespace weir::client::holds_test {
namespace {

// Figures 5 and 6 of the paper on Charon.
TEST(Holds, LeavingScopeReleasesWhatIsLeftOnce) {
  CopyServer server({{"seats", 15}});
  Bench bench(std::ref(server));
  std::string transfer;
  try {
    Hold hold = bench.client.Reserve("shop", "seats", "ann", {.copies = 15});
    EXPECT_EQ(hold.Release(4), 11u);
    transfer = hold.Transfer(6, 30s);
    EXPECT_EQ(hold.copies(), 5u);
    EXPECT_EQ(server.free["seats"], 4);
    throw std::runtime_error("whatever");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(server.free["seats"], 9);
  EXPECT_EQ(bench.wire->Asked("WEIR.RELEASE").size(), 2u);
  EXPECT_EQ(Option(bench.wire->Asked("WEIR.TRANSFER")[0], "TTL", 0), 30000);
  {
    const Hold seized = bench.client.Seize(transfer);
    EXPECT_EQ(seized.copies(), 6u);
    EXPECT_EQ(seized.resource(), "seats");
  }
  EXPECT_EQ(server.free["seats"], 15);
}

TEST(Holds, MovingOneMovesWhatIsHeld) {
  CopyServer server({{"seats", 5}});
  Bench bench(std::ref(server));
  Hold first = bench.client.Reserve("shop", "seats", "ann", {.copies = 2});
  {
    Hold second = bench.client.Reserve("shop", "seats", "bob", {.copies = 3});
    first = std::move(second);
    EXPECT_EQ(server.free["seats"], 2) << "what was held before is released";
  }
  EXPECT_EQ(server.free["seats"], 2);
  EXPECT_EQ(first.subject(), "bob");
  EXPECT_EQ(first.Release(), 0u);
  EXPECT_EQ(server.free["seats"], 5);
}

TEST(Holds, MoreThanIsLeftIsNotReleased) {
  CopyServer server({{"seats", 3}});
  Bench bench(std::ref(server));
  Hold hold = bench.client.Reserve("shop", "seats", "ann", {.copies = 3});
  EXPECT_EQ(CodeOf([&] { hold.Release(4); }), "not_held");
  EXPECT_EQ(hold.copies(), 3u);
  EXPECT_EQ(hold.Release(0), 3u);
  EXPECT_EQ(CodeOf([&] { hold.Transfer(0, 1s); }), "not_held");
}

TEST(Holds, WhatTheServerDidNotReleaseOrTransferIsStillHeld) {
  CopyServer server({{"seats", 3}});
  bool turn_down = true;
  Bench bench([&](const Question& question) {
    const bool other = question.words[0] != "WEIR.RESERVE";
    return turn_down && other ? Value::Error("BAD_REQUEST ttl is 0") : server(question);
  });
  {
    Hold hold = bench.client.Reserve("shop", "seats", "ann", {.copies = 3});
    EXPECT_EQ(CodeOf([&] { hold.Transfer(2, 0s); }), "bad_request");
    EXPECT_EQ(CodeOf([&] { hold.Release(1); }), "bad_request");
    EXPECT_EQ(hold.copies(), 3u);
    turn_down = false;
  }
  EXPECT_EQ(server.free["seats"], 3);
}

TEST(Holds, ARefusedOneHasNothingToRelease) {
  CopyServer server({{"seats", 0}});
  Bench bench(std::ref(server));
  {
    const Hold hold = bench.client.Reserve("shop", "seats", "ann");
    EXPECT_FALSE(hold.allowed());
    EXPECT_EQ(CodeOf([&] { hold.ThrowIfRefused(); }), "refused");
  }
  EXPECT_TRUE(bench.wire->Asked("WEIR.RELEASE").empty());
}

TEST(Holds, ThoseOfALostSessionAreToldToBeGone) {
  std::vector<uint64_t> lost;
  CopyServer server({{"seats", 3}});
  Bench bench(std::ref(server), {.on_lost = [&](const LostHold& hold) {
                lost.push_back(hold.copies);
                EXPECT_EQ(hold.resource, "seats");
              }});
  {
    Hold hold = bench.client.Reserve("shop", "seats", "ann", {.copies = 2});
    bench.wire->sessions["a:1"]->End();
    EXPECT_TRUE(hold.lost());
    EXPECT_EQ(hold.copies(), 0u);
    EXPECT_EQ(lost, std::vector<uint64_t>{2});
    EXPECT_THROW(hold.Release(1), HoldLost);
    EXPECT_THROW(hold.Transfer({}, 1s), HoldLost);
  }
  EXPECT_TRUE(bench.wire->Asked("WEIR.RELEASE").empty());
  EXPECT_EQ(bench.client.counters().holds_lost, 1u);
}

TEST(Holds, AReleaseThatFailsOnLeavingScopeIsCounted) {
  CopyServer server({{"seats", 3}});
  Bench bench([&](const Question& question) {
    if (question.words[0] == "WEIR.RELEASE") BeAway();
    return server(question);
  });
  { const Hold hold = bench.client.Reserve("shop", "seats", "ann"); }
  EXPECT_EQ(bench.client.counters().releases_failed, 1u);
}

TEST(Holds, InLineTheServerKeepsTheOrderAndTheTime) {
  FakeClock* clock = nullptr;
  Bench bench([&](const Question& question) {
    if (question.words[0] == "PING") return Value::Text("PONG");
    clock->now += 5s;
    return NotGranted("timeout");
  });
  clock = bench.clock.get();
  const Hold hold = bench.client.Reserve("shop", "seats", "ann",
                                         {.max_wait = 5s, .in_line = true, .max_queue = 3});
  EXPECT_EQ(hold.reservation().outcome, Outcome::kTimeout);
  EXPECT_EQ(hold.waited(), 5s);
  EXPECT_EQ(hold.attempts(), 1);
  const Question question = bench.wire->Asked("WEIR.RESERVE")[0];
  EXPECT_EQ(Option(question, "WAIT", 0), 5000);
  EXPECT_EQ(Option(question, "QUEUE", 0), 3);
  EXPECT_EQ(question.timeout, 5500ms);
  EXPECT_EQ(question.place, Place::kOwnSession);
  EXPECT_TRUE(clock->sleeps.empty());
}

TEST(Holds, WorkThatAnotherHasDoneIsNeitherAskedForAgainNorOverruled) {
  Bench bench([](const Question&) { return NotGranted("done"); });
  bench.kill_switch.Set(true);
  const Hold hold = bench.client.Reserve("shop", "page", "ann", {.max_wait = 9s, .share = true});
  EXPECT_FALSE(hold.allowed());
  EXPECT_EQ(hold.reservation().outcome, Outcome::kDone);
  EXPECT_EQ(bench.wire->questions.size(), 1u);
  EXPECT_EQ(bench.wire->questions[0].words.back(), "SHARE");
}

TEST(Holds, TheAnswerTellsWhatIsLeft) {
  Bench bench([](const Question&) {
    return Map({{"allowed", Value::Integer(0)},
                {"held", Value::Integer(2)},
                {"per_subject", Value::Integer(5)},
                {"held_total", Value::Integer(7)},
                {"total", Value::Integer(8)},
                {"groups", Value::List({Map({{"name", Value::Text("all")},
                                             {"limit", Value()},
                                             {"held", Value::Integer(9)}})})}});
  });
  const Hold hold = bench.client.Reserve("shop", "seats", "ann", {.copies = 2});
  EXPECT_EQ(hold.remaining(), 1u);
  ASSERT_EQ(hold.reservation().groups.size(), 1u);
  EXPECT_EQ(hold.reservation().groups[0].limit, kUnlimited);
}

TEST(Holds, TheClientMayGoFirst) {
  CopyServer server({{"seats", 3}});
  auto bench = std::make_unique<Bench>(std::ref(server));
  const Hold hold = bench->client.Reserve("shop", "seats", "ann");
  bench.reset();
  EXPECT_EQ(hold.copies(), 1u);
}

TEST(LocalTransfers, AreReadAndWrittenAsThePythonClientDoes) {
  // weir.holds.local_transfer of ("shop", "s\u00e9ats \"x\"", "ann"), 3 copies.
  const std::string python = "local:WyJzaG9wIiwgInNcdTAwZTlhdHMgXCJ4XCIiLCAiYW5uIiwgM10=";
  const auto read = ReadLocalTransfer(python);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->target.resource, "s\u00e9ats \"x\"");
  EXPECT_EQ(read->copies, 3u);
  const auto again = ReadLocalTransfer(WriteLocalTransfer(*read));
  EXPECT_EQ(again->target.resource, read->target.resource);
  EXPECT_EQ(again->copies, 3u);
  EXPECT_FALSE(ReadLocalTransfer("0123456789abcdef0123456789abcdef").has_value());
  for (const char* bad : {"local:", "local:!", "local:W10=", "local:WzEsMiwzLDRd"}) {
    EXPECT_EQ(CodeOf([&] { ReadLocalTransfer(bad); }), "unknown_transfer") << bad;
  }
}

}  // namespace
}  // namespace weir::client::holds_test
