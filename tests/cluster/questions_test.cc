#include "cluster/questions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cluster/fake_network.h"

namespace weir::cluster::questions_test {
namespace {

using Outcome = Node::Answer::Outcome;

// Two nodes; the one that is asked counts how often it has carried something out.
class AskedAcross : public ::testing::Test {
 protected:
  void Start(uint64_t seed = 1, const Faults& faults = {}) {
    network_ = FakeNetwork(seed);
    NodeOptions options;
    options.answer = [this](std::string_view question, Instant) {
      return "answer " + std::to_string(++carried_out_[std::string(question)]) + " to " +
             std::string(question);
    };
    for (const char* id : {"a", "b"}) network_.Start(id, 1, {"a", "b"}, options);
    network_.RunFor(1s);
    network_.faults = faults;
  }
  void Ask(const std::string& text, const std::string& whom = "b") {
    network_.node("a").Ask([whom](std::string_view id) { return id == whom; }, text, network_.now,
                           [this](const Node::Answer& answer) {
                             answers_.emplace_back(answer.outcome, std::string(answer.text));
                           });
  }

  FakeNetwork network_;
  std::map<std::string, int> carried_out_;
  std::vector<std::pair<Outcome, std::string>> answers_;
};

TEST_F(AskedAcross, AnAnswerTakesARoundTrip) {
  Start();
  Ask("x");
  EXPECT_TRUE(answers_.empty());
  network_.RunFor(3ms);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0], std::pair(Outcome::kAnswered, std::string("answer 1 to x")));
  EXPECT_EQ(network_.node("a").Status(network_.now).questions.answered, 1u);
  EXPECT_EQ(network_.node("b").Status(network_.now).questions.given, 1u);
}

TEST_F(AskedAcross, EachIsCarriedOutOnceWhateverIsLostAndRepeated) {
  size_t answered = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    carried_out_.clear();
    answers_.clear();
    Start(seed, {.lose = 0.4, .duplicate = 0.3, .most_delay = 80ms});
    for (int i = 0; i < 50; ++i) Ask(std::to_string(i));
    network_.RunFor(5s);
    ASSERT_EQ(answers_.size(), 50u) << "each is answered or given up, once";
    for (const auto& [question, times] : carried_out_) EXPECT_EQ(times, 1) << question;
    for (const auto& [outcome, text] : answers_) answered += outcome == Outcome::kAnswered ? 1 : 0;
  }
  EXPECT_GT(answered, 800u) << "of a thousand";
}

TEST_F(AskedAcross, OneThatIsSilentIsWaitedForForASecond) {
  Start();
  network_.deaf["b"] = true;
  Ask("x");
  network_.RunFor(990ms);
  EXPECT_TRUE(answers_.empty());
  network_.RunFor(20ms);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0], std::pair(Outcome::kSilentNode, std::string("b")));
}

TEST_F(AskedAcross, TheDeadAndTheUnknownAreNotWaitedFor) {
  Start();
  network_.cut["b"] = true;
  network_.RunFor(10s);
  Ask("x");
  Ask("x", "nobody");
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_EQ(answers_[0].first, Outcome::kDeadNode);
  EXPECT_EQ(answers_[1].first, Outcome::kUnknownNode);
}

TEST_F(AskedAcross, WhoeverLeavesAnswersForThoseItHasAsked) {
  Start();
  Ask("x");
  network_.node("a").Leave(network_.now);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0].first, Outcome::kSilentNode);
}

TEST(Questions, AreBoundedInNumberAndSize) {
  Questions questions;
  EXPECT_FALSE(questions.Ask(1, std::string(Questions::kMostBytes + 1, 'x'), kStart, {}));
  for (size_t i = 0; i < Questions::kMostOpen; ++i) {
    ASSERT_TRUE(questions.Ask(1, "x", kStart, [](auto) {}));
  }
  EXPECT_FALSE(questions.Ask(1, "x", kStart, {}));
}

TEST(Questions, AnAnswerFromAnotherNodeIsNone) {
  Questions questions;
  int answers = 0;
  questions.Ask(1, "x", kStart, [&](auto) { answers += 1; });
  const uint64_t number = questions.Tick(kStart).at(0).number;
  questions.Take(2, number, "y");
  EXPECT_EQ(answers, 0);
  questions.Take(1, number, "y");
  questions.Take(1, number, "y");
  EXPECT_EQ(answers, 1);
}

TEST(Questions, WhatWasAnsweredIsForgottenAfterAWhile) {
  Questions questions;
  int carried_out = 0;
  const auto answer = [&](Origin asker, Instant now) {
    return questions.Answer(asker, 7, now, [&] { return std::to_string(++carried_out); });
  };
  EXPECT_EQ(answer({1, 1}, kStart), "1");
  EXPECT_EQ(answer({1, 1}, kStart + Questions::kKeep - 1ns), "1");
  EXPECT_EQ(answer({1, 2}, kStart + Questions::kKeep - 1ns), "2") << "another life's question";
  EXPECT_EQ(answer({1, 1}, kStart + Questions::kKeep), "3");
}

}  // namespace
}  // namespace weir::cluster::questions_test
