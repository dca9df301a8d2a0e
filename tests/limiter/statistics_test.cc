// What the limiter tells about the past, and why somebody is refused.
#include <gtest/gtest.h>

#include "limiter/series.h"
#include "weir/limiter.h"

namespace weir::statistics_test {
namespace {

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);  // a whole minute
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kRules = R"(
namespaces:
  shop:
    default_contract: free
    resources:
      search: {limits: [{name: burst, limit: 5, per: 1s}, {name: peek, limit: 2, per: 1h, shadow: true}]}
      window: {limits: [{name: w, algorithm: fixed_window, limit: 3, per: 1h}]}
    contracts: {free: {limits: [{name: month, limit: 8, per: 1d}]}}
)";

class Statistics : public ::testing::Test {
 protected:
  Statistics() {
    std::string errors;
    limiter_ = std::make_unique<Limiter>(ParseRules(kRules, &errors), LimiterOptions{}, kStart);
    EXPECT_EQ(errors, "");
  }
  void Ask(int times, Instant now, uint64_t cost = 1) {
    for (int i = 0; i < times; ++i) limiter_->Decide({"shop", "search", "ann", cost}, now);
  }
  std::unique_ptr<Limiter> limiter_;
};

TEST_F(Statistics, TheLastMinuteAndDayAreSumsOfWhatWasDecided) {
  limiter_->Tick(kStart);
  Ask(7, kStart + milliseconds(100));  // 5 admitted, 2 refused
  limiter_->Tick(kStart + seconds(1));
  Ask(1, kStart + milliseconds(1500), 2);
  limiter_->Tick(kStart + seconds(2));
  limiter_->Tick(kStart + seconds(3));
  const History past = *limiter_->Past("shop", "search", kStart + seconds(3));
  ASSERT_EQ(past.seconds.size(), 60u);
  ASSERT_EQ(past.minutes.size(), 1440u);
  EXPECT_EQ(past.seconds[57], (Counts{5, 2, 5}));
  EXPECT_EQ(past.seconds[58], (Counts{1, 0, 2}));
  EXPECT_EQ(past.seconds[59], (Counts{0, 0, 0}));
  EXPECT_EQ(past.minutes[1439], (Counts{6, 2, 7}));
  EXPECT_EQ(limiter_->Past("shop", "search", kStart + seconds(90))->seconds[59], (Counts{}));
  EXPECT_EQ(limiter_->Past("shop", "search", kStart + seconds(90))->minutes[1438],
            (Counts{6, 2, 7}));
  EXPECT_FALSE(limiter_->Past("shop", "nothing", kStart).has_value());
}

TEST_F(Statistics, CountsNameTheLimitThatRefusedAndOutliveAReload) {
  Ask(7, kStart);
  std::string errors;
  limiter_->Install(ParseRules(kRules, &errors), kStart);
  Ask(1, kStart);
  const LimiterCounts counts = limiter_->AllCounts();
  ASSERT_EQ(counts.resources.size(), 2u);
  EXPECT_EQ(counts.resources[0].total, (Counts{5, 3, 5}));
  ASSERT_EQ(counts.resources[0].limits.size(), 3u);
  EXPECT_EQ(counts.resources[0].limits[0].refused, 3u);
  EXPECT_EQ(counts.resources[0].limits[1].would_refuse, 6u);
  EXPECT_EQ(counts.resources[0].limits[2].refused, 0u);
}

TEST_F(Statistics, WhoWouldBeRefusedIsToldApartFromWhoIs) {
  Ask(2, kStart);
  EXPECT_TRUE(limiter_->WouldRefuse("shop", "search").empty());
  Ask(2, kStart);  // in shadow only
  const auto would = limiter_->WouldRefuse("shop", "search");
  ASSERT_EQ(would.size(), 1u);
  EXPECT_EQ(would[0].subject, "ann");
  EXPECT_EQ(would[0].count, 2u);
  EXPECT_TRUE(limiter_->MostRefused("shop", "search").empty());
  EXPECT_TRUE(limiter_->WouldRefuse("shop", "nothing").empty());
}

TEST_F(Statistics, AReportSaysWhyAndUntilWhen) {
  Ask(5, kStart);
  const SubjectReport report = limiter_->Report("shop", "search", "ann", kStart);
  EXPECT_EQ(report.error, Code::kOk);
  EXPECT_FALSE(report.now.allowed);
  EXPECT_EQ(report.now.limit, "burst");
  EXPECT_EQ(report.now.retry_after, milliseconds(200));
  ASSERT_EQ(report.limits.size(), 3u);
  EXPECT_EQ(report.limits[0].used, 5u);
  EXPECT_TRUE(report.limits[0].refuses);
  EXPECT_EQ(report.limits[2].used, 5u);
  EXPECT_FALSE(report.limits[2].refuses);
  EXPECT_TRUE(report.among_busiest);
  EXPECT_EQ(limiter_->Report("shop", "nothing", "ann", kStart).error, Code::kUnknownResource);
  EXPECT_FALSE(limiter_->Report("shop", "search", "bob", kStart).among_busiest);
  EXPECT_EQ(limiter_->Stats().keys, 3u) << "a report stores nothing";
}

TEST_F(Statistics, TheBusiestHaveAPastOfTheirOwn) {
  limiter_->Tick(kStart);
  Ask(7, kStart + milliseconds(10));
  limiter_->Tick(kStart + seconds(1));
  const SubjectReport report = limiter_->Report("shop", "search", "ann", kStart + seconds(1));
  ASSERT_TRUE(report.among_busiest);
  EXPECT_EQ(report.history.seconds[59], (Counts{5, 2, 0}));
}

TEST(Series, SkippedTimeHoldsZerosHoweverLong) {
  Series<uint32_t> series;
  series.Add(100, 1);
  series.Add(161, 2);
  EXPECT_EQ(series.Seconds(161)[59], 2u);
  EXPECT_EQ(series.Seconds(161)[0], 0u);
  EXPECT_EQ(series.Minutes(161)[1439], 2u);
  EXPECT_EQ(series.Minutes(161)[1438], 1u);
  series.Add(int64_t{1} << 40, 5);
  EXPECT_EQ(series.Seconds(int64_t{1} << 40)[59], 5u);
  for (int i = 0; i < 59; ++i)
    EXPECT_EQ(series.Seconds(int64_t{1} << 40)[static_cast<size_t>(i)], 0u);
}

}  // namespace
}  // namespace weir::statistics_test
