// When a figure holds, and how it is told.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lab/replicated/report/table.h"
#include "lab/replicated/report/verdicts.h"

namespace weir::lab::verdicts_test {
namespace {

ExperimentResult Result(double counter, double queue, double debt) {
  ExperimentResult result{.name = "spotify-b-barely", .capacity = 1000, .requests = 1100};
  result.variants = {{"counter", {{"precision", counter, "percent"}}, {}},
                     {"queue+frequency", {{"precision", queue, "percent"}}, {}},
                     {"debt", {{"precision", debt, "percent"}, {"bytes_ratio", 0.7, "x"}}, {}}};
  return result;
}

Verdict Of(const ExperimentResult& result, const std::string& variant, size_t metric = 0) {
  return Judge(ClaimsOn(result), result, variant, result.Find(variant)->metrics[metric]);
}

TEST(Verdicts, RequirementsAreBounds) {
  EXPECT_EQ(Of(Result(10, 80, 99), "debt").ok, true);
  EXPECT_EQ(Of(Result(10, 80, 98.9), "debt").ok, false);
  EXPECT_EQ(Of(Result(10, 80, 99), "debt", 1).ok, true);
  EXPECT_EQ(Of(Result(10, 80, 99), "debt").paper, std::nullopt);
}

TEST(Verdicts, FiguresOfTheThesisHaveAToleranceAndAnOrder) {
  EXPECT_EQ(Of(Result(14, 80, 100), "counter").ok, true);
  EXPECT_EQ(Of(Result(16, 80, 100), "counter").ok, false);
  EXPECT_EQ(Of(Result(16, 80, 100), "counter").paper, 10);
  EXPECT_FALSE(Of(Result(16, 80, 100), "counter").why.empty());
  EXPECT_EQ(Of(Result(10, 84, 100), "queue+frequency").ok, true);
  EXPECT_EQ(Of(Result(85, 84, 100), "queue+frequency").ok, false) << "the counter is better";
}

TEST(Verdicts, WithoutTheOtherVariantThereIsNoOrder) {
  ExperimentResult result{.name = "spotify-b-under"};
  result.variants = {{"debt", {{"bytes_sent", 5, "bytes"}}, {}}};
  EXPECT_EQ(Of(result, "debt").ok, std::nullopt);
}

TEST(Verdicts, NothingIsClaimedOfOthers) {
  ExperimentResult result = Result(10, 80, 100);
  result.variants.push_back({"queue", {{"precision", 1, "percent"}}, {}});
  EXPECT_EQ(Of(result, "queue").ok, std::nullopt);
}

TEST(Table, JsonHasTheAgreedFields) {
  const std::string text = AsJson(Result(10, 80, 98));
  std::istringstream lines(text);
  std::vector<nlohmann::json> all;
  for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0], nlohmann::json::parse(
                        R"({"experiment":"spotify-b-barely","variant":"counter",
                            "metric":"precision","paper":10,"value":10,"unit":"percent","ok":true})"));
  EXPECT_EQ(all[2]["paper"], nullptr);
  EXPECT_EQ(all[2]["ok"], false);
}

TEST(Table, ColoursAreOnlyForTerminals) {
  EXPECT_EQ(AsTable(Result(10, 80, 98), false).find('\x1b'), std::string::npos);
  EXPECT_NE(AsTable(Result(10, 80, 98), true).find("\x1b[31mnot"), std::string::npos);
}

TEST(Results, WorstIsTheWorstOfAllRunsAndTheRestIsTheMean) {
  Measured one, two;
  one.over_admission_max = 3, two.over_admission_max = 7;
  one.bytes_sent = 10, two.bytes_sent = 20;
  one.converge_s = 1, two.observed_s = 5;  // the second was not seen to converge
  const VariantResult summary = Summarize("debt", {one, two});
  EXPECT_EQ(summary.Find("over_admission_max")->value, 7);
  EXPECT_EQ(summary.Find("bytes_sent")->value, 15);
  EXPECT_EQ(summary.Find("converge_s")->value, 3);
  EXPECT_TRUE(summary.Find("converge_s")->at_least);
}

}  // namespace
}  // namespace weir::lab::verdicts_test
