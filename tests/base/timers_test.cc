// Timers: those that are due run once, in the order of their times, whatever is set and cancelled.
#include "base/timers.h"

#include <gtest/gtest.h>

#include <functional>
#include <list>

#include "base/manual_executor.h"
#include "base/random.h"

namespace weir::timers_test {
namespace {

using std::chrono::milliseconds;

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
Instant At(int64_t ms) { return kStart + milliseconds(ms); }

class Noted final : public Timer {
 public:
  explicit Noted(std::function<void(const Turn&)> then = [](const Turn&) {})
      : then_(std::move(then)) {}
  void Due(const Turn& now) override {
    EXPECT_FALSE(is_set());
    then_(now);
  }

 private:
  const std::function<void(const Turn&)> then_;
};

struct TimersTest : ::testing::Test {
  ManualClock clock{kStart};
  Timers timers;
  std::vector<int> ran;

  std::function<void(const Turn&)> Note(int number) {
    return [this, number](const Turn&) { ran.push_back(number); };
  }
  void RunAt(Instant now) {
    clock.Set(now);
    timers.Run(Turn(clock));
  }
};

using V = std::vector<int>;

TEST_F(TimersTest, RunInTheOrderOfTheirTimesNotOfSetting) {
  Noted a(Note(1)), b(Note(2)), c(Note(3));
  timers.Set(a, At(30));
  timers.Set(b, At(10));
  timers.Set(c, At(20));
  EXPECT_EQ(timers.next(), At(10));
  RunAt(At(9));
  EXPECT_EQ(ran, V());
  RunAt(At(10));
  EXPECT_EQ(ran, V({2})) << "at its time, not a moment later";
  RunAt(At(1000));
  EXPECT_EQ(ran, V({2, 3, 1}));
  EXPECT_TRUE(timers.empty());
}

TEST_F(TimersTest, EqualTimesRunInTheOrderOfSetting) {
  std::list<Noted> many;
  V expected;
  for (int i = 0; i < 100; ++i) {
    timers.Set(many.emplace_back(Note(i)), At(5));
    expected.push_back(i);
  }
  // Who is set again is set last.
  timers.Set(many.front(), At(5));
  expected.erase(expected.begin());
  expected.push_back(0);
  RunAt(At(5));
  EXPECT_EQ(ran, expected);
}

TEST_F(TimersTest, OneThatIsSetAgainHasOnlyItsNewTime) {
  Noted a(Note(1));
  timers.Set(a, At(10));
  timers.Set(a, At(20));
  RunAt(At(15));
  EXPECT_EQ(ran, V());
  EXPECT_TRUE(a.is_set());
  timers.Set(a, At(16));
  RunAt(At(16));
  EXPECT_EQ(ran, V({1}));
  RunAt(At(100));
  EXPECT_EQ(ran, V({1}));
}

TEST_F(TimersTest, OneThatIsCancelledDoesNotRunAndMayBeCancelledAgain) {
  Noted a(Note(1)), b(Note(2));
  timers.Cancel(a);
  timers.Set(a, At(1));
  timers.Set(b, At(2));
  timers.Cancel(a);
  timers.Cancel(a);
  EXPECT_FALSE(a.is_set());
  RunAt(At(5));
  EXPECT_EQ(ran, V({2}));
}

TEST_F(TimersTest, DueMayCancelAndSetOthersAndItself) {
  Noted last(Note(4));
  Noted never(Note(99));
  int again = 0;
  Noted* self = nullptr;
  Noted first([&](const Turn& now) {
    ran.push_back(1);
    timers.Cancel(never);   // which was due in this very turn
    timers.Set(last, now);  // has come: runs in this turn too
    if (++again < 3) timers.Set(*self, At(7 + again));
  });
  self = &first;
  Noted second(Note(2));
  timers.Set(first, At(5));
  timers.Set(never, At(6));
  timers.Set(second, At(8));
  RunAt(At(8));
  EXPECT_EQ(ran, V({1, 2, 4, 1, 4})) << "of equal times what was set first comes first";
  EXPECT_TRUE(first.is_set());
  RunAt(At(9));
  EXPECT_EQ(ran, V({1, 2, 4, 1, 4, 1, 4}));
}

TEST_F(TimersTest, EachIsToldTheTurnInWhichItRuns) {
  Instant told{};
  Noted late([&](const Turn& now) { told = now; });
  timers.Set(late, At(1));
  RunAt(At(50));
  EXPECT_EQ(told, At(50));
}

// Against a list that is searched from end to end.
TEST_F(TimersTest, AnswerLikeASortedListWhateverIsSetAndCancelled) {
  struct Pending {
    Instant due;
    uint64_t order;
    size_t which;
  };
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    std::vector<Pending> model;
    uint64_t order = 0;
    Instant now = kStart;
    std::list<Noted> kept;
    std::vector<Noted*> all;
    const auto forget = [&](size_t which) {
      std::erase_if(model, [&](const Pending& one) { return one.which == which; });
    };
    const auto set = [&](size_t which) {
      const Instant due = now + milliseconds(random.Below(20)) - milliseconds(2);
      forget(which);
      model.push_back({due, order++, which});
      timers.Set(*all[which], due);
    };
    const auto cancel = [&](size_t which) {
      forget(which);
      timers.Cancel(*all[which]);
    };
    const size_t count = 1 + random.Below(40);
    for (size_t i = 0; i < count; ++i) {
      all.push_back(&kept.emplace_back([&, i](const Turn&) {
        ASSERT_FALSE(model.empty());
        const auto first =
            std::min_element(model.begin(), model.end(), [](const Pending& a, const Pending& b) {
              return a.due != b.due ? a.due < b.due : a.order < b.order;
            });
        ASSERT_EQ(first->which, i) << "seed " << seed;
        ASSERT_LE(first->due, now) << "seed " << seed;
        model.erase(first);
        if (random.Below(4) == 0) set(random.Below(count));
        if (random.Below(4) == 0) cancel(random.Below(count));
      }));
    }
    for (int step = 0; step < 300; ++step) {
      switch (random.Below(4)) {
        case 0: cancel(random.Below(count)); break;
        case 1:
          now += milliseconds(random.Below(6));
          RunAt(now);
          ASSERT_FALSE(HasFatalFailure());
          ASSERT_TRUE(timers.empty() || timers.next() > now);
          break;
        default: set(random.Below(count));
      }
      ASSERT_EQ(timers.empty(), model.empty()) << "seed " << seed;
      for (size_t i = 0; i < count; ++i) {
        const bool is_set = std::any_of(model.begin(), model.end(),
                                        [&](const Pending& one) { return one.which == i; });
        ASSERT_EQ(all[i]->is_set(), is_set) << "seed " << seed;
      }
    }
    for (size_t i = 0; i < count; ++i) cancel(i);
  }
}

TEST(ManualExecutorTest, RunsWhatWasPostedThenWhatIsDue) {
  ManualClock clock(kStart);
  ManualExecutor executor(clock);
  V ran;
  Noted due([&](const Turn&) { ran.push_back(2); });
  executor.timers().Set(due, kStart);
  executor.Post([&](const Turn& now) {
    EXPECT_EQ(now.at(), kStart);
    ran.push_back(1);
    executor.Post([&](const Turn&) { ran.push_back(3); });
  });
  EXPECT_TRUE(executor.RunSome());
  EXPECT_EQ(ran, V({1, 2})) << "what is posted meanwhile has a turn of its own";
  EXPECT_TRUE(executor.RunSome());
  EXPECT_EQ(ran, V({1, 2, 3}));
  EXPECT_FALSE(executor.RunSome());
}

}  // namespace
}  // namespace weir::timers_test
