// A node of a cluster: carries what its limiters tell one another to and from the other nodes.
//
//   node.SetMembers(list, now)            whom there is to talk to
//   node.Tick(now)                        when NextTick() has come: calls, envelopes, copies
//   node.Receive(datagram, from, now)     what the transport brings
//
// Two nodes get to know each other in three steps: a greeting (for anybody), a pong for the greeter's
// life, a ping for the other's life. Only what is for this node's own life is believed: it cannot come
// from the past. Then envelopes go to and fro, several in one datagram.
//
// A name belongs to one life at a time, the one that was last accepted: another that comes under it is
// judged first (claim.h). Until somebody has accepted this node it is not ready. If members take another
// for the node of its name, they are asked all, and it stays or yields (dispute.h): one that has yielded
// sends and takes nothing any more, and its process should end.
//
// A node that starts knows nothing of what was used. It asks one of those that live for everything it
// knows, and is `ready` when it has that, when there is nobody to ask, or when its time is up. Nothing is
// told to the dead: one that returns is asked what happened meanwhile, and is told to ask.
//
// Pure: no thread, no clock, no socket. Not safe for several threads.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster/dispute.h"
#include "cluster/membership.h"
#include "cluster/messages.h"
#include "cluster/node_status.h"
#include "cluster/questions.h"
#include "cluster/state_stream.h"
#include "cluster/transport.h"
#include "mail/correspondent.h"

namespace weir::cluster {

struct NodeOptions {
  std::string id;
  uint32_t incarnation = 1;  // another one for each life, ascending
  uint64_t birthmark = 1;    // drawn by chance for each life; not 0
  uint32_t names = 0;  // ClusterKey::MarkOfNames of what names keys of limits; 0: not compared
  // Drawn by chance, from 1 and below 2^47.
  uint64_t first_sequence = 1;
  MembershipOptions membership;
  Duration join_deadline = std::chrono::seconds(2);
  Duration gather = std::chrono::milliseconds(100);  // for others to be heard, before one is asked
  Duration ask_again = std::chrono::milliseconds(300);
  // Carries out what a client of another node wants of this one; may be empty.
  std::function<std::string(std::string_view question, Instant now)> answer;
  // Told what an operator may want to know, and what he should mend; may be empty. `trouble` is also
  // listed among the problems while it lasts: told once a minute at most.
  std::function<void(const std::string&)> note, warn, trouble;
};

class Node {
 public:
  Node(NodeOptions options, const KeyRing& keys, Correspondent& correspondent, Transport& transport,
       Instant now);

  // An error changes nothing.
  std::optional<Error> SetMembers(const std::vector<Member>& members, Instant now);
  // Seals with the first from now on, and opens with all.
  void SetKeys(const KeyRing& keys);

  void Tick(Instant now);
  Instant NextTick() const;
  void Receive(std::string_view datagram, const std::string& from, Instant now);

  // Asks the member whose name `is_it`: what a client of this node wants of that one. `done` is
  // called once, by this or another function of the node.
  struct Answer {
    enum class Outcome { kAnswered, kUnknownNode, kDeadNode, kSilentNode, kTooMany };
    Outcome outcome = Outcome::kAnswered;
    std::string_view text;  // what it has answered; else its name
  };
  using AnswerDone = std::function<void(const Answer&)>;
  void Ask(const std::function<bool(std::string_view id)>& is_it, std::string question, Instant now,
           AnswerDone done);

  // Before it ends: tells what has not been told yet, and that the others need not wait for more.
  void Leave(Instant now);

  // A stream has begun with this: what to send back, or null, and it is to be closed. `asker`: the
  // number of the node; may be null.
  std::unique_ptr<StateStream> AnswerStream(std::string_view question, Instant now,
                                            uint32_t* asker = nullptr);
  enum class Piece { kMore, kLast, kBroken };
  Piece TakePiece(std::string_view piece, Instant now);
  void FetchFailed(Instant now);

