#include "rules/text/period.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace weir::period_test {
namespace {

std::string Why(std::string_view text) {
  std::string why;
  EXPECT_FALSE(ParsePeriod(text, &why)) << text;
  return why;
}

Duration Length(std::string_view text) {
  std::string why;
  const auto period = ParsePeriod(text, &why);
  EXPECT_TRUE(period) << text << " " << why;
  EXPECT_TRUE(!period || period->kind == Period::Kind::kFixed) << text;
  return period ? period->length : Duration(-1);
}

TEST(Period, EveryUnitHasItsLength) {
  EXPECT_EQ(Length("7ns"), Duration(7));
  EXPECT_EQ(Length("7us"), Duration(7'000));
  EXPECT_EQ(Length("250ms"), Duration(250'000'000));
  EXPECT_EQ(Length("1s"), std::chrono::seconds(1));
  EXPECT_EQ(Length("90m"), std::chrono::minutes(90));
  EXPECT_EQ(Length("1h"), std::chrono::hours(1));
  EXPECT_EQ(Length("1d"), std::chrono::hours(24));
  EXPECT_EQ(Length("1w"), std::chrono::hours(168));
  EXPECT_EQ(Length("0s"), Duration(0));
}

TEST(Period, MonthsAndYearsAreOfTheirOwnKind) {
  std::string why;
  const auto month = ParsePeriod("1mo", &why), years = ParsePeriod("2y", &why);
  ASSERT_TRUE(month && years);
  EXPECT_EQ(month->kind, Period::Kind::kMonths);
  EXPECT_EQ(month->count, 1);
  EXPECT_EQ(month->length, std::chrono::hours(24 * 30));
  EXPECT_EQ(years->kind, Period::Kind::kYears);
  EXPECT_EQ(years->count, 2);
}

TEST(Period, ABareNumberIsToldToTakeAUnit) {
  EXPECT_NE(Why("60").find("write `60s`"), std::string::npos);
  EXPECT_NE(Why("0").find("write `0s`"), std::string::npos);
}

TEST(Period, OtherTextsAreRefused) {
  for (const char* text :
       {"",     "s",     "-1s", "+1s",  "1.5s", "1e3s", "1 s",  " 1s",  "1s ",  "1S",
        "1min", "1h30m", "01s", "0x1s", "1_0s", "one",  ".inf", "1mo1", "1sec", "∞"}) {
    EXPECT_NE(Why(text).find("is no length of time"), std::string::npos) << text;
  }
}

TEST(Period, WhatDoesNotFitIsTooLong) {
  for (const char* text : {"9223372036854775808ns", "18446744073709551616s", "9223372037s",
                           "99999999999999999999999999d", "15251w"}) {
    EXPECT_NE(Why(text).find("too long"), std::string::npos) << text;
  }
  EXPECT_EQ(Length("9223372036854775807ns"), Duration::max());
}

RC_GTEST_PROP(Period, IsReadBackAsItIsPrinted, ()) {
  const int64_t unit = *rc::gen::element<int64_t>(
      1, 1'000, 1'000'000, 1'000'000'000, 60'000'000'000, 3'600'000'000'000, 86'400'000'000'000);
  const Duration length(unit * *rc::gen::inRange<int64_t>(0, 100'000));
  std::string why;
  const auto read = ParsePeriod(PrintDuration(length), &why);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->length == length);
}

}  // namespace
}  // namespace weir::period_test
