// What clients in processes of their own believe that they hold, in memory that all share and that
// outlives each of them: a second account of the copies, which the server has no part in.
//
// A belief begins when a grant was answered and ends before a release is sent, so at every instant
// the server's own count is at least the sum of the beliefs; were the sum above a limit, the server
// would have granted too much. Each grant is checked under one lock, hence exactly.
//
// What ends without its owner's doing ends here no later than the server may act on it: the beliefs
// of a client before it is killed; those of a session that is not renewed when its time is up; all
// of them a session timeout after the server was killed. A transfer counts until it is seized or
// its time is up, whatever becomes of its giver.
#pragma once

#include <pthread.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace weir::e2e {

using Clock = std::chrono::steady_clock;

constexpr std::array<const char*, 4> kSubjects = {"ann", "bob", "cid", "dan"};
constexpr uint64_t kPerSubject = 4, kPair = 6, kTotal = 9;  // the pair: ann and bob
constexpr std::chrono::milliseconds kSessionTimeout(1000);

// The server's clock is slewed; whoever reckons with a time to live keeps clear of its last moment.
constexpr Clock::duration Surely(std::chrono::milliseconds ttl) { return ttl * 98 / 100; }

class Beliefs {
 public:
  static constexpr int kMost = 512, kClients = 16;
  enum class Count { kGranted, kReleased, kTransferred, kSeized, kRenewed, kLost, kCounts };
  struct Transfer {
    int belief;
    std::string name;
  };

  static Beliefs* InSharedMemory();

  // Of a client. A doomed one does not come back from these.
  //
  // Even: a server that may be connected to; odd: there is none now.
  uint64_t Generation();
  // The belief's number; none if the server that granted was killed since.
  std::optional<int> Grant(int client, uint64_t generation, size_t subject, uint64_t copies,
                           Clock::time_point until);
  void Release(int belief, uint64_t copies);
  void Stage(int belief, uint64_t copies, const std::string& transfer, Clock::time_point until);
  // A transfer that nobody else will try to seize.
  std::optional<Transfer> PickTransfer(int client, uint64_t generation);
  // False if the server was killed since.
  bool Seized(int belief, const std::string& subject, uint64_t copies, Clock::time_point until);
  void NotSeized(int belief);
  void Renew(int client, uint64_t generation, Clock::time_point until);
  void LoseAll(int client);
  void Broken(int client, const std::string& promise);

  // Of the test.
  void Doom(int client);
  void Bury(int client);
  void ServerEnds();
  void ServerIsBack();
  uint64_t count(Count what);
  std::string broken();  // the first promise that was; empty: none

 private:
  enum class State { kFree, kHeld, kStaged, kSeizing };
  struct Belief {
    State state;
    int client;
    size_t subject;
    uint64_t copies;
    uint64_t generation;
    Clock::time_point until;
    char transfer[33];
  };
  class Lock;

  Beliefs();
  bool Counts(const Belief& belief, Clock::time_point now) const;
  int Add(const Belief& belief);
  void Check();
  void Break(const std::string& promise);
  void Add(Count what) { ++counts_[static_cast<size_t>(what)]; }

  pthread_mutex_t mutex_;
  uint64_t generation_ = 1;
  std::array<bool, kClients> doomed_{};
  std::array<Belief, kMost> beliefs_{};
  std::array<uint64_t, static_cast<size_t>(Count::kCounts)> counts_{};
  std::array<char, 400> broken_{};
};

}  // namespace weir::e2e
