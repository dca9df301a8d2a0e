#include "cli/interpreter.h"

#include <gtest/gtest.h>

namespace weir::interpreter_test {
namespace {

constexpr char kRules[] =
    "namespaces: {demo: {resources: {ping: {limits: [{name: main, limit: 10, per: 1m}]}}}}";

class InterpreterTest : public testing::Test {
 protected:
  InterpreterTest() : clock_(FromNanos(1'000'000'000'000)) {
    std::string errors;
    limiter_ =
        std::make_unique<Limiter>(ParseRules(kRules, &errors), LimiterOptions{}, clock_.Now());
  }

  Interpreter Start(Interpreter::Options options = {}) {
    options.start = clock_.Now();
    return Interpreter(limiter_.get(), &clock_, options);
  }

  ManualClock clock_;
  std::unique_ptr<Limiter> limiter_;
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(InterpreterTest, TimeRunsUntilItIsSetAndThenStandsStill) {
  Interpreter interpreter = Start();
  EXPECT_TRUE(Has(interpreter.Run("demo ping ann 10"), "allowed"));
  clock_.Advance(std::chrono::seconds(6));
  EXPECT_TRUE(Has(interpreter.Run("demo ping ann"), "allowed"));
  EXPECT_EQ(interpreter.Run("at 10s"), "");
  clock_.Advance(std::chrono::hours(1));
  EXPECT_TRUE(Has(interpreter.Run("demo ping ann"), "retry 2s"));
}

TEST_F(InterpreterTest, TimeDoesNotGoBack) {
  Interpreter interpreter = Start();
  clock_.Advance(std::chrono::seconds(3));
  EXPECT_EQ(interpreter.Run("@0s"), "") << "nothing has been asked yet";
  EXPECT_EQ(interpreter.Run("@5s"), "");
  EXPECT_EQ(interpreter.Run("@4s demo ping ann"),
            "error    bad_request: time does not go back: it is 5s already");
}

TEST_F(InterpreterTest, TimesAreRoundedUpOnlyWhileTimeRuns) {
  Interpreter interpreter = Start();
  interpreter.Run("demo ping ann");
  clock_.Advance(Duration(1));
  EXPECT_TRUE(Has(interpreter.Run("peek demo ping ann"), "reset 6s "));
  EXPECT_TRUE(Has(interpreter.Run("@0.000000001s peek demo ping ann"), "reset 5.999999999s "));
}

TEST_F(InterpreterTest, ATicketIsKnownByItsNumberOrInFull) {
  Interpreter interpreter = Start();
  EXPECT_TRUE(Has(interpreter.Run("demo ping ann 4 settle"), "ticket #1"));
  EXPECT_EQ(interpreter.Run("settle #1 5"), "settled  charged 5     remaining 5");
  for (const char* line : {"settle #0 5", "settle #2 5", "settle #x 5", "settle x 5"}) {
    EXPECT_TRUE(Has(interpreter.Run(line), "no ticket is called")) << line;
  }
  EXPECT_TRUE(Has(interpreter.Run("settle 0123456789abcdef0123456789abcdef 5"), "unknown_ticket"));
}

TEST_F(InterpreterTest, RepeatingCountsAndMovesTime) {
  Interpreter interpreter = Start();
  EXPECT_TRUE(Has(interpreter.Run("repeat 30 every 1s demo ping ann"), "14 allowed, 16 refused"));
  EXPECT_TRUE(Has(interpreter.Run("@28s"), "it is 29s already"));
}

TEST_F(InterpreterTest, ReloadNeedsSomewhereToReadFrom) {
  EXPECT_EQ(Start().Run("reload"), "error    bad_request: nothing to reload");
  Interpreter::Options options;
  options.reload = [](Instant) { return "anew"; };
  EXPECT_EQ(Start(options).Run("reload"), "anew");
}

TEST_F(InterpreterTest, OnlyASessionThatIsThereEnds) {
  Interpreter interpreter = Start();
  EXPECT_EQ(interpreter.Run("end p1"), "error    bad_request: no session is called 'p1'");
  EXPECT_TRUE(Has(interpreter.Run("as p1 reserve demo ping ann"), "wrong_kind"));
  EXPECT_EQ(interpreter.Run("end p1"), "ended");
  EXPECT_EQ(limiter_->Stats().sessions, 0u);
}

TEST_F(InterpreterTest, QuitEnds) {
  Interpreter interpreter = Start();
  EXPECT_FALSE(interpreter.quit());
  EXPECT_EQ(interpreter.Run("quit"), "");
  EXPECT_TRUE(interpreter.quit());
}

}  // namespace
}  // namespace weir::interpreter_test
