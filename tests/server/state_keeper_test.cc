// Use on its way to the disk and back: nothing is lost, and nothing stays for ever.
#include "server/data/state_keeper.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include <filesystem>
#include <fstream>

#include "server/data/hold_mark.h"

namespace weir::state_keeper_test {
namespace {

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
constexpr std::string_view kRules = R"(
namespaces:
  n:
    resources:
      month: {limits: [{name: quota, algorithm: fixed_window, limit: 10, per: 30d, persist: true}]}
      minute: {limits: [{name: fast, limit: 10, per: 1m, persist: true}]}
      fleeting: {limits: [{limit: 10, per: 1h}]}
)";
constexpr std::string_view kOtherRules = "namespaces: {n: {resources: {}}}";

class StateKeeperTest : public ::testing::Test {
 protected:
  StateKeeperTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "weir-keeper-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~StateKeeperTest() override { std::filesystem::remove_all(directory_); }

  static std::shared_ptr<const Rulebook> Rules(std::string_view text) {
    std::string errors;
    auto rules = ParseRules(text, &errors);
    EXPECT_EQ(errors, "");
    return rules;
  }

  // A node from start to stop; time stands still at `now` unless told.
  struct Node {
    Node(const std::string& directory, std::string_view rules, Instant now)
        : clock(now), file(StateFile::Open(directory + "/state.db")) {
      EXPECT_TRUE(file) << file.error().message;
      limiter =
          std::make_unique<Limiter>(Rules(rules), LimiterOptions{.secret = (*file)->secret()}, now);
      keeper = std::make_unique<StateKeeper>(std::move(*file), std::chrono::milliseconds(100),
                                             *limiter, clock, problems);
      EXPECT_FALSE(keeper->Restore());
    }
    uint64_t Remaining(std::string_view resource, Instant now) {
      return limiter->Peek({"n", resource, "ann"}, now).remaining;
    }
    ManualClock clock;
    Problems problems{clock, std::make_shared<spdlog::logger>(
                                 "test", std::make_shared<spdlog::sinks::null_sink_mt>())};
    Result<std::unique_ptr<StateFile>> file;
    std::unique_ptr<Limiter> limiter;
    std::unique_ptr<StateKeeper> keeper;
  };
  std::unique_ptr<Node> Start(std::string_view rules = kRules, Instant now = kStart) {
    return std::make_unique<Node>(directory_, rules, now);
  }
  size_t Rows() {
    auto file = StateFile::Open(directory_ + "/state.db");
    return (*file)->Page("", 1000)->rows.size();
  }

