// Who is served when, while others ask for more than there is.
#include "net/rota.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "server/connections/backlog.h"

namespace weir::rota_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
constexpr Duration kDeadline = milliseconds(20);

struct Client : Rota::Member {
  explicit Client(bool patient) : Rota::Member(patient) {}
  Instant TakeTurn() override { return {}; }
};

// A thread that does nothing but turns.
class Rotas : public ::testing::Test {
 protected:
  std::vector<std::unique_ptr<Client>> Crowd(size_t n, bool patient = false) {
    std::vector<std::unique_ptr<Client>> crowd;
    for (size_t i = 0; i < n; ++i) crowd.push_back(std::make_unique<Client>(patient));
    return crowd;
  }
  void Add(Client& client) { rota_.Add(client, rota_.Now(now_), now_); }
  // One turn; null if nobody waits.
  Client* Turn(Duration takes, bool comes_again) {
    auto* const next = static_cast<Client*>(rota_.Next());
    if (next == nullptr) return nullptr;
    late_ = rota_.next_is_late();
    waited_ = rota_.Waited(*next, now_);
    now_ += takes;
    rota_.Took(*next, now_, takes, late_);
    (late_ ? refused_ : served_) += 1;
    if (comes_again) rota_.AddAgain(*next, rota_.Now(now_), now_);
    return next;
  }

  Rota rota_{kDeadline};
  Instant now_ = kStart;
  bool late_ = false;
  Duration waited_{};
  int served_ = 0, refused_ = 0;
};

TEST_F(Rotas, InOrderWhileThereIsLittleToDo) {
  Client a(false), b(true), c(false);
  EXPECT_TRUE(rota_.empty());
  for (Client* client : {&a, &b, &c}) Add(*client);
  Add(a);  // waits already
  for (Client* client : {&a, &b, &c}) EXPECT_EQ(Turn(microseconds(10), false), client);
  EXPECT_EQ(Turn(microseconds(10), false), nullptr);
  EXPECT_TRUE(rota_.empty());
}

TEST_F(Rotas, WhoGoesAwayIsForgotten) {
  Client a(false), c(false);
  {
    Client b(false);
    for (Client* client : {&a, &b, &c}) Add(*client);
  }
  EXPECT_EQ(Turn(microseconds(10), false), &a);
  EXPECT_EQ(Turn(microseconds(10), false), &c);
  EXPECT_TRUE(rota_.empty());
}