  bool ready() const { return ready_; }
  // Why it has given up its name to another; empty: it has not.
  const std::string& yielded() const { return yielded_; }
  // Whether members are at this address, whatever the port.
  bool KnowsHostOf(const std::string& address) const;
  Origin self() const { return self_; }
  NodeStatus Status(Instant now) const;

 private:
  // A datagram that was opened and found in order.
  struct Opened {
    SealedHead head;
    std::string plain;
    std::vector<Message> messages;   // in `plain`
    Peer* peer = nullptr;            // null: not known yet
    Opener* by = nullptr;            // what opened it
    size_t key = 0;                  // with which of the ring
    std::unique_ptr<Opener> opener;  // of a life that is not known yet
    Identity from;                   // if it says so
    size_t bytes = 0;                // of the datagram
    bool accepted = false;  // of the life that is accepted under its name, or the first there
  };
  // Whose state is being copied.
  struct Copying {
    uint32_t from = 0;  // 0: nobody's
    Instant asked{};
    int tries = 0;
    std::unique_ptr<StateReader> reader;  // a stream is under way
  };

  // node.cc
  void Send(Peer& peer, std::string_view plain);
  void SendTo(Origin life, const std::string& address, Peer& peer, std::string_view plain);
  Identity identity() const { return {options_.id, options_.birthmark, options_.names}; }
  void Greet(const std::string& address, uint64_t stamp);
  void Ping(Peer& peer, Instant now);
  void GreetWherever(Peer& peer, const std::string& also, Instant now);
  void CallSelf(Instant now);
  void Post(std::vector<Envelope> envelopes);
  void UpdatePeers();
  void Note(const std::string& text) const;
  void Warn(const std::string& text) const;

  // node_questions.cc
  void TickQuestions(Instant now);
  void AnswerQuestion(const Message& message, Peer& peer, Instant now);

  // node_receive.cc
  std::optional<Rejection> Open(std::string_view datagram, const std::string& from, Opened& opened,
                                Instant now);
  std::optional<Rejection> CheckIdentity(Opened& opened);
  std::optional<Rejection> Believe(Opened& opened, const std::string& from, Instant now);
  std::optional<Rejection> TakeSequence(Opened& opened, Instant now);
  bool IsFresh(const Message& message, Instant now) const;
  void AnswerGreeting(const Opened& opened, const std::string& from);
  void Search(Peer& peer, const std::string& from, Instant now);
  void FoundAt(Peer& peer, uint64_t stamp, Instant now);
  void AppendPlaces(uint32_t to, std::string& plain);
  void GreetAtPlace(const Message& message, Instant now);
  void Met(Peer& peer, Membership::News news, Instant now);
  void Handle(const Message& message, Peer& peer, Instant now);
  void TakeEnvelope(std::string_view bytes, Peer* peer, Instant now);
  void Reject(Rejection reason, Peer* peer);

  // node_names.cc
  std::optional<Rejection> TakeClaim(Opened& opened, const std::string& from, Instant now);
  bool HandleClaim(const Message& message, Peer& peer, Instant now);
  void Challenge(Peer& peer, Instant now);
  void Judge(Peer& peer, Instant now);
  void Accept(Peer& peer, Instant now);
  void Refuse(Peer& peer, uint64_t stamp, Instant now);
  void TellHolder(Peer& peer, Origin asker, const std::string& address, Instant now);
  void TickClaims(Instant now);
  Instant NextClaim() const;
  bool named() const;
  void AcceptedBy(Peer& peer, Instant now);

