// The queue: the thesis' own design (000, chapter 4). What a key has is a TokenQueue
// (token_queue.h); its elements are the pieces that are owed to the peers (deltas.h).
//
//   admit n iff the tokens of the elements that count, and n, fit the capacity; then there is an
//   element of weight n
//
// Ages of births and lengths of lives travel, no clock readings. Two extensions:
//
//   frequency  an admission looks at what is waiting for each peer of this key: if its last
//              `window` tokens came in gaps of less than `frequency_threshold` on average, they are
//              sent to that peer at once (Listing 4.5, erratum 3: gaps between window - 1)
//   linf       gossip goes to the peer for which most waits, not to any (Listings 4.6 to 4.8)
//
// A key without elements is dropped. `margin` has to be at least the time until all have heard, or
// elements die untold and a slow over-user is never refused (section 5.4); 0 is the thesis.
//
// Bound: as of the counter, if margin >= D.
#pragma once

#include <deque>
#include <utility>

#include "replication/copy_letter.h"
#include "replication/deltas.h"
#include "replication/token_queue.h"

namespace weir {

struct QueueOptions {
  Duration interval = std::chrono::milliseconds(300);
  uint32_t fan_out = 1;  // peers that are told each time
  bool linf = false;
  bool frequency = false;
  Duration frequency_threshold = std::chrono::milliseconds(2400);
  size_t window = 0;  // tokens; 0: max(2, capacity / nodes)
  Duration margin = Duration::zero();
  uint64_t seed = 0;
  bool report_changes = false;  // for TakeChanges
};

class QueueReplica final : public Replica {
 public:
  QueueReplica(Origin self, const QueueOptions& options);

  void SetPeers(std::vector<uint32_t> peers) override;
  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override;
  void Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override;
  void Refund(const StateName& name, uint64_t cost, Instant now) override;
  int128 Level(const Key& key, const ReplicatedBucket& limit, Instant now) override;
  std::vector<Envelope> Tick(Instant now) override;
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override;
  Instant NextTick() const override {
    return pushed_.empty() && !busy() ? deltas_.next() : Instant::min();
  }
  std::vector<Envelope> Farewell(Instant now) override;
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) override;
  // Of a log (limit 0), a change names the instant of the hit as its window.
  std::vector<Change> TakeChanges() override { return std::exchange(changes_, {}); }
  size_t bytes() const override;
  void CountBytes(MemoryCount& count, Steps& steps) const override;
  size_t keys() const override { return queues_.size(); }

  uint64_t Remaining(const Key& key, const ReplicatedBucket& limit, Instant now);
  // What is known of a key; null if nothing is.
  const TokenQueue* Find(const Key& key) const;
  // Elements that some peer is not known to know.
  size_t owed() const { return deltas_.owed(); }

 private:
  friend Deltas<ElementName>;
  friend CopyLetter<QueueReplica>;
  struct Told {
    Key key;
    ReplicatedBucket shape;
    std::vector<Element> elements;
  };

  static std::vector<Told> Read(EnvelopeReader& from, Instant now);
  void Merge(const Told& told, Origin sender, Instant now);
  void ReportHit(const Key& key, const TokenQueue& queue, const Element* known,
                 const Element& theirs);
  // True if nothing is left.
  bool Expire(const Key& key, TokenQueue& queue, Instant now);
  bool ExpireSome(Instant now, Steps& steps);
  void PushFrequent(const Key& key, const TokenQueue& queue, Instant now);
  bool IsFrequent(size_t peer, const Key& key, const TokenQueue& queue, Instant now);
  // What is left to do for peers that came or went.
  void CatchUp(Steps& steps);
  bool busy() const { return deltas_.gossips() || sweep_due_ >= 8 || !swept_.empty(); }
  const TokenQueue& StateOf(const Key& key) const { return queues_.at(key); }
  void WriteKey(EnvelopeWriter& to, const TokenQueue& queue, Instant now) const;
  void WritePiece(EnvelopeWriter& to, const TokenQueue& queue, const ElementName& name,
                  Instant now) const;
  static void WriteRow(EnvelopeWriter& to, const TokenQueue& queue, const Element& element,
                       Instant now);
  static RowMark MarkOf(const Element& element) {
    return {element.birth, element.name.origin, element.name.sequence};
  }
  static const Element* RowBefore(const TokenQueue& queue, const std::optional<RowMark>& mark);

  const QueueOptions options_;

  Deltas<ElementName> deltas_;
  KeyMap<TokenQueue> queues_;
  std::vector<Envelope> pushed_;  // until the next Tick
  uint32_t last_sequence_ = 0;
  size_t sweep_at_ = 0;    // a place in queues_
  size_t sweep_due_ = 0;   // eighths of keys to be looked at
  std::deque<Key> swept_;  // and had nothing left
  std::vector<Change> changes_;
};

}  // namespace weir
