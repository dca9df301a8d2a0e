#include "tests/e2e/beliefs.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace weir::e2e {

// Whoever is killed with the lock in hand has changed nothing: he was doomed before.
class Beliefs::Lock {
 public:
  explicit Lock(Beliefs* beliefs, int client = -1) : mutex_(&beliefs->mutex_) {
    if (pthread_mutex_lock(mutex_) == EOWNERDEAD) pthread_mutex_consistent(mutex_);
    if (client < 0 || !beliefs->doomed_[static_cast<size_t>(client)]) return;
    pthread_mutex_unlock(mutex_);
    while (true) pause();
  }
  ~Lock() { pthread_mutex_unlock(mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t* const mutex_;
};

Beliefs* Beliefs::InSharedMemory() {
  void* const memory =
      mmap(nullptr, sizeof(Beliefs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return new (memory) Beliefs;
}

Beliefs::Beliefs() {
  pthread_mutexattr_t how;
  pthread_mutexattr_init(&how);
  pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex_, &how);
  pthread_mutexattr_destroy(&how);
}

bool Beliefs::Counts(const Belief& belief, Clock::time_point now) const {
  if (belief.state == State::kFree || now >= belief.until) return false;
  return belief.state == State::kStaged || !doomed_[static_cast<size_t>(belief.client)];
}

void Beliefs::Check() {
  const auto now = Clock::now();
  std::array<uint64_t, kSubjects.size()> held{};
  uint64_t total = 0;
  for (const Belief& belief : beliefs_) {
    if (!Counts(belief, now)) continue;
    held[belief.subject] += belief.copies;
    total += belief.copies;
  }
  const auto above = [&](const std::string& who, uint64_t copies, uint64_t limit) {
    if (copies <= limit) return;
    Break(who + " held " + std::to_string(copies) + " of " + std::to_string(limit));
  };
  for (size_t i = 0; i < held.size(); ++i) above(kSubjects[i], held[i], kPerSubject);
  above("the pair", held[0] + held[1], kPair);
  above("all together", total, kTotal);
}

void Beliefs::Break(const std::string& promise) {
  if (broken_[0] == '\0') promise.copy(broken_.data(), broken_.size() - 1);
}

int Beliefs::Add(const Belief& belief) {
  for (size_t i = 0; i < beliefs_.size(); ++i) {
    if (beliefs_[i].state != State::kFree) continue;
    beliefs_[i] = belief;
    return static_cast<int>(i);
  }
  std::abort();
}

uint64_t Beliefs::Generation() {
  const Lock lock(this);
  return generation_;
}

std::optional<int> Beliefs::Grant(int client, uint64_t generation, size_t subject, uint64_t copies,
                                  Clock::time_point until) {
  const Lock lock(this, client);
  if (generation != generation_) return std::nullopt;
  const int number = Add({State::kHeld, client, subject, copies, generation, until, {}});
  Add(Count::kGranted);
  Check();
  return number;
}

void Beliefs::Release(int number, uint64_t copies) {
  Belief& belief = beliefs_[static_cast<size_t>(number)];
  const Lock lock(this, belief.client);
  belief.copies -= copies;
  if (belief.copies == 0) belief.state = State::kFree;
  Add(Count::kReleased);
}

void Beliefs::Stage(int number, uint64_t copies, const std::string& transfer,
                    Clock::time_point until) {
  Belief& belief = beliefs_[static_cast<size_t>(number)];
  const Lock lock(this, belief.client);
  Belief staged = belief;
  staged.state = State::kStaged;
  staged.copies = copies;
  // Unless the server was killed since: then the end that the hold has is that of the transfer.
  staged.until = belief.generation == generation_ ? until : std::min(until, belief.until);
  transfer.copy(staged.transfer, sizeof staged.transfer - 1);
  belief.copies -= copies;
  if (belief.copies == 0) belief.state = State::kFree;
  Add(staged);
  Add(Count::kTransferred);
}

std::optional<Beliefs::Transfer> Beliefs::PickTransfer(int client, uint64_t generation) {
  const Lock lock(this, client);
  for (size_t i = 0; i < beliefs_.size(); ++i) {
    Belief& belief = beliefs_[i];
    if (belief.state != State::kStaged) continue;
    if (belief.generation != generation || Clock::now() >= belief.until) {
      belief.state = State::kFree;
      continue;
    }
    belief.state = State::kSeizing;
    belief.client = client;
    return Transfer{static_cast<int>(i), belief.transfer};
  }
  return std::nullopt;
}

bool Beliefs::Seized(int number, const std::string& subject, uint64_t copies,
                     Clock::time_point until) {
  Belief& belief = beliefs_[static_cast<size_t>(number)];
  const Lock lock(this, belief.client);
  if (kSubjects[belief.subject] != subject || belief.copies != copies) {
    Break("a transfer has changed");
  }
  if (belief.generation != generation_) return false;
  belief.state = State::kHeld;
  belief.until = until;
  Add(Count::kSeized);
  Check();
  return true;
}

void Beliefs::NotSeized(int number) {
  Belief& belief = beliefs_[static_cast<size_t>(number)];
  const Lock lock(this, belief.client);
  const bool in_time = Clock::now() < belief.until && belief.generation == generation_;
  if (in_time) Break("a transfer was gone before its time");
  belief.state = State::kFree;
}

void Beliefs::Renew(int client, uint64_t generation, Clock::time_point until) {
  const Lock lock(this, client);
  if (generation != generation_) return;
  for (Belief& belief : beliefs_) {
    if (belief.state == State::kHeld && belief.client == client) belief.until = until;
  }
  Add(Count::kRenewed);
}

void Beliefs::LoseAll(int client) {
  const Lock lock(this, client);
  for (Belief& belief : beliefs_) {
    if (belief.state != State::kStaged && belief.client == client) belief.state = State::kFree;
  }
  Add(Count::kLost);
}

void Beliefs::Broken(int client, const std::string& promise) {
  const Lock lock(this, client);
  Break(promise);
}

void Beliefs::Doom(int client) {
  const Lock lock(this);
  doomed_[static_cast<size_t>(client)] = true;
}

void Beliefs::Bury(int client) {
  const Lock lock(this);
  for (Belief& belief : beliefs_) {
    if (belief.state != State::kStaged && belief.client == client) belief.state = State::kFree;
  }
  doomed_[static_cast<size_t>(client)] = false;
}

void Beliefs::ServerEnds() {
  const Lock lock(this);
  ++generation_;
  const auto until = Clock::now() + Surely(kSessionTimeout);
  for (Belief& belief : beliefs_) belief.until = std::min(belief.until, until);
}

void Beliefs::ServerIsBack() {
  const Lock lock(this);
  ++generation_;
}

uint64_t Beliefs::count(Count what) {
  const Lock lock(this);
  return counts_[static_cast<size_t>(what)];
}

std::string Beliefs::broken() {
  const Lock lock(this);
  return broken_.data();
}

}  // namespace weir::e2e