  // node_dispute.cc
  std::optional<Rejection> TakeNamesake(const Opened& opened, const std::string& from, Instant now);
  void HearHolder(const Message& message, Peer& peer, Instant now);
  void DisputeWith(const Namesake& rival, Instant now);
  void Poll(Instant now);
  void Decide(Instant now);
  void Confirm(Instant now);
  void HearYield(const Namesake& rival, uint64_t stamp, Instant now);
  void SendToNamesake(const Namesake& rival, Message::Kind kind, uint64_t stamp);
  void Introduce(const Namesake& rival, Instant now);
  void Stay(Instant now);
  void Yield(const Dispute& decided);
  Namesake self_as_namesake() const {
    return {self_.incarnation, options_.birthmark, "", joined()};
  }
  bool joined() const { return ready_ || named(); }
  bool disputed(Instant now) const;

  // node_problems.cc
  void NoteRejection(Rejection reason, const Opened& opened, const std::string& from, Instant now);
  void NoteForeignKey(const std::string& from, Instant now);
  void NoteBadEnvelope(Peer& peer, Instant now);
  void CompareNames(Peer& peer, const Identity& from, Instant now);
  bool NamesDiffer(const Peer& peer) const;
  void Trouble(Peer::Trouble& trouble, const std::string& message, Instant now);
  std::string Described(const Peer& peer) const { return peer.id + " at " + peer.address; }
  std::string KeyText(const Peer& peer) const;
  std::string VersionText(const Peer& peer) const;
  std::string NamesText(const Peer& peer) const;
  std::string NamesakeText(const Peer& peer) const;
  std::string OwnNamesakeText() const;
  std::string StrangerText() const;
  static std::string ForeignText(const std::string& address);
  static std::string SilentText(const std::string& address);
  std::string DeadText(const Peer& peer) const;
  std::vector<Problem> Problems(Instant now) const;

  // node_copy.cc
  void TickCopy(Instant now);
  Instant NextCopy() const;
  void Invite(Instant now);
  uint32_t NextToAsk(Instant now);
  void Ask(uint32_t number, Instant now);
  void AnswerAsk(Peer& peer, Origin asker, const std::string& address, Instant now);
  void HandleCopy(const Message& message, Peer& peer, Instant now);
  void Copied(Instant now);
  void GiveUpCopy();

  const NodeOptions options_;
  KeyRing keys_;
  const Origin self_;
  const Instant started_;
  const Instant deadline_;  // of joining
  Correspondent& correspondent_;
  Transport& transport_;

  Sealer sealer_;
  Membership members_;
  bool listed_ = false;  // the members are known
  bool ready_ = false;   // and may be asked what it knows
  bool copied_ = false;  // from somebody, or nobody had anything
  Instant first_heard_ = kEndOfTime;
  std::set<uint32_t> empty_;         // have said that they are joining too
  std::set<uint32_t> returned_;      // and not been asked yet
  std::map<uint32_t, int> invited_;  // to ask, how often, and have not yet
  Instant invite_at_{};
  Copying copying_;
  Instant copy_at_{};  // not before

  Questions questions_;

  // Where the list has this node: if another runs there, it bears this one's name.
  std::string own_listed_at_;
  Instant next_call_of_self_ = kEndOfTime;
  Duration self_patience_{};

  size_t next_place_ = 0;  // to be told

  std::optional<Dispute> dispute_;
  Namesake namesake_;          // that was met last
  Instant promised_{};         // to stay, until then
  Peer::Trouble unconfirmed_;  // members take another for this one, which does not answer
  Peer::Trouble namesakes_, strangers_;
  std::string stranger_;
  uint32_t stranger_number_ = 0;
  std::map<std::string, Peer::Trouble>
      foreign_;             // addresses from which somebody with another key talks
  uint64_t challenge_ = 0;  // the stamp of the last greeting to one who bears this node's name
  Instant next_challenge_{};
  Instant next_introduction_{};  // by one of this node's own name is not heard before
  std::string yielded_;

  bool collision_noted_ = false;
  Rejections rejected_{};
  uint64_t names_refused_ = 0, names_disputed_ = 0;
  CopyCounts copies_;
  uint64_t too_large_ = 0;
};

}  // namespace weir::cluster
