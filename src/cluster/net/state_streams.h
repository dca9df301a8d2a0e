// The connections over which states are copied: those to others who ask, and the one to whom this node
// asks. Few at a time, each with a deadline that moves on only with what is read or written.
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
  static constexpr size_t kMostGiven = 8;
  static constexpr Duration kPatience = std::chrono::seconds(5);

  void Accept(int listener, Instant now);
  // The answer goes to Node::TakePiece.
  void Fetch(const SocketAddress& to, std::string_view question, Instant now);

  // What to wait for, and what to do then; in the same order, with nothing in between.
  void AddTo(std::vector<pollfd>& waiting) const;
  void Run(const pollfd* ready, Node& node, Instant now);
  Instant NextDeadline() const;

 private:
  struct Given {
    FrameStream frames;
    Instant deadline;
    std::unique_ptr<StateStream> stream = nullptr;  // null: the question has not come yet
  };
  struct Fetched {
    FrameStream frames;
    Instant deadline;
  };

  static bool RunGiven(Given& given, Node& node, Instant now);
  void RunFetched(Node& node, Instant now);

  std::list<Given> given_;
  std::optional<Fetched> fetched_;
  bool fetch_failed_ = false;  // before it began
};

}  // namespace weir::cluster
