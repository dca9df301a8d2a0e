// The connections over which states are copied: those to others who ask, and the one to whom this node
// asks.
//
// Anybody can connect, and says nothing by it. A connection has a second to bring its question, sealed, and
// waits for that among others of its kind: if they are too many, the one that has waited the longest is closed,
// those from addresses where no member is before all others. Only an authentic question takes one of the places
// for copies, of which a member has two at most: so strangers take none. Its deadline then moves on with what
// is written.
#pragma once

#include <poll.h>

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "cluster/net/frame_stream.h"
#include "cluster/net/socket_address.h"
#include "cluster/node.h"

namespace weir::cluster {

class StateStreams {
 public:
  static constexpr size_t kMostGiven = 8, kMostOfOne = 2, kMostWaiting = 64;
  static constexpr Duration kPatience = std::chrono::seconds(5);
  static constexpr Duration kQuestionPatience = std::chrono::seconds(1);

  void Accept(int listener, const Node& node, Instant now);
  // The answer goes to Node::TakePiece.
  void Fetch(const SocketAddress& to, std::string_view question, Instant now);

  // What to wait for, and what to do then; in the same order, with nothing in between.
  void AddTo(std::vector<pollfd>& waiting) const;
  void Run(const pollfd* ready, Node& node, Instant now);
  Instant NextDeadline() const;

 private:
  // Whose question has not come yet.
  struct Waiting {
    FrameStream frames;
    Instant deadline;
    bool member = false;  // by its address
  };
  struct Given {
    FrameStream frames;
    Instant deadline;
    uint32_t to = 0;  // the node
    std::unique_ptr<StateStream> stream;
  };
  struct Fetched {
    FrameStream frames;
    Instant deadline;
  };

  bool RunWaiting(Waiting& waiting, Node& node, Instant now);
  static bool RunGiven(Given& given, Instant now);
  void RunFetched(Node& node, Instant now);
  void MakeRoom();

  std::list<Waiting> waiting_;  // the one that came first is first
  std::list<Given> given_;
  std::optional<Fetched> fetched_;
  bool fetch_failed_ = false;  // before it began
};

}  // namespace weir::cluster
