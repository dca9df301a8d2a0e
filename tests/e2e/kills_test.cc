// A storm of kill -9, of clients and of the server, while copies are reserved, released, transferred
// and seized: never more than the limits, nothing left behind, no count below zero. What is held is
// counted by the clients themselves (beliefs.h).
//
// The seed is printed, and WEIR_SEED repeats its choices (though not the kernel's).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "lab/live/free_port.h"
#include "tests/e2e/hold_session.h"
#include "tests/e2e/holder.h"
#include "tests/e2e/server_process.h"

namespace weir::e2e::kills_test {
namespace {

using Millis = std::chrono::milliseconds;

std::string Rules() {
  return "namespaces: {n: {resources: {box: {copies: {per_subject: " + std::to_string(kPerSubject) +
         ", total: " + std::to_string(kTotal) +
         ", groups: [{name: pair, limit: " + std::to_string(kPair) +
         ", subjects: [ann, bob]}]}}}}}\n";
}

uint64_t Seed() {
  const char* given = std::getenv("WEIR_SEED");
  if (given != nullptr) return std::strtoull(given, nullptr, 10);
  return static_cast<uint64_t>(Clock::now().time_since_epoch().count());
}

class E2eKills : public ::testing::Test {
 protected:
  static constexpr int kHolders = 7;  // two of them over HTTP

  void SetUp() override {
    std::cout << "WEIR_SEED=" << seed_ << "\n";
    ASSERT_EQ(pipe(end_of_test_), 0);
    StartServer();
  }
  void TearDown() override {
    KillHolders();
    close(end_of_test_[0]);
    close(end_of_test_[1]);
  }

  uint64_t Roll(uint64_t from, uint64_t to) {
    return std::uniform_int_distribution<uint64_t>(from, to)(random_);
  }
  void Pass(Millis time) { WaitForEndOfTest(end_of_test_[0], time); }

  // On the same ports each time.
  void StartServer() {
    server_ = std::make_unique<ServerProcess>(std::vector<std::string>{
        "--config", files_.Write("rules.yaml", Rules()), "--data", files_.path() + "/data",
        "--session-timeout", std::to_string(kSessionTimeout.count()) + "ms", "--resp",
        "127.0.0.1:" + std::to_string(resp_port_), "--http",
        "127.0.0.1:" + std::to_string(http_port_)});
    ASSERT_NE(server_->port("resp"), 0) << server_->log();
    beliefs_->ServerIsBack();
  }
  void KillServer() {
    beliefs_->ServerEnds();
    server_->Signal(SIGKILL);
    ASSERT_EQ(server_->WaitForEnd(), -SIGKILL) << server_->log();
  }

  void StartHolder(int client) {
    const Holder who{.client = client,
                     .seed = random_(),
                     .resp_port = resp_port_,
                     .http_port = http_port_,
                     .over_http = client < 2,
                     .end_of_test = end_of_test_[0]};
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      close(end_of_test_[1]);
      RunHolder(who, *beliefs_);
    }
    holders_[static_cast<size_t>(client)] = pid;
  }
  void KillHolder(int client) {
    pid_t& pid = holders_[static_cast<size_t>(client)];
    if (pid == 0) return;
    beliefs_->Doom(client);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    beliefs_->Bury(client);
    pid = 0;
  }
  void KillHolders() {
    for (int i = 0; i < kHolders; ++i) KillHolder(i);
  }

  // Kills until `kills` were killed in all, with load in between.
  void Storm(int kills) {
    for (int i = 0; i < kHolders; ++i) StartHolder(i);
    while (kills_ < kills && beliefs_->broken().empty() && !HasFatalFailure()) {
      Pass(Millis(Roll(0, 400)));
      ++kills_;
      if (kills_ % 8 != 0) {
        const int client = static_cast<int>(Roll(0, kHolders - 1));
        KillHolder(client);
        StartHolder(client);
      } else {
        KillServer();
        StartServer();
        if (Roll(0, 2) != 0) continue;
        Pass(Millis(Roll(0, 1000)));  // again before it grants anything
        KillServer();
        StartServer();
      }
    }
    Pass(kSessionTimeout * 3 / 2);  // so that the last server, too, has something to forget
    KillHolders();
    EXPECT_EQ(beliefs_->broken(), "");
  }

