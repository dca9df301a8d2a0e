// The `debt` replication: a node's rows of all subjects, and what it tells whom when.
//
// Gathered at home: every key has a home, a node that all agree on (homes.h). A node hands its own
// rows to the home of their key, and the home tells everybody: so the rows of many nodes travel in one
// envelope, and what is gathered while there is room is told once.
//
// Told by need: a node hands over what it has admitted as soon as that reaches its share of half the
// room that it sees, a part in N. The home tells what it has gathered as soon as that reaches the
// other half; what it has admitted itself, and would be lost with it, at that share. Far from the
// limit that is seldom. At the limit every token is told at once, and to all by whoever admits it:
// the home would have to do the same, only later. What is untold is less than the room altogether, so
// only what is under way takes anybody past the limit. Whatever else there is to tell waits for
// `patience` at most, at each of the two.
//
// No node is needed: a home answers at once, and if it does not, the node tells everybody itself.
// When a key's home changes, or begins a new life, it is handed what it has to know. When a life ends,
// all who know rows of it hand them over as if they were their own.
//
// Every telling of a row has a number, from 1 up; a row that is told again gets a new one, so the
// numbers are a list of what this node tells, the last told last (telling_list.h). An envelope tells
// those rows of a stretch of the list that concern its receiver, and which stretch. A peer knows the
// list up to `have` if it has got every stretch up to there, and says so in whatever it sends next. A
// stretch that begins beyond `have` means that something was lost: the peer asks, and is sent
// everything after `have`. What nobody asks for and nobody confirms is sent again after a while. So
// the usual cost of certainty is three bytes in envelopes that are sent anyway, and memory does not
// grow with the number of peers.
//
// Windows: a count without inflow, one for each window of a key (ReplicatedBucket::window).
//
// In turns: nothing is done of all subjects at once, for whoever decides waits for the lock meanwhile. When
// peers come and go a subject finds its home when it is next looked at, or when CatchUp comes by. What is to
// be told goes in rounds: so many are put on the list, then all to whom something is due are written to; both
// take as many turns as they need (steps.h).
//
//   debt_replica.cc   decisions, when they have to be told, forgetting
//   debt_audience.cc  whom: homes and peers that come and go, or do not answer
//   debt_letters.cc   telling and hearing
#pragma once

#include <deque>
#include <queue>

#include "replication/debt_wire.h"
#include "replication/key_map.h"
#include "replication/replica.h"
#include "replication/steps.h"
#include "replication/telling_list.h"

namespace weir {

struct DebtOptions {
  // What is not urgent is told together, so late: by a node, and by a home. That brings no node past
  // the limit.
  Duration patience = std::chrono::milliseconds(2500);
  Duration grace = std::chrono::seconds(8);  // longer than news take to spread
  // How often somebody who has not been written to is told what came from him.
  Duration heartbeat = std::chrono::seconds(3);
  Duration gap_patience = std::chrono::milliseconds(20);  // for envelopes that overtake one another
  // For a home to answer, at least; longer if it has needed longer.
  Duration answer_patience = std::chrono::milliseconds(20);
  size_t most_subjects = size_t{1} << 22;  // newcomers beyond that are not shared
  bool report_changes = false;             // for TakeChanges
};

class DebtReplica : public Replica {
 public:
  DebtReplica(Origin self, const DebtOptions& options, Instant now);

  void SetPeers(std::vector<uint32_t> peers) override;
  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override;
  void Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override;
  void Refund(const StateName& name, uint64_t cost, Instant now) override;
  int128 Level(const Key& key, const ReplicatedBucket& limit, Instant now) override;
  std::vector<Envelope> Tick(Instant now) override;
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override;
  Instant NextTick() const override;
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) override;
  std::vector<Envelope> Farewell(Instant now) override;
  std::vector<Change> TakeChanges() override { return std::exchange(changes_, {}); }
  size_t bytes() const override;
  void CountBytes(MemoryCount& count, Steps& steps) const override;
  size_t keys() const override { return subjects_.size(); }

