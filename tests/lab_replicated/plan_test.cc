// What is recommended for simple traffic.
#include "lab/replicated/report/plan.h"

#include <gtest/gtest.h>

namespace weir::lab::plan_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kFrom = FromNanos(1'800'000'000'000'000'000);

Settings Nodes(uint32_t nodes) {
  Settings settings;
  settings.nodes = nodes;
  settings.quiet = 5s;
  return settings;
}

std::vector<SimulatedRequest> Every(Duration gap, size_t count) {
  std::vector<SimulatedRequest> requests;
  for (size_t i = 0; i < count; ++i) {
    requests.push_back({kFrom + gap * static_cast<int64_t>(i), 0, 1});
  }
  return requests;
}

TEST(Plan, TrafficFarBelowTheLimitNeedsNoCoordination) {
  const Plan plan = MakePlan(Every(1s, 30), {100, 100, 1s}, Nodes(5), 1);
  EXPECT_EQ(plan.recommended, "local");
  EXPECT_EQ(plan.refused_centrally, 0u);
}

TEST(Plan, OneUserAtTwiceTheLimitNeedsIt) {
  const Plan plan = MakePlan(Every(50ms, 1000), {100, 10, 1s}, Nodes(5), 1);
  EXPECT_EQ(plan.recommended, "debt") << plan.reason;
  EXPECT_GT(plan.refused_centrally, 0u);
  EXPECT_EQ(plan.rows.front().name, "central");
  for (const PlanRow& row : plan.rows) {
    if (row.name != "local") continue;
    EXPECT_GT(row.over_admission_max, 100);
  }
}

TEST(Plan, OneNodeIsAsGoodAsTheCentralLimiter) {
  const Plan plan = MakePlan(Every(50ms, 1000), {100, 10, 1s}, Nodes(1), 1);
  EXPECT_EQ(plan.recommended, "local");
  for (const PlanRow& row : plan.rows) EXPECT_EQ(row.precision, 100) << row.name;
}

TEST(Plan, OfExactOnesTheCheapestAndOfOthersTheLeastWrong) {
  Plan plan;
  plan.requests = 10'000;
  plan.rows = {{"central", 100, 0, 0, 0, 0},
               {"dear", 100, 0, 0, 500, 10},
               {"cheap", 100, 1, 1, 50, 10},
               {"wrong", 90, 80, 0, 0, 10}};
  Recommend(100, plan);
  EXPECT_EQ(plan.recommended, "cheap");
  plan.rows = {{"central", 100, 0, 0, 0, 0}, {"bad", 90, 80, 0, 0, 10}, {"less", 95, 40, 0, 9, 10}};
  Recommend(100, plan);
  EXPECT_EQ(plan.recommended, "less");
  EXPECT_NE(plan.reason.find("none is within"), std::string::npos);
}

}  // namespace
}  // namespace weir::lab::plan_test
