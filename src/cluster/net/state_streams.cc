#include "cluster/net/state_streams.h"

#include <sys/socket.h>

#include "cluster/net/cluster_sockets.h"

namespace weir::cluster {

using Outcome = FrameStream::Outcome;

void StateStreams::Accept(int listener, Instant now) {
  while (true) {
    FileDescriptor fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    if (given_.size() >= kMostGiven) continue;  // closed: it may ask another
    given_.push_back({FrameStream(std::move(fd), kMostDatagramBytes), After(now, kPatience)});
  }
}

void StateStreams::Fetch(const SocketAddress& to, std::string_view question, Instant now) {
  FileDescriptor fd = ClusterSockets::Connect(to);
  fetch_failed_ = !fd;
  if (!fd) return;
  fetched_.emplace(Fetched{FrameStream(std::move(fd), kMostPieceBytes), After(now, kPatience)});
  fetched_->frames.Write(question);
}

void StateStreams::AddTo(std::vector<pollfd>& waiting) const {
  for (const Given& given : given_) {
    const bool writes = given.stream != nullptr;
    waiting.push_back({given.frames.fd(), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
  }
  if (!fetched_) return;
  const bool asked = fetched_->frames.flushed();
  waiting.push_back({fetched_->frames.fd(), static_cast<short>(asked ? POLLIN : POLLOUT), 0});
}

void StateStreams::Run(const pollfd* ready, Node& node, Instant now) {
  for (auto given = given_.begin(); given != given_.end();) {
    const bool goes_on = (ready++)->revents == 0 || RunGiven(*given, node, now);
    given = goes_on && given->deadline > now ? std::next(given) : given_.erase(given);
  }
  if (fetched_ && ready->revents != 0) RunFetched(node, now);
  if (fetch_failed_ || (fetched_ && fetched_->deadline <= now)) {
    fetched_.reset();
    fetch_failed_ = false;
    node.FetchFailed(now);
  }
}

// False if it is over.
bool StateStreams::RunGiven(Given& given, Node& node, Instant now) {
  if (given.stream == nullptr) {
    std::string question;
    const Outcome read = given.frames.Read(question);
    if (read != Outcome::kDone) return read == Outcome::kWait;
    given.stream = node.AnswerStream(question, now);
    if (given.stream == nullptr) return false;
  }
  while (true) {
    const Outcome flushed = given.frames.Flush();
    if (flushed == Outcome::kBroken) return false;
    given.deadline = After(now, kPatience);
    if (flushed == Outcome::kWait) return true;
    const std::optional<std::string> piece = given.stream->Next();
    if (!piece) return false;  // all is with the kernel, which sends it before it closes
    given.frames.Write(*piece);
  }
}

void StateStreams::RunFetched(Node& node, Instant now) {
  Outcome outcome = fetched_->frames.Flush();
  std::string piece;
  Node::Piece taken = Node::Piece::kMore;
  while (outcome == Outcome::kDone && taken == Node::Piece::kMore) {
    outcome = fetched_->frames.Read(piece);
    if (outcome != Outcome::kDone) break;
    taken = node.TakePiece(piece, now);
    fetched_->deadline = After(now, kPatience);
  }
  if (taken == Node::Piece::kMore && outcome == Outcome::kWait) return;
  fetched_.reset();
  fetch_failed_ = taken != Node::Piece::kLast;
}

Instant StateStreams::NextDeadline() const {
  Instant next = fetch_failed_ ? Instant::min() : kEndOfTime;
  for (const Given& given : given_) next = std::min(next, given.deadline);
  return fetched_ ? std::min(next, fetched_->deadline) : next;
}

}  // namespace weir::cluster
