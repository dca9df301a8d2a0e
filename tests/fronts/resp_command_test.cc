// Bytes of a Redis client, taken apart: what is broken, then what is whole.
#include <gtest/gtest.h>

#include "fronts/protocol.h"
#include "fronts/resp/command.h"

namespace weir::resp::resp_command_test {
namespace {

using Strings = std::vector<std::string>;

struct Taken {
  Outcome outcome;
  std::string error;
  Strings words;
  size_t used;
};

Taken Take(std::string_view in) {
  CommandParser parser;
  Words words;
  const Parsed parsed = parser.Next(in, words);
  return {parsed.outcome, std::string(parsed.error), Strings(words.begin(), words.end()),
          parsed.used};
}

std::string ErrorOf(std::string_view in) {
  const Taken taken = Take(in);
  return taken.outcome == Outcome::kBroken ? taken.error : "not broken";
}

TEST(RespCommand, SizesAreRefusedBeforeTheirBytesCome) {
  EXPECT_EQ(ErrorOf("*1025\r\n"), "invalid multibulk length");
  EXPECT_EQ(ErrorOf("*99999999999999999999\r\n"), "invalid multibulk length");
  EXPECT_EQ(ErrorOf("*1\r\n$524289\r\n"), "invalid bulk length");
  EXPECT_EQ(ErrorOf("*1\r\n$-1\r\n"), "invalid bulk length");
  EXPECT_EQ(ErrorOf("*" + std::string(40, '1')), "too big mbulk count string");
  EXPECT_EQ(ErrorOf("*1\r\n$" + std::string(40, '1')), "too big bulk count string");
  EXPECT_EQ(ErrorOf(std::string(kMostInline, 'a')), "too big inline request");
}

TEST(RespCommand, TogetherArgumentsAreBoundedToo) {
  const std::string half = "$524288\r\n" + std::string(524288, 'x') + "\r\n";
  EXPECT_EQ(ErrorOf("*3\r\n" + half + "$524288\r\n"), "too big command");
}

TEST(RespCommand, WhatIsNotTheProtocolIsRefused) {
  EXPECT_EQ(ErrorOf("*x\r\n"), "invalid multibulk length");
  EXPECT_EQ(ErrorOf("*\r\n"), "invalid multibulk length");
  EXPECT_EQ(ErrorOf("*1\r\r"), "invalid multibulk length");
  EXPECT_EQ(ErrorOf("*+1\r\n"), "invalid multibulk length");
  EXPECT_EQ(ErrorOf("*1\r\n:1\r\n"), "expected '$' before an argument");
  EXPECT_EQ(ErrorOf("*1\r\n$2\r\nabcd"), "expected the end of an argument");
  EXPECT_EQ(ErrorOf("a \"b\r\n"), "unbalanced quotes in request");
  EXPECT_EQ(ErrorOf("a \"b\"c\r\n"), "unbalanced quotes in request");
}

TEST(RespCommand, EveryPrefixOfACommandIsIncomplete) {
  const std::string whole = "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\na\r\nb\r\n";
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(Take(whole.substr(0, n)).outcome, Outcome::kIncomplete) << n;
  }
  const Taken taken = Take(whole + "rest");
  EXPECT_EQ(taken.outcome, Outcome::kCommand);
  EXPECT_EQ(taken.used, whole.size());
  EXPECT_EQ(taken.words, (Strings{"SET", "", "a\r\nb"}));
}

TEST(RespCommand, EmptyCommandsAreNone) {
  for (const std::string_view empty : {"*0\r\n", "*-1\r\n", "\r\n", "\n", "  \r\n"}) {
    const Taken taken = Take(empty);
    EXPECT_EQ(taken.outcome, Outcome::kCommand);
    EXPECT_EQ(taken.used, empty.size());
    EXPECT_TRUE(taken.words.empty());
  }
}

TEST(RespCommand, InlineCommandsMayBeQuoted) {
  EXPECT_EQ(Take("ping\n").words, (Strings{"ping"}));
  EXPECT_EQ(Take("  a  b\tc \r\n").words, (Strings{"a", "b", "c"}));
  EXPECT_EQ(Take("a \"b \\\"c\\x41\\n\\q\" '\\'d\\n' \"\"\r\n").words,
            (Strings{"a", "b \"cA\nq", "'d\\n", ""}));
}

TEST(RespCommand, IncompleteArgumentsAreNotLookedAtAgainBeforeTheyCanBeComplete) {
  CommandParser parser;
  Words words;
  const std::string whole = "*2\r\n$4\r\nECHO\r\n$1000\r\n" + std::string(1000, 'x') + "\r\n";
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(parser.Next(std::string_view(whole).substr(0, n), words).outcome,
              Outcome::kIncomplete);
  }
  EXPECT_EQ(parser.Next(whole, words).outcome, Outcome::kCommand);
  EXPECT_EQ(parser.Next("*1\r\n$1\r\na\r\n", words).outcome, Outcome::kCommand);
}

}  // namespace
}  // namespace weir::resp::resp_command_test