  uint64_t Remaining(const Key& key, const ReplicatedBucket& limit, Instant now);
  const DebtRows* Find(const StateName& name) const;
  // All that is known, in any order.
  template <typename See>
  void ForEach(See see) const {
    for (const auto& [name, subject] : subjects_) see(name, subject.rows);
  }
  // Whether somebody has asked for it here: from then on changes are reported in ticks. Before, when the
  // limit is not known, as 0.
  bool HasLimit(const Key& key) const;
  uint32_t HomeOf(const Key& key) const;
  uint64_t turned_away() const { return turned_away_; }  // subjects that there was no room for
  uint64_t pushes() const { return pushes_; }            // subjects that were told at once
  uint64_t told() const { return list_.last(); }         // rows, each time that they were told

 private:
  static constexpr uint64_t kNothing = UINT64_MAX;
  static constexpr uint32_t kMostLayouts = (uint32_t{1} << 27) - 1;

  struct Subject {
    ReplicatedBucket limit;
    Ticks ticks{limit};
    uint32_t home = 0;
    uint32_t layout : 27 = 0;  // of the peers, as of when this is the home
    bool to_all : 1 = false;   // its rows on the list are told to everybody, else to its home
    bool limited : 1 = false;  // somebody has asked here: the limit is known
    bool urgent : 1 = false;   // to be told at once: in urgent_,
    bool again : 1 = false;    // to others than before: in again_,
    bool waits : 1 = false;    // or with others: in untold_
    uint64_t untold = 0;       // tokens,
    uint64_t own_untold = 0;   // those of this node among them
    Instant forget_at{};
    DebtRows rows;
  };
  struct Peer {
    uint32_t node = 0;
    uint32_t incarnation = 0;  // 0: it was never heard
    // To it: the list up to `sent`; it is known to know it up to `confirmed`. Up to `scanned` there is
    // nothing more for it.
    uint64_t sent = 0;
    uint64_t scanned = 0;
    uint64_t confirmed = 0;
    Instant unconfirmed_since = kEndOfTime;
    // To it as a home: an answer is awaited to what it was handed, up to `asked`.
    uint64_t asked = 0;
    Instant asked_since = kEndOfTime;
    Duration answers_in{};  // how long it takes, lately
    // What it was handed is being told to others: the list after this.
    uint64_t told_for = kNothing;
    // From it: its list up to `have`.
    uint64_t have = 0;
    Instant gap_since = kEndOfTime;

    bool due = false;          // there is something on the list for it
    bool deaf = false;         // it has not answered: others are told what it was handed since,
    bool lost = false;         // or, if it is so for long, ever
    bool owes_word = false;    // something came that it has not been told of
    bool owes_answer = false;  // at once

    void SendAgain(uint64_t after) { sent = scanned = after; }
  };
  // Who was a peer before this layout.
  struct Left {
    uint32_t node = 0;
    uint32_t layout = 0;
  };
  // Subjects that wait to be put on the list, each once: so many of them in this round.
  struct Line {
    std::deque<StateName> names;
    size_t in_round = 0;
  };
  // What one turn may take; each kind of work has its own share, so that none waits for another.
  struct TurnSteps {
    Steps catch_up{Steps::kMost / 4};
    Steps tell{Steps::kMost};
    Steps rest{Steps::kMost / 4};

    static TurnSteps Unbounded() {
      return {Steps::Unbounded(), Steps::Unbounded(), Steps::Unbounded()};
    }
  };

  class CopyLetter;
  struct Teller {
    Origin life;
    bool everything = false;  // it tells all that it knows, not what it has on its list
  };

  // ---- debt_replica.cc
  // Null if there is no room for one more; and whether it is new.
  std::pair<Subject*, bool> FindOrMake(const StateName& name);
  Subject* Limited(const StateName& name, const ReplicatedBucket& limit);
  static void SetLimit(Subject& subject, const ReplicatedBucket& limit);
  Instant ForgetAt(Subject& subject, Instant now) const;
  void Remember(const StateName& name, Subject& subject, Instant until);
  void NoteUntold(const StateName& name, Subject& subject, uint64_t tokens, Instant now);
  void TellIfUrgent(const StateName& name, Subject& subject, Instant now);
  static uint64_t Room(Subject& subject, Instant now);
  void BeginRound(Instant now);
  bool ListSome(Instant now, Steps& steps);
  void PutOnList(const StateName& name, Subject& subject, Instant now);
  void Forget(Instant now, Steps& steps);

