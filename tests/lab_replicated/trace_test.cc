// Recorded requests: what is read, and what is told about what is not.
#include <gtest/gtest.h>

#include "lab/replicated/trace.h"

namespace weir::lab::trace_test {
namespace {

using namespace std::chrono_literals;

std::string ErrorOf(const std::string& text) {
  try {
    ParseTrace(text);
  } catch (const TraceError& error) {
    return error.what();
  }
  return "none";
}

TEST(Trace, CsvIsReadWithAndWithoutNamesAndCosts) {
  const Trace trace = ParseTrace("time,subject,cost\n10,ann,3\r\n10.25,bob\n\n11,ann,2\n");
  ASSERT_EQ(trace.requests.size(), 3u);
  EXPECT_EQ(trace.subjects, (std::vector<std::string>{"ann", "bob"}));
  EXPECT_EQ(trace.requests[0].cost, 3u);
  EXPECT_EQ(trace.requests[1].cost, 1u);
  EXPECT_EQ(trace.requests[1].at - trace.requests[0].at, 250ms);
  EXPECT_EQ(trace.requests[2].user, 0u);
}

TEST(Trace, JsonIsReadAndSortedByTime) {
  const Trace trace = ParseTrace(
      R"([{"user_id": "b", "time": 2.5, "cost": 4}, {"user_id": 7, "time": "1", "other": true}])");
  ASSERT_EQ(trace.requests.size(), 2u);
  EXPECT_EQ(trace.subjects, (std::vector<std::string>{"b", "7"}));
  EXPECT_EQ(trace.requests[0].user, 1u);
  EXPECT_EQ(trace.requests[1].at - trace.requests[0].at, 1500ms);
  EXPECT_EQ(trace.requests[1].cost, 4u);
}

TEST(Trace, TimesAreSecondsMillisecondsOrIso) {
  EXPECT_EQ(ParseTraceTime("1.000000001"), 1'000'000'001);
  EXPECT_EQ(ParseTraceTime("1700000000"), 1'700'000'000'000'000'000);
  EXPECT_EQ(ParseTraceTime("1700000000123"), 1'700'000'000'123'000'000);
  EXPECT_EQ(ParseTraceTime("1970-01-02T00:00:01.5Z"), 86'401'500'000'000);
  EXPECT_EQ(ParseTraceTime("1970-01-01T01:00:00+01:00"), 0);
  for (const char* bad : {"", "x", "1.", "-1", "1e3", "99999999999999999999",
                          "1970-13-01T00:00:00Z", "1970-01-01T00:00:00", "1970-01-01"}) {
    EXPECT_THROW(ParseTraceTime(bad), TraceError) << bad;
  }
}

TEST(Trace, WhatIsWrongIsToldWithItsLine) {
  EXPECT_EQ(ErrorOf(""), "there is no request in it");
  EXPECT_EQ(ErrorOf("1,ann\n2\n"), "line 2: expected time,subject or time,subject,cost");
  EXPECT_EQ(ErrorOf("1,ann\nsoon,bob\n"),
            "line 2: 'soon' is not a time: seconds, such as 12.5, or 2026-01-31T12:00:00Z");
  EXPECT_EQ(ErrorOf("1,ann,-1\n"), "line 1: '-1' is not a cost: a whole number");
  EXPECT_EQ(ErrorOf("1,\n"), "line 1: the subject is empty");
  EXPECT_EQ(ErrorOf("[\n{\"user_id\": \"a\", \"time\": 1},\n{\"user_id\": \"a\"}\n]"),
            "line 3: an object without \"time\"");
  EXPECT_EQ(ErrorOf("[\n 1]"), "line 2: expected an array of objects");
  EXPECT_EQ(ErrorOf("[{\"user_id\": [], \"time\": 1}]"), "line 1: an array in an array or object");
  EXPECT_EQ(ErrorOf("[\n{\"user_id\": \"a\",\n \"time\" 1}]").substr(0, 16), "line 3: not JSON");
}

TEST(Trace, SizesAreBounded) {
  EXPECT_EQ(ErrorOf("1," + std::string(kMostSubjectBytes + 1, 'a')),
            "line 1: a subject of more than 1024 bytes");
  EXPECT_EQ(ErrorOf("0,a\n40000000,a\n"),
            "more than a year lies between the first request and the last");
  EXPECT_THROW(ReadTrace("/nowhere/at/all.csv"), TraceError);
}

}  // namespace
}  // namespace weir::lab::trace_test
