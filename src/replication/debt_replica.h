// The `debt` replication: a node's rows of all subjects, and what it tells its peers when.
//
// Told by need: a node sends its own changed rows to every peer as soon as what it has admitted and
// not told reaches its share of the room that the others see, a part in N, or has waited for long.
// Far from the limit that is seldom; at the limit every token is told at once. The untold of all
// nodes together are less than that room, so only what is under way takes anybody past the limit.
// What is received is not passed on: everybody tells everybody.
//
// Every telling of a row has a number, from 1 up; a row that is told again gets a new one, so the
// numbers are a list of this node's rows, the last told last. An envelope tells the rows of a
// stretch of that list, and which stretch. A peer knows the list up to `have` if it has got every
// stretch up to there, and says so in whatever it sends next. A stretch that begins beyond `have`
// means that something was lost: the peer asks, and is sent everything after `have`. What nobody
// asks for and nobody confirms is sent again after a while. So the usual cost of certainty is three
// bytes in envelopes that are sent anyway, and memory does not grow with the number of peers.
//
// Ages travel, not instants: no clock is compared with another's.
//
// Windows: a count without inflow, one for each window of a key (SharedBucket::window).
#pragma once

#include <map>
#include <queue>

#include <absl/container/flat_hash_map.h>

#include "replication/debt_rows.h"
#include "replication/key_map.h"

namespace weir {

struct DebtOptions {
  // What is not urgent is told together, so late. That brings no node past the limit.
  Duration patience = std::chrono::seconds(10);
  Duration grace = std::chrono::seconds(15);  // longer than news take to spread
  // How often somebody who has not been written to is told what came from him.
  Duration heartbeat = std::chrono::seconds(3);
  Duration gap_patience = std::chrono::milliseconds(20);  // for envelopes that overtake one another
  size_t most_subjects = size_t{1} << 22;                 // newcomers beyond that are not shared
  bool report_changes = false;                            // for TakeChanges
};

class DebtReplica : public Replica {
 public:
  DebtReplica(Origin self, const DebtOptions& options, Instant now);

  void SetPeers(std::vector<uint32_t> peers) override;
  bool Admit(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) override;
  void Take(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) override;
  void Refund(const Key& key, uint64_t cost, Instant now) override {
    Refund(StateName{key}, cost, now);
  }
  void Refund(const StateName& name, uint64_t cost, Instant now);
  int128 Level(const Key& key, const SharedBucket& limit, Instant now) override;
  std::vector<Envelope> Tick(Instant now) override;
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override;
  Instant NextTick() const override;
  std::vector<Envelope> Everything(uint32_t to, Instant now) override;
  std::vector<Envelope> Farewell(Instant now) override;
  std::vector<Change> TakeChanges() override { return std::exchange(changes_, {}); }
  size_t bytes() const override;
  size_t keys() const override { return subjects_.size(); }

  uint64_t Remaining(const Key& key, const SharedBucket& limit, Instant now);
  const DebtRows* Find(const Key& key) const;
  uint64_t turned_away() const { return turned_away_; }  // subjects that there was no room for
  uint64_t pushes() const { return pushes_; }            // subjects that were told at once
  uint64_t told() const { return last_told_; }           // rows, each time that they were told

 private:
  struct Subject {
    SharedBucket limit;
    Ticks ticks{limit};
    bool limited = false;        // somebody has asked here: the limit is known
    bool urgent = false;         // to be told at once
    bool waits_to_tell = false;  // or with others
    uint64_t untold = 0;
    Instant forget_at{};
    DebtRows rows;
    std::vector<uint64_t> changed;  // segments of self, to be told
  };
  struct Peer {
    // To it: the list up to `sent`; it is known to know it up to `confirmed`.
    uint64_t sent = 0;
    uint64_t confirmed = 0;
    Instant unconfirmed_since = kEndOfTime;
    bool wants_orphans = true;  // rows whose nodes are not there to tell them
    // From it.
    uint32_t incarnation = 0;
    uint64_t have = 0;
    Instant gap_since = kEndOfTime;
    bool owes_word = false;  // something came that it has not been told of
  };
  struct Entry {
    StateName name;
    DebtRows::Row row;
    Duration keep{};     // of a window
    Duration spacing{};  // of a bucket: for so long a token counts
  };
  struct OwnRow {
    StateName name;
    uint64_t segment = 0;
  };

  Subject* Limited(const StateName& name, const SharedBucket& limit);
  Instant ForgetAt(Subject& subject, Instant now) const;
  void NoteChange(const StateName& name, Subject& subject, uint64_t segment, uint64_t tokens,
                  Instant now);
  void TellIfUrgent(const StateName& name, Subject& subject, Instant now);

  void PutOnList(const StateName& name);
  void TakeOffList(const DebtRows::Row& row);
  bool ListTheUntold(Instant now);
  void HeartBeat(Instant now, std::vector<Envelope>& out);
  void Write(uint32_t to, Peer& peer, Instant now, std::vector<Envelope>& out);
  void WriteNew(uint32_t to, Peer& peer, Instant now, std::vector<Envelope>& out);
  void WriteOrphans(uint32_t to, Peer& peer, bool all, Instant now, std::vector<Envelope>& out);
  std::string Head(const Peer& peer, uint64_t from, uint64_t end) const;
  void WriteRow(const StateName& name, const DebtRows::Row& row, Instant now, EnvelopeWriter& out);

  static std::vector<Entry> ReadRows(EnvelopeReader& reader, Instant now);
  void NoteHeard(Peer& peer, const EnvelopeHead& head, uint64_t from, bool rows, Instant now);
  void NoteConfirmed(Peer& peer, uint64_t have, bool gap, Instant now);
  void MergeRow(const Entry& entry, Instant now);
  void Forget(Instant now);

  const Origin self_;
  const DebtOptions options_;

  absl::flat_hash_map<StateName, Subject, HashOfState> subjects_;
  std::map<uint32_t, Peer> peers_;
  uint64_t segments_ = 0;
  uint64_t turned_away_ = 0;
  uint64_t pushes_ = 0;
  std::vector<Change> changes_;

  // The list of own rows that were told, and where each stands.
  uint64_t last_told_ = 0;
  std::map<uint64_t, OwnRow> list_;
  absl::flat_hash_map<uint64_t, uint64_t> place_of_segment_;

  std::vector<StateName> urgent_;
  std::vector<StateName> untold_;  // not urgent: told together
  Instant tell_at_ = kEndOfTime;
  Instant next_gap_ = kEndOfTime;
  Instant next_heartbeat_ = kEndOfTime;  // only while somebody has to be told or to confirm
  uint32_t last_greeted_ = 0;

  using Due = std::pair<Instant, StateName>;
  struct Later {
    bool operator()(const Due& a, const Due& b) const { return a.first > b.first; }
  };
  std::priority_queue<Due, std::vector<Due>, Later> forgetting_;  // when each is looked at
};

}  // namespace weir
