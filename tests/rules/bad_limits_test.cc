// Limits that are refused: each with its place (@) and a part of what the writer is told.
#include <gtest/gtest.h>

#include "tests/rules/rules_text.h"

namespace weir::bad_limits_test {
namespace {

struct Case {
  const char* limit;  // the fields of one limit
  const char* told;
};

class BadLimit : public testing::TestWithParam<Case> {};

TEST_P(BadLimit, IsRefusedWithPlaceAndReason) {
  const std::string told = Mistake(OneLimit(GetParam().limit));
  EXPECT_TRUE(Has(told, GetParam().told)) << "told: " << told;
}

constexpr Case kNumbers[] = {
    {"limit: @-5, per: 1s", "whole number from 0"},
    {"limit: @-0, per: 1s", "whole number from 0"},
    {"limit: @+5, per: 1s", "whole number from 0"},
    {"limit: @1_000, per: 1s", "`limit` is `1_000`"},
    {"limit: @1e3, per: 1s", "decimal digits"},
    {"limit: @1E3, per: 1s", "decimal digits"},
    {"limit: @0x10, per: 1s", "decimal digits"},
    {"limit: @0o17, per: 1s", "decimal digits"},
    {"limit: @010, per: 1s", "decimal digits"},
    {"limit: @.nan, per: 1s", "whole number"},
    {"limit: @.inf, per: 1s", "or `unlimited`"},
    {"limit: @infinite, per: 1s", "or `unlimited`"},
    {"limit: @5.0, per: 1s", "whole number"},
    {"limit: @5.5, per: 1s", "whole number"},
    {"limit: @\"5\", per: 1s", "without quotes"},
    {"limit: @five, per: 1s", "whole number"},
    {"limit: @true, per: 1s", "whole number"},
    {"limit: @~, per: 1s", "`limit` is empty"},
    {"limit@:, per: 1s", "`limit` is empty"},
    {"limit: @[5], per: 1s", "`limit` is a list"},
    {"limit: @{n: 5}, per: 1s", "`limit` is a map"},
    {"limit: @9007199254740993, per: 1s", "too large: at most 9007199254740992"},
    {"limit: @18446744073709551615, per: 1s", "too large"},
    {"limit: @18446744073709551616, per: 1s", "too large"},
    {"limit: @99999999999999999999999999999999999999, per: 1s", "too large"},
    {"algorithm: sliding_log, limit: @1000001, per: 1s", "at most 1000000"},
    {"limit: 5, per: 1s, burst: @-1", "whole number"},
    {"limit: 5, per: 1s, burst: @unlimited", "whole number"},
    {"limit: 5, per: 1s, burst: @0", "at least 1"},
    {"limit: 0, per: 1s, burst: @5", "must be 0 where limit is 0"},
    {"limit: 1, per: 1d, burst: @100000", "hundred years"},
    {"algorithm: sliding_window, limit: 5, per: 1s, slices: @0", "from 1 to 10000"},
    {"algorithm: sliding_window, limit: 5, per: 1s, slices: @10001", "from 1 to 10000"},
    {"algorithm: sliding_window, limit: 5, per: 1s, slices: @2.5", "whole number"},
    {"algorithm: sliding_window, limit: 5, per: 5ns, slices: @6", "nanoseconds"},
};
INSTANTIATE_TEST_SUITE_P(Numbers, BadLimit, testing::ValuesIn(kNumbers));

constexpr Case kTimes[] = {
    {"limit: 5, per: @0s", "more than 0"},
    {"limit: 5, per: @0ns", "more than 0"},
    {"limit: 5, per: @60", "write `60s`"},
    {"limit: 5, per: @-1s", "no length of time"},
    {"limit: 5, per: @1.5s", "no length of time"},
    {"limit: 5, per: @1h30m", "no length of time"},
    {"limit: 5, per: @second", "no length of time"},
    {"limit: 5, per: @[1s]", "`per` is a list"},
    {"limit: 5, per@:", "`per` is empty"},
    {"limit: 5, per: @3654d", "at most ten years"},
    {"limit: 5, per: @99999999999999999999d", "too long"},
    {"limit: 5, per: @1mo", "only with `algorithm: fixed_window` and `anchor: calendar`"},
    {"limit: 5, per: @1y", "`365d`"},
    {"algorithm: fixed_window, limit: 5, per: @1mo", "`30d`"},
    {"algorithm: fixed_window, limit: 5, per: @1h, anchor: calendar", "`1d`, `1w`, `1mo` or `1y`"},
    {"algorithm: fixed_window, limit: 5, per: @2d, anchor: calendar", "`1d`, `1w`, `1mo` or `1y`"},
    {"algorithm: fixed_window, limit: 5, per: @2mo, anchor: calendar", "`1mo`"},
    {"algorithm: fixed_window, limit: 5, per: @30d, anchor: calendar", "`1mo`"},
    {"algorithm: fixed_window, limit: 5, per: 1d, anchor: calendar, time_zone: @Mars/Base",
     "no time zone; write it as `Europe/Stockholm`"},
    {"algorithm: fixed_window, limit: 5, per: 1d, anchor: calendar, time_zone: @''", "empty"},
    {"algorithm: fixed_window, limit: 5, per: 1d, anchor: @monday", "`epoch`, `first_request` or"},
};
INSTANTIATE_TEST_SUITE_P(Times, BadLimit, testing::ValuesIn(kTimes));

TEST(BadLimit, MissesWhatItNeeds) {
  EXPECT_TRUE(Has(Mistake(Search("limits: [@{limit: 5}]")), "needs `per`, as `per: 1s`"));
  EXPECT_TRUE(Has(Mistake(Search("limits: [@{per: 1s}]")), "needs `limit`, as `limit: 20`"));
  const ParseResult both = ParseRulesText(Search("limits: [{name: x}]"), "f");
  EXPECT_EQ(both.errors.size(), 2u) << ToString(both.errors);
}

constexpr Case kPlaces[] = {
    {"algorithm: fixed_window, limit: 5, per: 1s, burst: @9",
     "`burst` goes only with `token_bucket`"},
    {"limit: 5, per: 1s, anchor: @epoch", "`anchor` goes only with `fixed_window`"},
    {"limit: 5, per: 1s, time_zone: @UTC", "`time_zone` goes only with `fixed_window`"},
    {"algorithm: fixed_window, limit: 5, per: 1d, time_zone: @UTC", "only with `anchor: calendar`"},
    {"algorithm: fixed_window, limit: 5, per: 1d, anchor: epoch, time_zone: @UTC", "calendar"},
    {"limit: 5, per: 1s, slices: @5", "`slices` goes only with `sliding_window`"},
    {"limit: 5, per: 1s, edge: @drop", "`edge` goes only with `sliding_window`"},
    {"algorithm: sliding_log, limit: 5, per: 1s, slices: @5", "this limit is a `sliding_log`"},
    {"limit: 5, per: 1s, keep_rejected: @true", "`keep_rejected` goes only with `sliding_log`"},
    {"limit: unlimited, slices: @5", "`slices` goes only with"},
};
INSTANTIATE_TEST_SUITE_P(Places, BadLimit, testing::ValuesIn(kPlaces));

constexpr Case kWords[] = {
    {"limit: 5, per: 1s, @brust: 9", "did you mean `burst`?"},
    {"limit: 5, per: 1s, @Limit: 9", "did you mean `limit`?"},
    {"limit: 5, per: 1s, @windows: 9", "it takes `name`, `algorithm`"},
    {"limit: 5, per: 1s, @tiers: []", "is no key of a limit"},
    {"limit: 5, per: 1s, @<<: {}", "is no key of a limit"},
    {"limit: 5, per: 1s, @limit: 6", "key `limit` is here a second time"},
    {"limit: 5, per: 1s, algorithm: @leaky_bucket", "`token_bucket`, `fixed_window`"},
    {"limit: 5, per: 1s, algorithm: @token-bucket", "did you mean `token_bucket`?"},
    {"limit: 5, per: 1s, algorithm: @[token_bucket]", "`algorithm` is a list"},
    {"algorithm: sliding_window, limit: 5, per: 1s, edge: @soft", "`drop`, `weighted` or `strict`"},
    {"limit: 5, per: 1s, shadow: @yes", "`true` or `false`"},
    {"limit: 5, per: 1s, shadow: @\"true\"", "`true` or `false`"},
    {"limit: 5, per: 1s, persist: @1", "`true` or `false`"},
    {"algorithm: sliding_log, limit: 5, per: 1s, keep_rejected: @on", "`true` or `false`"},
    {"limit: 5, per: 1s, on_failure: @open", "`allow`, `deny` or `local`"},
    {"limit: 5, per: 1s, on_failure@:", "`on_failure` is empty"},
    {"limit: 5, per: 1s, key: @subject", "as `[subject]`"},
    {"limit: 5, per: 1s, key@:", "as `[subject]`"},
    {"limit: 5, per: 1s, key: [@user]", "`namespace`, `resource` or `subject`"},
    {"limit: 5, per: 1s, key: [subject, @subject]", "`subject` is twice in `key`"},
    {"limit: 5, per: 1s, name: @''", "a limit's name must not be empty"},
    {"limit: 5, per: 1s, name: @\"a\\u0007b\"", "control characters"},
    {"limit: 5, per: 1s, name: @[a]", "a limit's name must be a word"},
    {"limit: 5, per: 1s, name@:", "a limit's name must be a word"},
};
INSTANTIATE_TEST_SUITE_P(Words, BadLimit, testing::ValuesIn(kWords));

TEST(BadLimit, HasANameOfItsOwn) {
  EXPECT_TRUE(Has(Mistake(Search("limits: [{name: a, limit: 1, per: 1s}, {name: @a, limit: 1, per: "
                                 "1s}]")),
                  "a second limit is called `a`"));
  EXPECT_TRUE(Has(Mistake(Search("limits: [{limit: 1, per: 1s}, @{limit: 1, per: 1h}]")),
                  "a second limit is called `token_bucket`"));
  EXPECT_TRUE(Has(Mistake(Search("limits: [{name: sliding_log, limit: 1, per: 1s}, @{algorithm: "
                                 "sliding_log, limit: 1, per: 1h}]")),
                  "give it a `name` of its own"));
}

TEST(BadLimit, HasAShortName) {
  const std::string longest(255, 'x');
  EXPECT_NE(Good(OneLimit("limit: 1, per: 1s, name: " + longest)), nullptr);
  EXPECT_TRUE(Has(Mistake(OneLimit("limit: 1, per: 1s, name: @x" + longest)),
                  "has 256 bytes; at most 255"));
}

TEST(BadLimit, EveryMistakeIsTold) {
  const ParseResult result = ParseRulesText(
      OneLimit("limit: -1, per: 0s, slices: x, shadow: 7, coordination: nowhere, burst: 1.5"), "f");
  EXPECT_EQ(result.errors.size(), 7u) << ToString(result.errors);
}

}  // namespace
}  // namespace weir::bad_limits_test
