#include "cli/command.h"

#include <gtest/gtest.h>

namespace weir::command_test {
namespace {

using Verb = Command::Verb;

Command Good(std::string_view line) {
  const Result<Command> command = ParseCommand(line);
  EXPECT_TRUE(command.ok()) << line << ": " << (command.ok() ? "" : command.error().message);
  return command.ok() ? *command : Command{};
}

std::string Mistake(std::string_view line) {
  const Result<Command> command = ParseCommand(line);
  return command.ok() ? "" : command.error().message;
}

TEST(Command, ARequestNeedsThreeWords) {
  const Command command = Good("shop search ann");
  EXPECT_EQ(command.verb, Verb::kRequest);
  EXPECT_EQ(command.namespace_name, "shop");
  EXPECT_EQ(command.resource, "search");
  EXPECT_EQ(command.subject, "ann");
  EXPECT_EQ(command.amount, 1u);
  EXPECT_FALSE(command.least.has_value());
  EXPECT_EQ(Mistake("shop search"), "SUBJECT is missing; 'help' shows how lines look");
}

TEST(Command, ARequestTakesCostLeastAndSettle) {
  const Command command = Good("@1.5s request shop search ann 3 min=1 settle");
  EXPECT_EQ(command.time, "1.5s");
  EXPECT_EQ(command.amount, 3u);
  EXPECT_EQ(command.least, 1u);
  EXPECT_TRUE(command.settle);
  EXPECT_EQ(Good("shop search ann settle 3").amount, 3u);
  EXPECT_EQ(Mistake("shop search ann 3 4"), "'4' is one word too many");
  EXPECT_EQ(Mistake("shop search ann -3"), "COST is a whole number from 0, not '-3'");
  EXPECT_EQ(Mistake("shop search ann 1 min=2"), "min is above the cost");
  EXPECT_EQ(Mistake("shop search ann 18446744073709551616"),
            "COST is a whole number from 0, not '18446744073709551616'");
}

TEST(Command, VerbsComeFirst) {
  EXPECT_EQ(Good("peek shop search ann").verb, Verb::kPeek);
  EXPECT_EQ(Good("limits shop search ann").verb, Verb::kLimits);
  EXPECT_EQ(Good("reserve shop sandbox ann 2").amount, 2u);
  EXPECT_EQ(Good("settle #1 5").name, "#1");
  EXPECT_EQ(Good("settle #1 5").amount, 5u);
  EXPECT_EQ(Good("release #2").amount, 0u);
  EXPECT_EQ(Good("reload").verb, Verb::kReload);
  EXPECT_EQ(Good("help").verb, Verb::kHelp);
  EXPECT_EQ(Good("quit").verb, Verb::kQuit);
  EXPECT_EQ(Good("at 15s").time, "15s");
}

TEST(Command, HoldsBelongToSessions) {
  const Command reserve = Good("@1s as p1 reserve shop sandbox ann 2 min=1 wait=5s");
  EXPECT_EQ(reserve.session, "p1");
  EXPECT_EQ(reserve.verb, Verb::kReserve);
  EXPECT_EQ(reserve.wait, std::chrono::seconds(5));
  const Command transfer = Good("transfer #1 10 ttl=30s");
  EXPECT_EQ(transfer.amount, 10u);
  EXPECT_EQ(transfer.ttl, std::chrono::seconds(30));
  EXPECT_EQ(Good("transfer #1 ttl=30s").amount, 0u);
  EXPECT_EQ(Good("as p2 seize #2").name, "#2");
  EXPECT_EQ(Good("end p1").session, "p1");
  EXPECT_EQ(Mistake("transfer #1 10"), "ttl=DURATION is missing; 'help' shows how lines look");
  EXPECT_EQ(Mistake("transfer #1 10 30s"), "'30s' is not ttl=DURATION");
  EXPECT_EQ(Mistake("transfer #1 ttl=soon"), "'soon' is no duration such as 250ms or 1.5s");
  EXPECT_EQ(Mistake("shop sandbox ann wait=5s"), "COST is a whole number from 0, not 'wait=5s'");
}

TEST(Command, ANamespaceMayBeCalledLikeAVerb) {
  EXPECT_EQ(Good("request peek help quit").namespace_name, "peek");
  EXPECT_EQ(Good("reload help quit").namespace_name, "reload");
  EXPECT_EQ(Good("end seize as").namespace_name, "end");
}

TEST(Command, RepeatsALine) {
  const Command command = Good("@1s repeat 5 every 250ms shop search ann");
  EXPECT_EQ(command.repeat, 5u);
  EXPECT_EQ(command.every, std::chrono::milliseconds(250));
  EXPECT_EQ(command.verb, Verb::kRequest);
  EXPECT_EQ(Mistake("repeat 99999999999 shop search ann"), "at most 10000000 times");
  EXPECT_EQ(Mistake("repeat 5 every soon shop search ann"),
            "'soon' is no duration such as 250ms or 1.5s");
}

TEST(Command, EmptyLinesAndCommentsAreNothing) {
  EXPECT_EQ(Good("").verb, Verb::kNothing);
  EXPECT_EQ(Good("   \t\r").verb, Verb::kNothing);
  EXPECT_EQ(Good("# shop search ann").verb, Verb::kNothing);
  EXPECT_EQ(Good("#shop").verb, Verb::kNothing);
  EXPECT_EQ(Good("shop search ann # the first").subject, "ann");
}

TEST(Command, QuotesHoldSpaces) {
  EXPECT_EQ(Good("shop search \"ann of green gables\"").subject, "ann of green gables");
  EXPECT_EQ(Mistake("shop search \"ann"), "a quote without its end");
}

}  // namespace
}  // namespace weir::command_test
