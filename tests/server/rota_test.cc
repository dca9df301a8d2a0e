// Who is served when, while others ask for more than there is.
#include "server/net/rota.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

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

// A thread that does nothing but turns of the same length.
class Rotas : public ::testing::Test {
 protected:
  std::vector<std::unique_ptr<Client>> Crowd(size_t n, bool patient = false) {
    std::vector<std::unique_ptr<Client>> crowd;
    for (size_t i = 0; i < n; ++i) crowd.push_back(std::make_unique<Client>(patient));
    return crowd;
  }
  // One turn; null if nobody waits. Whoever is in `busy` comes again at once.
  Client* Turn(Duration takes, bool comes_again) {
    auto* const next = static_cast<Client*>(rota_.Next(now_));
    if (next == nullptr) return nullptr;
    late_ = rota_.Late(*next, now_);
    waited_ = rota_.Waited(*next, now_);
    const Instant began = now_;
    now_ += takes;
    rota_.Took(*next, now_, takes, late_);
    (late_ ? refused_ : served_) += 1;
    if (comes_again) rota_.AddAgain(*next, began);
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
  for (Client* client : {&a, &b, &c}) rota_.Add(*client, now_);
  rota_.Add(a, now_);  // waits already
  for (Client* client : {&a, &b, &c}) EXPECT_EQ(Turn(microseconds(10), false), client);
  EXPECT_EQ(Turn(microseconds(10), false), nullptr);
  EXPECT_TRUE(rota_.empty());
}

TEST_F(Rotas, WhoGoesAwayIsForgotten) {
  Client a(false), c(false);
  {
    Client b(false);
    for (Client* client : {&a, &b, &c}) rota_.Add(*client, now_);
  }
  EXPECT_EQ(Turn(microseconds(10), false), &a);
  EXPECT_EQ(Turn(microseconds(10), false), &c);
  EXPECT_TRUE(rota_.empty());
}

TEST_F(Rotas, WhoAsksForLittleIsNextHoweverManyFlood) {
  for (const bool patient : {false, true}) {
    auto flood = Crowd(500, patient);
    for (const auto& one : flood) rota_.Add(*one, now_);
    Client light(false);
    for (int i = 0; i < 20'000; ++i) Turn(microseconds(100), true);
    for (int i = 0; i < 100; ++i) {
      rota_.Add(light, now_);
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
  for (const auto& one : flood) rota_.Add(*one, now_);
  for (int i = 0; i < 1000; ++i) Turn(microseconds(500), true);
  std::vector<Client*> order;
  for (int i = 0; i < 100; ++i) order.push_back(Turn(microseconds(500), true));
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(order[i], order[i + 50]);
}

TEST_F(Rotas, ThePatientAreNeverRefused) {
  auto flood = Crowd(500, true);
  for (const auto& one : flood) rota_.Add(*one, now_);
  for (int i = 0; i < 5000; ++i) {
    Turn(microseconds(500), true);
    EXPECT_FALSE(late_);
  }
  EXPECT_GT(waited_, kDeadline);
}

// A thread that was not run for a while is no overload.
TEST_F(Rotas, APauseRefusesNobody) {
  Client a(false);
  rota_.Add(a, now_);
  now_ += std::chrono::seconds(1);
  EXPECT_EQ(Turn(microseconds(10), false), &a);
  EXPECT_FALSE(late_);
  EXPECT_EQ(waited_, std::chrono::seconds(1));
}

// Each asks once it was answered: 100 ms of work wait at all times.
TEST_F(Rotas, ACrowdThatIsTooLargeIsDecidedInTimeOrTold) {
  auto crowd = Crowd(10'000);
  for (const auto& one : crowd) rota_.Add(*one, now_);
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
      for (Client* one : idle) rota_.Add(*one, now_);
      idle.clear();
    }
  }
  EXPECT_GT(refused_, 100);
  EXPECT_GE(deciding * 100, all * 88) << "a tenth of the time is for refusing";
}

TEST_F(Rotas, WithoutADeadlineNobodyIsRefused) {
  Rota patient(Duration::zero());
  Client a(false), b(false);
  patient.Add(a, now_);
  for (int i = 0; i < 100; ++i) {
    patient.Add(b, now_);
    patient.Next(now_);
    patient.Took(b, now_, microseconds(1), false);
  }
  EXPECT_FALSE(patient.Late(a, now_ + std::chrono::hours(1)));
}

}  // namespace
}  // namespace weir::rota_test