  std::string directory_;
};

TEST_F(StateKeeperTest, WhatWasSavedIsThereAfterACrash) {
  {
    auto node = Start();
    node->limiter->Decide({"n", "month", "ann", 3}, kStart);
    node->limiter->Decide({"n", "fleeting", "ann", 3}, kStart);
    node->keeper->Save();
    node->limiter->Decide({"n", "month", "ann", 1}, kStart);  // lost
  }
  auto node = Start();
  EXPECT_EQ(node->Remaining("month", kStart), 7u);
  EXPECT_EQ(node->Remaining("fleeting", kStart), 10u);
  EXPECT_EQ(node->keeper->counters().restored.load(), 1u);
  EXPECT_EQ(Rows(), 1u);
}

TEST_F(StateKeeperTest, StoppingSavesWhatIsLeft) {
  {
    auto node = Start();
    node->keeper->Start();
    node->limiter->Decide({"n", "month", "ann", 3}, kStart);
    node->keeper->Stop();
  }
  EXPECT_EQ(Start()->Remaining("month", kStart), 7u);
}

TEST_F(StateKeeperTest, ARuleThatComesLaterFindsItsUse) {
  {
    auto node = Start();
    node->limiter->Decide({"n", "month", "ann", 3}, kStart);
    node->keeper->Save();
  }
  auto node = Start(kOtherRules);
  node->limiter->Install(Rules(kRules), kStart);
  EXPECT_FALSE(node->keeper->Restore());
  EXPECT_EQ(node->Remaining("month", kStart), 7u);
}

TEST_F(StateKeeperTest, ARowGoesWhenItsStateHasExpired) {
  auto node = Start();
  node->limiter->Decide({"n", "minute", "ann", 3}, kStart);
  node->limiter->Decide({"n", "month", "ann", 3}, kStart);
  node->keeper->Save();
  EXPECT_EQ(Rows(), 2u);
  const Instant later = kStart + std::chrono::hours(1);
  node->clock.Set(later);
  node->keeper->LookAtSomeRows();
  node->keeper->Save();
  EXPECT_EQ(Rows(), 1u);
  node->clock.Advance(std::chrono::hours(1));
  node->keeper->LookAtSomeRows();
  node->keeper->Save();
  EXPECT_EQ(Rows(), 1u) << "what is in use stays";
}

TEST_F(StateKeeperTest, ARowWithoutARuleWaitsForIt) {
  {
    auto node = Start();
    node->limiter->Decide({"n", "month", "ann", 3}, kStart);
    node->keeper->Save();
    node->limiter->Install(Rules(kOtherRules), kStart);
    node->keeper->Restore();
    node->clock.Advance(std::chrono::hours(24));
    node->keeper->LookAtSomeRows();
    node->keeper->Save();
    EXPECT_EQ(Rows(), 1u);
    node->clock.Set(kStart + std::chrono::hours(24 * 500));
    node->keeper->LookAtSomeRows();
    EXPECT_EQ(Rows(), 0u) << "but not for ever";
  }
}

TEST_F(StateKeeperTest, AClockThatWasFarAheadLocksNobodyOutAndItsRowsGo) {
  const Instant ahead = kStart + std::chrono::hours(24 * 365 * 68);
  {
    auto node = Start(kRules, ahead);
    EXPECT_TRUE(node->limiter->Decide({"n", "minute", "ann", 10}, ahead).allowed);
    node->keeper->Save();
  }
  auto node = Start();
  EXPECT_EQ(node->Remaining("minute", kStart), 0u);
  EXPECT_EQ(node->Remaining("minute", kStart + std::chrono::minutes(1)), 10u);
  node->clock.Advance(std::chrono::minutes(2));
  node->keeper->LookAtSomeRows();
  node->keeper->Save();
  EXPECT_EQ(Rows(), 0u);
}

TEST_F(StateKeeperTest, ABatchThatCannotBeWrittenIsWrittenLater) {
  auto node = Start();
  auto other = OpenDatabase(directory_ + "/state.db");
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->BeginWrite());  // as a full disk would
  node->limiter->Decide({"n", "month", "ann", 3}, kStart);
  node->keeper->Save();
  EXPECT_EQ(node->keeper->counters().failed_batches.load(), 1u);
  (*other)->Rollback();
  node->keeper->Save();
  EXPECT_EQ(node->keeper->counters().saved.load(), 1u);
  EXPECT_EQ(Start()->Remaining("month", kStart), 7u);
}

TEST_F(StateKeeperTest, TheSecretStays) {
  const auto secret = (*StateFile::Open(directory_ + "/state.db"))->secret();
  EXPECT_EQ((*StateFile::Open(directory_ + "/state.db"))->secret(), secret);
  const auto other = (*StateFile::Open(directory_ + "/other.db"))->secret();
  EXPECT_NE(other, secret);
}

TEST_F(StateKeeperTest, ABrokenFileIsAClearError) {
  std::ofstream(directory_ + "/state.db") << "this is not a database, and long enough to tell";
  const auto file = StateFile::Open(directory_ + "/state.db");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("state.db"), std::string::npos) << file.error().message;
}

class HoldMarkTest : public StateKeeperTest {
 protected:
  std::unique_ptr<HoldMark> Open() {
    auto mark = HoldMark::Open(directory_ + "/holds");
    EXPECT_TRUE(mark);
    return std::move(*mark);
  }
};

