#include "base/time_text.h"

#include <gtest/gtest.h>

namespace weir::time_text_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DurationText, IsReadExactly) {
  EXPECT_EQ(ParseDuration("250ms"), milliseconds(250));
  EXPECT_EQ(ParseDuration("1.5s"), milliseconds(1500));
  EXPECT_EQ(ParseDuration("2m"), seconds(120));
  EXPECT_EQ(ParseDuration("1m30s"), seconds(90));
  EXPECT_EQ(ParseDuration("1d"), hours(24));
  EXPECT_EQ(ParseDuration("0s"), seconds(0));
  EXPECT_EQ(ParseDuration("0.000000001s"), Duration(1));
  EXPECT_EQ(ParseDuration("7us3ns"), Duration(7003));
  EXPECT_EQ(ParseDuration("59.999999999s"), Duration(59'999'999'999));
}

TEST(DurationText, RefusesWhatIsNoDuration) {
  for (const char* text : {"", "5", "s", "1.s", ".5s", "-1s", "1x", "1s ", "0.5ns", "1s2",
                           "99999999999d", "9223372036854775808ns", "1e3s"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(DurationText, IsWrittenShortAndReadBack) {
  EXPECT_EQ(DurationText(Duration(0)), "0s");
  EXPECT_EQ(DurationText(Duration(1)), "1ns");
  EXPECT_EQ(DurationText(milliseconds(50)), "50ms");
  EXPECT_EQ(DurationText(Duration(333'333'334)), "333.333334ms");
  EXPECT_EQ(DurationText(seconds(90)), "1m30s");
  EXPECT_EQ(DurationText(milliseconds(1500)), "1.5s");
  EXPECT_EQ(DurationText(hours(24) + seconds(1)), "1d1s");
  EXPECT_EQ(DurationText(kNever), "never");
  for (const int64_t nanos : {1L, 999L, 1'000L, 123'456'789'012'345'678L, 3'600'000'000'001L}) {
    EXPECT_EQ(ParseDuration(DurationText(Duration(nanos))), Duration(nanos));
  }
}

TEST(SpokenDuration, HasTwoUnitsAtMost) {
  EXPECT_EQ(SpokenDuration(milliseconds(22'174'800)), "6h 9m");
  EXPECT_EQ(SpokenDuration(hours(76) + seconds(59)), "3d 4h");
  EXPECT_EQ(SpokenDuration(hours(24)), "1d");
  EXPECT_EQ(SpokenDuration(seconds(90)), "1m 30s");
  EXPECT_EQ(SpokenDuration(seconds(60)), "1m");
  EXPECT_EQ(SpokenDuration(milliseconds(35'900)), "35s");
  EXPECT_EQ(SpokenDuration(milliseconds(2'590)), "2.5s");
  EXPECT_EQ(SpokenDuration(Duration(250'999'999)), "250ms");
  EXPECT_EQ(SpokenDuration(Duration(1'290'000)), "1.2ms");
  EXPECT_EQ(SpokenDuration(Duration(50'999)), "50us");
  EXPECT_EQ(SpokenDuration(Duration(0)), "0s");
  EXPECT_EQ(SpokenDuration(kNever), "never");
  EXPECT_EQ(SpokenDuration(-seconds(90)), "-1m 30s");
}

TEST(InstantText, IsADurationSinceTheStartOrADate) {
  const Instant start = FromNanos(1'000'000'000);
  EXPECT_EQ(ParseInstant("2s", start), FromNanos(3'000'000'000));
  EXPECT_EQ(ParseInstant("1970-01-01T00:01:00Z", start), FromNanos(60'000'000'000));
  EXPECT_EQ(ParseInstant("1970-01-01T01:00:00.5+01:00", start), FromNanos(500'000'000));
  EXPECT_EQ(InstantText(FromNanos(60'000'000'000)), "1970-01-01T00:01:00+00:00");
}

TEST(InstantText, RefusesWhatIsNoTime) {
  for (const char* text : {"", "soon", "1969-12-31T23:59:59Z", "2300-01-01T00:00:00Z",
                           "infinite-future", "2026-13-01T00:00:00Z"}) {
    EXPECT_EQ(ParseInstant(text, Instant{}), std::nullopt) << text;
  }
  EXPECT_EQ(ParseInstant("1s", FromNanos(INT64_MAX)), std::nullopt);
}

}  // namespace
}  // namespace weir::time_text_test
