// Random scenarios hold; a seed is a trace; what fails is told in few lines.
#include <gtest/gtest.h>

#include "lab/chaos/generate.h"
#include "lab/chaos/narrator.h"
#include "lab/chaos/planted/planted.h"
#include "lab/chaos/planted/transcript.h"
#include "lab/chaos/run.h"
#include "lab/chaos/shrink.h"
#include "lab/chaos/subjects.h"

namespace weir::chaos::seeds_test {
namespace {

using std::chrono::minutes;

class Chaos : public testing::TestWithParam<EnvelopeKind> {
 protected:
  static void HoldsFor(uint64_t first, uint64_t seeds, Duration busy) {
    for (uint64_t seed = first; seed < first + seeds; ++seed) {
      const Outcome outcome = RunOnce(Generate(seed, GetParam(), busy), RealSubject(GetParam()));
      ASSERT_FALSE(outcome.violation)
          << outcome.violation->invariant << ": " << outcome.violation->what
          << "\nweir-lab chaos --kind " << NameOf(GetParam()) << " --seeds 1 --seed " << seed
          << " --hours " << std::chrono::duration<double, std::ratio<3600>>(busy).count();
    }
  }
};

TEST_P(Chaos, WhatMustHoldHoldsForManySeeds) { HoldsFor(1, 150, minutes(3)); }
TEST_P(Chaos, LongWhatMustHoldHoldsForThousandsOfSeeds) { HoldsFor(1000, 5000, minutes(10)); }

TEST_P(Chaos, TheSameSeedGivesTheSameTrace) {
  size_t lines = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {  // with several keys, windows and lives that end
    std::vector<std::string> traces[2];
    for (auto& trace : traces) {
      RunOnce(Generate(seed, GetParam(), minutes(3)), RealSubject(GetParam()), MakeNarrator(trace));
    }
    lines += traces[0].size();
    EXPECT_TRUE(traces[0] == traces[1]) << "seed " << seed;
  }
  EXPECT_GT(lines, 1000u);
}

// Counts envelopes that a transcript without lies changes.
class Copied final : public Observer {
 public:
  explicit Copied(uint64_t& changed) : changed_(changed) {}
  const char* name() const override { return "copied"; }
  void See(const Happening& h, const Cluster&) override {
    for (const Envelope& one : h.sent) changed_ += !CanBeRead(one.bytes);
  }

 private:
  // Read to its end: a lie in its head is told, and nothing else is lost.
  static bool CanBeRead(const std::string& bytes) {
    const Lies lie{.head = [](EnvelopeHead& head) { head.sender.node += 1; }};
    const Lies undo{.head = [](EnvelopeHead& head) { head.sender.node -= 1; }};
    const std::string lied = Transcribed(bytes, lie);
    return lied != bytes && Transcribed(lied, undo) == bytes;
  }
  uint64_t& changed_;
};

TEST_P(Chaos, PlantedBugsChangeOnlyWhatTheySayTheyDo) {
  uint64_t changed = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {  // buckets, windows and logs
    RunOnce(Generate(seed, GetParam(), minutes(3)), RealSubject(GetParam()),
            std::make_unique<Copied>(changed));
  }
  EXPECT_EQ(changed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Chaos,
                         testing::Values(EnvelopeKind::kCounter, EnvelopeKind::kQueue,
                                         EnvelopeKind::kDebt),
                         [](const testing::TestParamInfo<EnvelopeKind>& kind) {
                           return std::string(NameOf(kind.param));
                         });

// The first seed that finds the bug, shrunk; and what is told of it.
std::vector<std::string> Told(const std::string& name) {
  for (const PlantedBug& bug : PlantedBugs()) {
    for (uint64_t seed = 1; bug.name == name && seed <= 100; ++seed) {
      const Scenario scenario = Generate(seed, bug.kind, minutes(3));
      const Outcome outcome = RunOnce(scenario, bug.subject);
      if (!outcome.violation) continue;
      const Scenario shrunk = Shrink(scenario, bug.subject, *outcome.violation, 200, [](int) {});
      EXPECT_LE(shrunk.actions.size(), 5u);
      std::vector<std::string> lines{Described(shrunk)};
      EXPECT_TRUE(RunOnce(shrunk, bug.subject, MakeNarrator(lines)).violation);
      return lines;
    }
  }
  ADD_FAILURE() << name << " is not found";
  return {};
}

TEST(ChaosShrink, AFailureIsToldInFewActions) {
  EXPECT_FALSE(Told("overwrites-others").empty());
  for (const std::string bug : {"window-leaks", "refund-moves"}) {
    const std::vector<std::string> lines = Told(bug);
    const auto in_window = [](const std::string& line) {
      return line.find(" in window ") != std::string::npos;
    };
    ASSERT_FALSE(lines.empty());
    EXPECT_NE(lines[0].find("windows of "), std::string::npos) << lines[0];
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), in_window)) << bug;
  }
}

}  // namespace
}  // namespace weir::chaos::seeds_test