TEST_F(HoldMarkTest, OnlyACrashWithHoldsLeavesSomethingBehind) {
  EXPECT_FALSE(Open()->left_behind()) << "the first start";
  EXPECT_FALSE(Open()->left_behind()) << "a crash without holds";
  Open()->outstanding()->store(2);
  EXPECT_TRUE(Open()->left_behind());
  Open()->Recovered();
  EXPECT_FALSE(Open()->left_behind()) << "once is enough";
  {
    auto mark = Open();
    mark->outstanding()->store(2);
    mark->StopInOrder();
  }
  EXPECT_FALSE(Open()->left_behind());
}

TEST_F(HoldMarkTest, WhoIsLeftBehindIsRememberedUntilHeMustHaveNoticed) {
  Open()->outstanding()->store(2);
  EXPECT_TRUE(Open()->left_behind());
  EXPECT_TRUE(Open()->left_behind()) << "killed again, though nothing new was held";
  Open()->StopInOrder();
  EXPECT_TRUE(Open()->left_behind()) << "stopped in order, but too early";
  Open()->Recovered();
  EXPECT_FALSE(Open()->left_behind());
}

TEST_F(HoldMarkTest, AfterAPowerFailureTheCountIsNotBelieved) {
  Open();
  std::fstream file(directory_ + "/holds", std::ios::in | std::ios::out | std::ios::binary);
  file.write("another-boot", 12);
  file.close();
  EXPECT_TRUE(Open()->left_behind());
}

// What a disk does that forgets: the row is changed behind the keeper's back.
void Edit(const std::string& directory, Sql sql) {
  const auto database = OpenDatabase(directory + "/state.db");
  ASSERT_TRUE(database);
  const auto done = (*database)->Query(sql);
  ASSERT_TRUE(done) << done.error().message;
}

TEST_F(StateKeeperTest, ADamagedRowIsDroppedAndCountedWhereverTheBitIs) {
  const Sql damages[] = {Sql("UPDATE weir_states SET state = '0' || SUBSTR(state, 2) || '00'"),
                         Sql("UPDATE weir_states SET used = used + 1"),
                         Sql("UPDATE weir_states SET at = at + 1"),
                         Sql("UPDATE weir_states SET numbers = numbers || ' '"),
                         Sql("UPDATE weir_states SET limit_name = limit_name || ' '"),
                         Sql("UPDATE weir_states SET key = 'f' || SUBSTR(key, 2) WHERE key < 'f'"),
                         Sql("UPDATE weir_states SET checksum = ''"),
                         Sql("UPDATE weir_states SET state = 'xx'")};
  for (const Sql damage : damages) {
    std::filesystem::remove_all(directory_ + "/state.db");
    std::filesystem::remove_all(directory_ + "/state.db-wal");
    std::filesystem::remove_all(directory_ + "/state.db-shm");
    {
      auto node = Start();
      for (const char* subject : {"ann", "bob", "cid"}) {
        node->limiter->Decide({"n", "month", subject, 3}, kStart);
      }
      node->keeper->Save();
    }
    Edit(directory_, damage);
    auto node = Start();
    EXPECT_GE(node->keeper->counters().damaged.load(), 1u) << damage.text();
    EXPECT_EQ(node->keeper->counters().damaged.load() + node->keeper->counters().restored.load(),
              3u)
        << damage.text();
    EXPECT_EQ(Rows(), node->keeper->counters().restored.load()) << damage.text();
  }
}

TEST_F(StateKeeperTest, RowsWithoutAChecksumAreTakenOver) {
  {
    auto node = Start();
    node->limiter->Decide({"n", "month", "ann", 3}, kStart);
    node->keeper->Save();
  }
  Edit(directory_, "ALTER TABLE weir_states DROP COLUMN checksum");
  auto node = Start();
  EXPECT_EQ(node->Remaining("month", kStart), 7u);
  EXPECT_EQ(node->keeper->counters().damaged.load(), 0u);
  EXPECT_EQ(Rows(), 1u);
}

}  // namespace
}  // namespace weir::state_keeper_test