  // ---- debt_audience.cc
  const Peer* FindPeer(uint32_t node) const;
  Peer* FindPeer(uint32_t node);
  // Peers have come or gone, or are others now.
  void BeginLayout();
  bool HasLeft(uint32_t node, uint32_t since) const;
  // The subject's home is that of the peers as they are now; true: there is something to tell.
  bool Bring(const StateName& name, Subject& subject);
  void CatchUp(Steps& steps);
  bool catching_up() const { return behind_ > 0 || tells_for_deaf_; }
  void MoveHome(Subject& subject, uint32_t home);
  void ChooseAudience(Subject& subject, Instant now);
  bool AllConfirmed(const Subject& subject) const;
  void TellAgain(Subject& subject);
  void Retell(const StateName& name, Subject& subject);
  bool IsOver(Origin life) const;
  bool Adopt(Subject& subject, uint32_t since);
  void FindDeaf(Instant now);
  Instant DeafAt(const Peer& peer) const;
  void SetNextDeaf();
  void TellForDeaf(Steps& steps);

  // ---- debt_letters.cc
  void TakeTurn(Instant now, TurnSteps& steps, std::vector<Envelope>& out);
  void TellSome(Instant now, Steps& steps, std::vector<Envelope>& out);
  void HeartBeat(Instant now, Steps& steps, std::vector<Envelope>& out);
  void AskAboutGaps(Instant now, Steps& steps, std::vector<Envelope>& out);
  // While there are steps; what is left is written in the next round.
  void Write(Peer& peer, Instant now, Steps& steps, std::vector<Envelope>& out);
  bool WriteNew(Peer& peer, Instant now, Steps& steps, std::vector<Envelope>& out);
  std::string Head(const Peer& peer, uint64_t from, uint64_t end, bool asks) const;
  static DebtState Told(const StateName& name, const Subject& subject, bool handed, Instant now);

  void Greet(Peer& peer, uint32_t incarnation, bool hears_me);
  void SayHello();
  void NoteHeard(Peer& peer, uint64_t end, uint64_t stretch, bool rows, Instant now);
  void NoteConfirmed(Peer& peer, uint64_t have, bool gap, Instant now);
  void NoteAnswer(Peer& peer, Instant now);
  void Merge(const ToldRow& told, const Teller& teller, Instant now);
  bool MustTell(Subject& subject, const ToldRow& told, bool grew, const Teller& teller);

  const Origin self_;
  const DebtOptions options_;

  KeyMap<Subject, StateName, HashOfState> subjects_;
  std::vector<Peer> peers_;  // by number
  TellingList list_;
  uint64_t segments_ = 0;
  uint64_t turned_away_ = 0;
  uint64_t pushes_ = 0;
  std::vector<Change> changes_;

  Line urgent_;
  Line again_;
  Line untold_;             // not urgent: told together
  size_t late_ = 0;         // of untold_, those for which it is time
  bool in_round_ = false;   // one has begun
  bool write_now_ = false;  // to whom something is due
  bool said_hello_ = false;
  bool leaving_ = false;
  Instant tell_at_ = kEndOfTime;
  Instant next_gap_ = kEndOfTime;
  Instant next_deaf_ = kEndOfTime;
  Instant next_heartbeat_ = kEndOfTime;  // only while somebody has to be told or to confirm
  uint32_t last_greeted_ = 0;

  uint32_t layout_ = 0;          // grows when peers come or go,
  uint32_t ended_ = 0;           // and this is when a life was over, the last time
  size_t behind_ = 0;            // subjects before this place may be of an earlier layout
  std::vector<Left> left_;       // since the first of those
  bool tells_for_deaf_ = false;  // some peer's told_for is set

  using Due = std::pair<Instant, StateName>;
  struct Later {
    bool operator()(const Due& a, const Due& b) const { return a.first > b.first; }
  };
  std::priority_queue<Due, std::deque<Due>, Later> forgetting_;  // when each is looked at
};

}  // namespace weir
