// What one who saw everything would know, on the simulation's clock and in exact integers.
//
// Of each key into which something flows (counts_check.cc has the others): the debt of a single bucket that is charged whenever any node takes something, and
// given back to when it is refunded. That debt is the greatest of (taken - rate * T) over all
// windows that end now, so a bound on it is a bound on every window. Drift: it flows off as fast as
// the fastest clock would have it. Units are millionths of a tick, so that this is exact too.
//
// A refund that a node has not heard of may have ended a busy period that this node takes for
// running. What it charges then is counted from the period's beginning, and what flowed off since is
// given twice: at most the refund. Such refunds are told by Blind(). A debt gives nothing back of what
// was taken in a period that is over.
//
// And the charges since that debt was last zero for long, with how much of each row each node knows in its
// present life. So at any instant it can be said what a node does not know, and how old that is.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "lab/chaos/observer.h"
#include "replication/ticks.h"

namespace weir::chaos {

class Truth final : public Observer {
 public:
  explicit Truth(const Scenario& scenario);
  const char* name() const override { return "truth"; }
  void See(const Happening& happening, const Cluster& cluster) override;

  // Millionths of ticks.
  int128 Units(uint32_t key, uint64_t tokens) const { return of_[key].ticks.Of(tokens) * kMillion; }
  int128 Inflow(uint32_t key, Duration d) const {
    return of_[key].ticks.In(d) * (kMillion + kMostDriftPpm);
  }
  int128 Debt(uint32_t key) const { return of_[key].debt; }  // as of the last charge
  // Since the debt was zero: by settlements; and whatever the node does not know.
  int128 Taken(uint32_t key) const { return of_[key].taken; }
  int128 Unknown(uint32_t key, uint32_t node) const;
  // Of everything that was ever taken, at most the capacity. A counter that does not know of it
  // takes it for free: others count it in the limit that they tell.
  int128 Untold(uint32_t key, uint32_t node, uint64_t capacity) const;
  int128 Blind(uint32_t key) const { return Units(key, of_[key].blind); }

  // The longest time that a charge has taken to reach a node, or has not reached it yet: of the
  // charges since the debt was zero, but for those of lives that have ended. `apart`: counting only
  // (or not) pairs that were cut off from each other meanwhile.
  Duration Lag(uint32_t key, bool apart, Instant now, const Cluster& cluster) const;
  // Nodes that were there since, and lives that ended.
  NodeSet Nodes(uint32_t key) const { return of_[key].nodes; }
  uint32_t Ends(uint32_t key) const { return of_[key].ends; }
  // Into how many groups, in which nobody was cut off for `lag`, the nodes fall.
  uint32_t Groups(uint32_t key, Duration lag, Instant now) const;
  // By how much an epoch may be late after one hop.
  Duration LongestTravel() const { return travel_ + kAgeStep; }

 private:
  struct Charge {
    Instant at;
    uint32_t node = 0;
    RowName row;
    uint64_t from = 0, to = 0;  // of the row's charged
  };
  struct Refunded {
    RowName row;
    uint64_t to = 0, tokens = 0;
    bool blind = false;  // somebody charged who did not know of it
  };
  struct Numbers {
    uint64_t charged = 0, refunded = 0;
  };
  struct OfKey {
    Ticks ticks;
    int128 debt = 0, taken = 0;
    int128 idle = 0;                // what could have flowed off when there was no debt
    int128 gross = 0;               // the debt without refunds
    std::vector<Refunded> refunds;  // since that was zero
    uint64_t blind = 0;
    Instant at = kStart;
    std::vector<Charge> log;
    absl::flat_hash_map<RowName, std::vector<uint32_t>> by_row;  // in log
    absl::flat_hash_map<RowName, uint64_t> written;              // charged, since the start
    NodeSet nodes = 0;
    uint32_t ends = 0;
    Duration lag_together{}, lag_apart{};
  };
  struct OfNode {
    Instant since = kStart;                                    // of its life
    std::vector<absl::flat_hash_map<RowName, Numbers>> known;  // by key
    Instant away_until = kStart;
    bool away = false;
    Instant cut_until[kMostNodes] = {};
    int cuts[kMostNodes] = {};
  };

  bool Flows(uint32_t key) const { return of_[key].ticks.per_nano > 0; }
  void SeeUse(const Happening& happening);
  void SeeChange(const Happening& happening, const RowChange& change);
  void SeeCut(const Action& cut, int change, Instant now);
  void BringTo(OfKey& key, Instant now, NodeSet members);
  Numbers Known(uint32_t key, uint32_t node, const RowName& row) const;
  void NoteCharge(OfKey& key, const Happening& happening);
  // Tells how much is given back of the period that is running.
  uint64_t NoteRefund(OfKey& key, const Happening& happening) const;
  // When the two were last apart; `now` if they are.
  Instant ApartUntil(uint32_t a, uint32_t b, Instant now) const;

  const EnvelopeKind kind_;
  std::vector<OfKey> of_;
  std::vector<OfNode> nodes_;
  Duration travel_{};
};

}  // namespace weir::chaos
