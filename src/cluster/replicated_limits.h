// Replicated limits: between the store, which decides, and the replicas, which tell.
//
//   a request's thread   store -> Note               what was taken, into a journal; it may wake the
//                                                    thread of the cluster
//                        store -> Begin              for a key that is new here
//   the cluster's thread Tick     journal -> replicas -> envelopes
//                        Receive  envelopes -> replicas -> news -> store (OnNews)
//
// A request pays for an entry in the journal, no more: rows, merges and envelopes are the cluster's
// thread's. What others have used waits here by key until it is in the state: news are taken with
// the key locked, so they are counted once, whether they come by News or by Begin.
//
// Locks: the store's key, then mutex_; a shard of the journal alone.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <mutex>

#include <absl/container/flat_hash_map.h>

#include "base/polite_mutex.h"
#include "replication/counter_replica.h"
#include "replication/debt_replica.h"
#include "replication/queue_replica.h"
#include "store/coordinator.h"

namespace weir::cluster {

struct ReplicationOptions {
  Duration interval = std::chrono::milliseconds(300);  // of gossip: counter and queue
  // The journal is read so often at most.
  Duration batch = std::chrono::microseconds(500);
  DebtOptions debt{.report_changes = true};
  uint64_t seed = 0;
};

// How the replicas of a server are set.
CounterOptions CounterOf(const ReplicationOptions& options);
QueueOptions QueueOf(const ReplicationOptions& options);

struct ReplicationCounts {
  uint64_t noted = 0;        // uses of this node
  uint64_t told = 0;         // rows of debts and windows
  uint64_t pushes = 0;       // of those, tellings that could not wait
  uint64_t merged = 0;       // changes that others told
  uint64_t deferred = 0;     // of those, for windows that had not begun here
  uint64_t refused = 0;      // envelopes that made no sense
  uint64_t turned_away = 0;  // subjects that each node counts alone, for there are too many
  uint64_t keys = 0;
  uint64_t bytes = 0;
};

class ReplicatedLimits final : public Coordinator, public Correspondent {
 public:
  ReplicatedLimits(Origin self, const ReplicationOptions& options, Instant now);

  // Before the first use. `wake` comes from any thread: NextTick has become earlier. `news` comes
  // from the thread that calls Tick and Receive, with nothing locked.
  void OnWake(std::function<void()> wake) { wake_ = std::move(wake); }
  void OnNews(std::function<void(const Key&, Instant)> news) { news_ = std::move(news); }

  // Coordinator: from any thread.
  void Note(const Use& use) override;
  std::vector<OthersUse> Begin(const Key& key, const CoordinatedLimit& limit, Windows windows,
                               Instant now) override;
  std::vector<OthersUse> News(const Key& key, const CoordinatedLimit& limit, Instant now) override;
  void Defer(const Key& key, const OthersUse& use) override;
  void Forget(const Key& key) override;

  // Correspondent: from one thread.
  void SetPeers(std::vector<uint32_t> peers) override;
  std::vector<Envelope> Tick(Instant now) override;
  Instant NextTick() const override;
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override;
  std::vector<Envelope> Farewell(Instant now) override;
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) override;

  ReplicationCounts Counts() const;

 private:
  // What others used, in ticks of the numbers that the replica had then.
  struct Heard {
    OthersUse use;
    ReplicatedBucket numbers;
  };

  static constexpr size_t kShards = 8, kMostInShard = size_t{1} << 15;
  struct Shard {
    std::mutex mutex;
    std::vector<Use> uses;     // guarded by mutex
    std::vector<Use> reading;  // came before those; guarded by ReplicatedLimits::mutex_
    size_t read = 0;           // of them
  };
  static constexpr size_t kReadAtOnce = 1000;

  // These are called under mutex_.
  std::array<Replica*, 3> Replicas() { return {&counter_, &queue_, &debt_}; }
  Replica& ReplicaFor(const CoordinatedLimit& limit);
  void Enter(const Use& use);
  size_t ReadJournal(Shard& shard, size_t most = kReadAtOnce);  // how many it read
  void ReadWholeJournal();
  std::vector<Key> KeepNews();
  std::vector<OthersUse> HitsOf(const Key& key, Instant now);

  void Tell(const std::vector<Key>& keys, Instant now);
  void CatchUp();

  // Under mutex_; then those have their turn who waited for it.
  template <typename Act>
  void InTurn(const Act& act) const {
    {
      const std::lock_guard lock(mutex_);
      act();
    }
    mutex_.LetOthersIn();
  }

  const ReplicationOptions options_;
  std::function<void()> wake_;
  std::function<void(const Key&, Instant)> news_;

  std::array<Shard, kShards> journal_;
  std::atomic<uint64_t> waiting_{0};  // in the journal
  std::atomic<uint64_t> noted_{0};

  mutable PoliteMutex mutex_;
  CounterReplica counter_;  // guarded by mutex_, all below
  QueueReplica queue_;
  DebtReplica debt_;
  absl::flat_hash_map<Key, std::vector<Heard>, HashOfKey> news_of_;
  std::vector<std::pair<Key, OthersUse>> deferred_;
  ReplicationCounts counts_;
  Instant read_at_ = Instant::min();  // the journal, the last time
};

}  // namespace weir::cluster
