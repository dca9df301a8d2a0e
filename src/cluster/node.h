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

#include "cluster/membership.h"
#include "cluster/messages.h"
#include "cluster/node_status.h"
#include "cluster/questions.h"
#include "cluster/state_stream.h"
#include "cluster/transport.h"
#include "replication/correspondent.h"

namespace weir::cluster {

struct NodeOptions {
  std::string id;
  uint32_t incarnation = 1;  // another one for each life, ascending
  // Drawn by chance, from 1 and below 2^47.
  uint64_t first_sequence = 1;
  MembershipOptions membership;
  Duration join_deadline = std::chrono::seconds(2);
  Duration gather = std::chrono::milliseconds(100);  // for others to be heard, before one is asked
  Duration ask_again = std::chrono::milliseconds(300);
  // Carries out what a client of another node wants of this one; may be empty.
  std::function<std::string(std::string_view question, Instant now)> answer;
  // Told what an operator may want to know; may be empty.
  std::function<void(const std::string&)> note;
};

class Node {
 public:
  Node(NodeOptions options, const ClusterKey& key, Correspondent& correspondent,
       Transport& transport, Instant now);

  // An error changes nothing.
  std::optional<Error> SetMembers(const std::vector<Member>& members, Instant now);

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

  // A stream has begun with this: what to send back, or null, and it is to be closed.
  std::unique_ptr<StateStream> AnswerStream(std::string_view question, Instant now);
  enum class Piece { kMore, kLast, kBroken };
  Piece TakePiece(std::string_view piece, Instant now);
  void FetchFailed(Instant now);

  bool ready() const { return ready_; }
  Origin self() const { return self_; }
  NodeStatus Status(Instant now) const;

 private:
  // A datagram that was opened and found in order.
  struct Opened {
    SealedHead head;
    std::string plain;
    std::vector<Message> messages;   // in `plain`
    Peer* peer = nullptr;            // null: not known yet
    std::unique_ptr<Opener> opener;  // of a life that is not known yet
    std::string_view id;             // if it says so
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
  void Greet(const std::string& address, Instant now);
  void Post(std::vector<Envelope> envelopes);
  void UpdatePeers();
  void Note(const std::string& text) const;

  // node_questions.cc
  void TickQuestions(Instant now);
  void AnswerQuestion(const Message& message, Peer& peer, Instant now);

  // node_receive.cc
  std::optional<Rejection> Open(std::string_view datagram, Opened& opened);
  std::optional<Rejection> CheckIdentity(Opened& opened);
  std::optional<Rejection> Believe(Opened& opened, const std::string& from, Instant now);
  void AnswerGreeting(const Opened& opened, const std::string& from);
  void Handle(const Message& message, Peer& peer, Instant now);
  void TakeEnvelope(std::string_view bytes, Peer* peer, Instant now);
  void Reject(Rejection reason, Peer* peer);

  // node_copy.cc
  void TickCopy(Instant now);
  Instant NextCopy() const;
  void Invite(Instant now);
  uint32_t NextToAsk(Instant now);
  void Ask(uint32_t number, Instant now);
  void AnswerAsk(Peer& peer, Instant now);
  void HandleCopy(const Message& message, Peer& peer, Instant now);
  void Copied(Instant now);
  void GiveUpCopy();

  const NodeOptions options_;
  const ClusterKey key_;
  const Origin self_;
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

  bool namesake_noted_ = false, collision_noted_ = false;
  Rejections rejected_{};
  CopyCounts copies_;
  uint64_t too_large_ = 0;
};

}  // namespace weir::cluster
