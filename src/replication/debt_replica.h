// The `debt` replication: a node's rows of all subjects, and what it tells its peers when.
//
// Told by need: a node sends its own changed rows to every peer as soon as what it has admitted and
// not told reaches max(1, room / 2N), or has waited for long. Far from the limit that is seldom; at the
// limit every token is told at once. What is received is not passed on: everybody tells everybody.
//
// Nothing is lost with a datagram. A row is owed to a peer until it is acknowledged; envelopes to a
// peer are numbered, a gap is asked for at once, and each `heartbeat` one peer after the other is told
// what has come from it and sent again what it never confirmed. So the usual cost of certainty is a
// few bytes in envelopes that are sent anyway.
//
// Ages travel, not instants: no clock is compared with another's.
#pragma once

#include <deque>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include <absl/container/flat_hash_map.h>

#include "replication/debt_rows.h"

namespace weir {

struct DebtOptions {
  // What is not urgent is told together, so late. That brings no node past the limit: the untold of
  // all are never more than half of the room.
  Duration patience = std::chrono::seconds(10);
  Duration grace = std::chrono::seconds(15);  // longer than news take to spread
  Duration heartbeat = std::chrono::seconds(1);
  Duration gap_patience = std::chrono::milliseconds(20);  // for envelopes that overtake one another
};

class DebtReplica : public Replica {
 public:
  DebtReplica(Origin self, const DebtOptions& options, Instant now);

  void SetPeers(std::vector<uint32_t> peers) override;
  bool Admit(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) override;
  void Take(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) override;
  void Refund(const Key& key, uint64_t cost, Instant now) override;
  int128 Level(const Key& key, const SharedBucket& limit, Instant now) override;
  std::vector<Envelope> Tick(Instant now) override;
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override;
  Instant NextTick() const override;
  std::vector<Envelope> Everything(uint32_t to, Instant now) override;
  size_t bytes() const override;
  size_t keys() const override { return subjects_.size(); }

  uint64_t Remaining(const Key& key, const SharedBucket& limit, Instant now);
  const DebtRows* Find(const Key& key) const;

 private:
  struct KeyHash {
    size_t operator()(const Key& key) const { return key.low; }
  };
  struct Subject {
    SharedBucket limit;
    Ticks ticks{limit};
    bool limited = false;  // somebody has asked here: the limit is known
    DebtRows rows;
    Instant forget_at{};
    uint64_t untold = 0;
    bool urgent = false;            // to be told at once
    bool waits_to_tell = false;     // or with others
    std::vector<uint64_t> changed;  // segments of self, to be told
  };
  struct RowName {
    Key key;
    uint64_t segment = 0;
    bool operator<(const RowName& other) const {
      return std::tie(key.high, key.low, segment) <
             std::tie(other.key.high, other.key.low, other.segment);
    }
  };
  struct Sent {
    uint64_t sequence = 0;
    Instant at{};
    std::vector<RowName> rows;
  };
  struct Peer {
    uint64_t sent = 0;                 // the last sequence
    std::map<RowName, uint64_t> owed;  // by the sequence of its latest envelope; 0: not sent yet
    std::deque<Sent> outstanding;      // in order of sequence
    uint32_t incarnation = 0;          // of the peer, as far as it was heard
    uint64_t received = 0;             // everything up to here
    std::set<uint64_t> received_beyond;
    Instant gap_since = kEndOfTime;
    bool owes_ack = false;
  };
  struct Entry {
    Key key;
    DebtRows::Row row;
    Duration keep{};
  };

  Subject& Limited(const Key& key, const SharedBucket& limit);
  Instant ForgetAt(Subject& subject, Instant now) const;
  void TellIfUrgent(const Key& key, Subject& subject, Instant now);
  void NoteChange(const Key& key, Subject& subject, uint64_t segment, uint64_t tokens, Instant now);
  void TellPeers(const Key& key, Subject& subject);
  void Forget(Instant now);
  EnvelopeWriter Begin(const Peer& peer, uint64_t sequence) const;
  void SendOwed(uint32_t to, Peer& peer, bool even_if_empty, Instant now,
                std::vector<Envelope>& out);
  void WriteRow(const Key& key, const DebtRows::Row& row, Instant now, EnvelopeWriter& out);
  void HeartBeat(Instant now, std::vector<Envelope>& out);
  void TakeAcks(Peer& peer, uint64_t received, const std::vector<uint64_t>& missing);
  void NoteReceived(Peer& peer, const EnvelopeHead& head, uint64_t first, Instant now);
  void MergeRow(const Entry& entry, Instant now);

  const Origin self_;
  const DebtOptions options_;
  absl::flat_hash_map<Key, Subject, KeyHash> subjects_;
  std::map<uint32_t, Peer> peers_;
  uint64_t segments_ = 0;
  // A peer that was forgotten and comes back may remember: its numbers go on, not to confirm new
  // envelopes by old ones.
  uint64_t numbers_ = 0;

  std::vector<Key> urgent_;
  using Due = std::pair<Instant, Key>;
  struct Later {
    bool operator()(const Due& a, const Due& b) const { return a.first > b.first; }
  };
  using Agenda = std::priority_queue<Due, std::vector<Due>, Later>;
  std::vector<Key> untold_;  // not urgent: told together
  Instant tell_at_ = kEndOfTime;
  Agenda forgetting_;  // when each is looked at
  Instant next_heartbeat_;
  uint32_t last_greeted_ = 0;
};

}  // namespace weir