TEST_F(Rotas, WhoAsksForLittleIsNextHoweverManyFlood) {
  for (const bool patient : {false, true}) {
    auto flood = Crowd(500, patient);
    for (const auto& one : flood) Add(*one);
    Client light(false);
    for (int i = 0; i < 20'000; ++i) Turn(microseconds(100), true);
    for (int i = 0; i < 100; ++i) {
      Add(light);
      const Client* served = nullptr;
      for (int turns = 0; served != &light; ++turns) {
        ASSERT_LT(turns, 3) << "of the flood, before it";
        served = Turn(microseconds(10), false);
      }
      EXPECT_FALSE(late_);
      for (int turn = 0; turn < 20; ++turn) Turn(microseconds(100), true);
    }
  }
}

TEST_F(Rotas, TheFloodIsServedInTurn) {
  auto flood = Crowd(50, true);
  for (const auto& one : flood) Add(*one);
  for (int i = 0; i < 1000; ++i) Turn(microseconds(500), true);
  std::vector<Client*> order;
  for (int i = 0; i < 100; ++i) order.push_back(Turn(microseconds(500), true));
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(order[i], order[i + 50]);
}

TEST_F(Rotas, ThePatientAreNeverRefused) {
  auto flood = Crowd(500, true);
  for (const auto& one : flood) Add(*one);
  for (int i = 0; i < 5000; ++i) {
    Turn(microseconds(500), true);
    EXPECT_FALSE(late_);
  }
  EXPECT_GT(waited_, kDeadline);
}

// A thread that was not run for a while is no overload: neither between turns nor within one.
TEST_F(Rotas, APauseRefusesNobody) {
  auto crowd = Crowd(100);
  for (int pause = 0; pause < 2; ++pause) {
    for (const auto& one : crowd) Add(*one);
    now_ += std::chrono::seconds(pause);
    for (size_t i = 0; i < crowd.size(); ++i) {
      ASSERT_NE(Turn(i == 50 ? std::chrono::seconds(1) : microseconds(10), false), nullptr);
      EXPECT_FALSE(late_);
    }
  }
  EXPECT_GT(waited_, std::chrono::seconds(1));
}

// Each asks once it was answered: 100 ms of work wait at all times.
TEST_F(Rotas, ACrowdThatIsTooLargeIsDecidedInTimeOrTold) {
  auto crowd = Crowd(10'000);
  for (const auto& one : crowd) Add(*one);
  std::vector<Client*> idle;
  Duration deciding{}, all{};
  for (int i = 0; i < 400'000; ++i) {
    Client* const next = Turn(microseconds(10), false);
    ASSERT_NE(next, nullptr);
    if (i > 20'000) {
      all += microseconds(10);
      if (!late_) {
        deciding += microseconds(10);
        EXPECT_LE(waited_, kDeadline + milliseconds(10));
      }
    }
    idle.push_back(next);
    if (idle.size() == 16) {  // their next requests come
      for (Client* one : idle) Add(*one);
      idle.clear();
    }
  }
  EXPECT_GT(refused_, 100);
  EXPECT_GE(deciding * 100, all * 93) << "a twentieth of the time is for refusing";
}

// Those who ask now and then are light, each of them; all together they may be too many.
TEST_F(Rotas, ACrowdThatAsksRarelyIsDecidedInTimeOrTold) {
  constexpr Duration kThinks = milliseconds(25);
  auto crowd = Crowd(8000);
  std::deque<std::pair<Instant, Client*>> thinking;
  for (const auto& one : crowd) thinking.emplace_back(now_, one.get());
  Duration deciding{}, longest{};
  for (int i = 0; i < 400'000; ++i) {
    for (; !thinking.empty() && thinking.front().first <= now_; thinking.pop_front()) {
      Add(*thinking.front().second);
    }
    Client* const next = Turn(microseconds(10), false);
    ASSERT_NE(next, nullptr);
    longest = std::max(longest, waited_);
    if (!late_) {
      deciding += microseconds(10);
      EXPECT_LE(waited_, kDeadline + microseconds(10));
    }
    thinking.emplace_back(now_ + kThinks, next);
  }
  EXPECT_GT(refused_, 1000);
  EXPECT_GE(deciding * 100, (now_ - kStart) * 93);
  EXPECT_LT(longest, std::chrono::seconds(3)) << "until it is told";
}

TEST_F(Rotas, AFloodOfTheLightLeavesHalfOfTheTimeToOthers) {
  auto flood = Crowd(20'000, true);
  Client busy(true);
  Duration of_busy{};
  for (size_t i = 0; i < 200'000; ++i) {
    Add(*flood[i % flood.size()]);
    Add(*flood[(i + 1) % flood.size()]);
    if (!busy.waits()) Add(busy);
    const Instant began = now_;
    if (Turn(microseconds(20), false) == &busy) of_busy += now_ - began;
  }
  EXPECT_GE(of_busy * 100, (now_ - kStart) * 45);
}

// Each has 1,000 requests under way, and sends the next when one is answered. A turn takes 200.
TEST_F(Rotas, WhoAsksForTooMuchAtOnceIsDecidedInTimeOrTold) {
  constexpr size_t kDeep = 1000, kOfATurn = 200;
  struct Deep {
    std::unique_ptr<Client> client = std::make_unique<Client>(false);
    std::deque<Instant> sent;  // and not answered
    uint64_t read = 0;
    Backlog backlog;
    int decided = 0;
  };
  std::vector<Deep> crowd(64);
  std::map<Client*, Deep*> whose;
  for (Deep& deep : crowd) {
    whose[deep.client.get()] = &deep;
    deep.sent.assign(kDeep, now_);
    Add(*deep.client);
  }
  Duration deciding{}, slowest{};
  while (now_ - kStart < std::chrono::seconds(5)) {
    auto* const next = static_cast<Client*>(rota_.Next());
    ASSERT_NE(next, nullptr);
    Deep& deep = *whose[next];
    const bool late = rota_.next_is_late();
    const Duration takes = late ? microseconds(140) : microseconds(200);
    for (size_t i = 0; i < kOfATurn; ++i) {
      const bool warm = now_ - kStart > std::chrono::seconds(1);  // all had a turn
      if (!late && warm) slowest = std::max(slowest, now_ - deep.sent.front());
      deep.sent.pop_front();
    }
    now_ += takes;
    rota_.Took(*next, now_, takes, late);
    if (!late) deciding += takes, deep.decided += kOfATurn;
    deep.sent.insert(deep.sent.end(), kOfATurn, now_);
    deep.read += kOfATurn;
    const Rota::Since now = rota_.Now(now_);
    deep.backlog.Look(deep.read, kDeep, now);
    rota_.AddAgain(*next, deep.backlog.Since(deep.read, now), now_);
  }
  EXPECT_GE(deciding * 100, (now_ - kStart) * 90);
  EXPECT_LE(slowest, kDeadline + milliseconds(2)) << "of those that were decided";
  int decided = 0;
  for (const Deep& deep : crowd) decided += deep.decided;
  for (const Deep& deep : crowd)
    EXPECT_GT(deep.decided, decided / 64 / 4) << "all get about a part";
}

TEST_F(Rotas, WithoutADeadlineNobodyIsRefused) {
  Rota patient(Duration::zero());
  auto crowd = Crowd(5000);
  for (const auto& one : crowd) patient.Add(*one, patient.Now(now_), now_);
  for (size_t i = 0; i < crowd.size(); ++i) {
    Rota::Member* const next = patient.Next();
    EXPECT_FALSE(patient.next_is_late());
    patient.Took(*next, now_ += milliseconds(1), milliseconds(1), false);
  }
  EXPECT_TRUE(patient.empty());
}

// ---- Backlog: what is known of the bytes that are to be read next

Rota::Since At(int ms) { return {kStart + milliseconds(ms), milliseconds(ms)}; }

TEST(Backlogs, WhatWasThereAtALookHasWaitedSince) {
  Backlog backlog;
  EXPECT_EQ(backlog.Since(0, At(0)).at, At(0).at);
  backlog.Look(100, 50, At(1));
  backlog.Look(110, 60, At(2));
  EXPECT_EQ(backlog.Since(110, At(3)).work, At(1).work);
  EXPECT_EQ(backlog.Since(149, At(3)).work, At(1).work);
  EXPECT_EQ(backlog.Since(150, At(3)).work, At(2).work);
  EXPECT_EQ(backlog.Since(170, At(3)).work, At(3).work) << "nobody has seen it before";
}

// Of those that were made at about the same time, one will do.
TEST(Backlogs, ManyLooksAreRememberedByAFew) {
  Backlog backlog;
  for (uint64_t i = 0; i < 3; ++i) backlog.Look(0, 10 * (i + 1), At(static_cast<int>(100 * i)));
  for (uint64_t i = 0; i < 50; ++i) backlog.Look(0, 40 + i, At(static_cast<int>(300 + i)));
  EXPECT_EQ(backlog.Since(0, At(999)).work, At(0).work);
  EXPECT_EQ(backlog.Since(10, At(999)).work, At(100).work);
  EXPECT_EQ(backlog.Since(20, At(999)).work, At(200).work);
  EXPECT_GE(backlog.Since(30, At(999)).work, At(300).work);
  EXPECT_EQ(backlog.Since(88, At(999)).work, At(349).work);
  EXPECT_EQ(backlog.Since(89, At(999)).work, At(999).work);
}

TEST(Backlogs, WhatThePeerKeepsUsFromReadingDoesNotWaitForUs) {
  Backlog backlog;
  backlog.Look(0, 50, At(0));
  backlog.Pause(At(5));
  backlog.Resume(At(1005));
  EXPECT_EQ(backlog.Since(0, At(1006)).work, At(1000).work) << "6 ms of ours";
  EXPECT_EQ(backlog.Since(0, At(1006)).at, At(0).at);
}

}  // namespace
}  // namespace weir::rota_test