  std::string Metrics() {
    const std::string all = HttpGet(http_port_, "/metrics");
    std::string found;
    for (const char* name : {"weir_holds", "weir_transfers", "weir_waiting", "weir_sessions"}) {
      const size_t at = all.find("\n" + std::string(name) + " ") + 1;
      found += all.substr(at, all.find('\n', at) + 1 - at);
    }
    return found;
  }

  // Connections are closed, and no session or transfer lives for more than a second.
  void ExpectNothingIsLeft() {
    const std::string none = "weir_holds 0\nweir_transfers 0\nweir_waiting 0\nweir_sessions 0\n";
    const auto patience = Clock::now() + kSessionTimeout + Millis(1500);
    std::string metrics = Metrics();
    while (metrics != none && Clock::now() < patience) metrics = Metrics();
    EXPECT_EQ(metrics, none);
  }

  // Exactly as many as the limits say.
  void ExpectAllCanBeReserved() {
    const auto session = HoldSession::OverResp(resp_port_);
    const Millis patience = 3 * kSessionTimeout;  // the server may have been killed a moment ago
    for (const char* subject : kSubjects) {
      const HoldAnswer all = session->Reserve(subject, kTotal, 1, patience);
      EXPECT_EQ(all.copies, kPerSubject) << all.text;
      EXPECT_EQ(all.greatest, kTotal) << "the limit; no count is greater: " << all.text;
      EXPECT_NE(all.text.find("held_total\r\n:" + std::to_string(kPerSubject) + "\r\n"),
                std::string::npos)
          << all.text;
      EXPECT_EQ(session->Reserve(subject, 1, 1, Millis(0)).kind, HoldAnswer::kNo);
      session->Release(all.name, all.copies);
    }
    const uint64_t shares[] = {kPerSubject, kPair - kPerSubject, kTotal - kPair, 0};
    for (size_t i = 0; i < kSubjects.size(); ++i) {
      EXPECT_EQ(session->Reserve(kSubjects[i], kTotal, 1, Millis(0)).copies, shares[i]);
    }
  }

  void ExpectThatMuchHappened() {
    using Count = Beliefs::Count;
    for (const Count what : {Count::kGranted, Count::kReleased, Count::kTransferred, Count::kSeized,
                             Count::kRenewed, Count::kLost}) {
      EXPECT_GT(beliefs_->count(what), static_cast<uint64_t>(kills_ / 10))
          << static_cast<int>(what);
    }
  }

  const uint64_t seed_ = Seed();
  std::mt19937_64 random_{seed_};
  int end_of_test_[2] = {-1, -1};
  TemporaryFiles files_;
  Beliefs* const beliefs_ = Beliefs::InSharedMemory();
  std::unique_ptr<ServerProcess> server_;
  std::array<pid_t, kHolders> holders_{};
  const int resp_port_ = lab::FreePort(), http_port_ = lab::FreePort();
  int kills_ = 0;
};

TEST_F(E2eKills, AFewNeitherGrantTooMuchNorLeaveAnythingBehind) {
  for (const int kills : {15, 30}) {
    Storm(kills);
    ExpectNothingIsLeft();
    ExpectAllCanBeReserved();
  }
  ExpectThatMuchHappened();
}

TEST_F(E2eKills, LongAThousandNeitherGrantTooMuchNorLeaveAnythingBehind) {
  for (int kills = 50; kills <= 1000 && !HasFailure(); kills += 50) {
    Storm(kills);
    ExpectNothingIsLeft();
    ExpectAllCanBeReserved();
  }
  ExpectThatMuchHappened();
}

}  // namespace
}  // namespace weir::e2e::kills_test
