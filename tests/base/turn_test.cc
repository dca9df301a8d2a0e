// An instant that outlives its turn does not compile.
#include "base/turn.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace weir::turn_test {
namespace {

// What a capture by value, a field that is assigned, and a container would need.
static_assert(!std::is_copy_constructible_v<Turn> && !std::is_move_constructible_v<Turn>);
static_assert(!std::is_copy_assignable_v<Turn> && !std::is_move_assignable_v<Turn>);
// Nobody makes a turn of an instant that he has kept.
static_assert(!std::is_constructible_v<Turn, Instant>);
static_assert(std::is_constructible_v<Turn, Clock&>);
// What it is handed down in is not kept either.
struct Asked {
  int what;
  Turn::Field now;
};
static_assert(!std::is_copy_constructible_v<Asked> && !std::is_move_constructible_v<Asked>);

TEST(Turn, IsTheInstantAtWhichItBegan) {
  ManualClock clock(FromNanos(7));
  const Turn turn(clock);
  clock.Advance(Duration(1));
  EXPECT_EQ(turn.at(), FromNanos(7));
  const Asked asked{1, turn};
  const Turn& same = asked.now;
  EXPECT_EQ(&same, &turn);
  EXPECT_EQ(Wait(asked.now, FromNanos(9)), Duration(2));
}

}  // namespace
}  // namespace weir::turn_test
