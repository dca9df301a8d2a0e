#include "cluster/net/state_streams.h"

#include <sys/socket.h>

#include <algorithm>

#include "cluster/net/cluster_sockets.h"

namespace weir::cluster {

using Outcome = FrameStream::Outcome;

namespace {

constexpr int kMostPieces = 4;  // of a copy, before anything else has its turn

}  // namespace

void StateStreams::Accept(int listener, const Node& node, Instant now) {
  while (true) {
    SocketAddress from;
    from.length = sizeof from.storage;
    FileDescriptor fd(accept4(listener, from.get(), &from.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    if (waiting_.size() >= kMostWaiting) MakeRoom();
    waiting_.push_back({FrameStream(std::move(fd), kMostDatagramBytes),
                        After(now, kQuestionPatience), node.KnowsHostOf(from.ToString())});
  }
}

void StateStreams::MakeRoom() {
  const auto stranger = std::find_if(waiting_.begin(), waiting_.end(),
                                     [](const Waiting& waiting) { return !waiting.member; });
  waiting_.erase(stranger == waiting_.end() ? waiting_.begin() : stranger);
}

void StateStreams::Fetch(const SocketAddress& to, std::string_view question, Instant now) {
  FileDescriptor fd = ClusterSockets::Connect(to);
  fetch_failed_ = !fd;
  if (!fd) return;
  fetched_.emplace(Fetched{FrameStream(std::move(fd), kMostPieceBytes), After(now, kPatience)});
  fetched_->frames.Write(question);
}

void StateStreams::AddTo(std::vector<pollfd>& waiting) const {
  for (const Waiting& one : waiting_) waiting.push_back({one.frames.fd(), POLLIN, 0});
  for (const Given& given : given_) waiting.push_back({given.frames.fd(), POLLOUT, 0});
  if (!fetched_) return;
  const bool asked = fetched_->frames.flushed();
  waiting.push_back({fetched_->frames.fd(), static_cast<short>(asked ? POLLIN : POLLOUT), 0});
}

void StateStreams::Run(const pollfd* ready, Node& node, Instant now) {
  const size_t given_before = given_.size();  // the rest was not waited for
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    const bool goes_on = (ready++)->revents == 0 || RunWaiting(*one, node, now);
    one = goes_on && one->deadline > now ? std::next(one) : waiting_.erase(one);
  }
  size_t seen = 0;
  for (auto given = given_.begin(); given != given_.end(); ++seen) {
    const bool goes_on = (seen < given_before && (ready++)->revents == 0) || RunGiven(*given, now);
    given = goes_on && given->deadline > now ? std::next(given) : given_.erase(given);
  }
  if (fetched_ && ready->revents != 0) RunFetched(node, now);
  if (fetch_failed_ || (fetched_ && fetched_->deadline <= now)) {
    fetched_.reset();
    fetch_failed_ = false;
    node.FetchFailed(now);
  }
}

// False if it waits no longer: it is answered, or closed.
bool StateStreams::RunWaiting(Waiting& waiting, Node& node, Instant now) {
  std::string question;
  const Outcome read = waiting.frames.Read(question);
  if (read != Outcome::kDone) return read == Outcome::kWait;
  if (given_.size() >= kMostGiven) return false;  // it may ask another
  uint32_t asker = 0;
  std::unique_ptr<StateStream> stream = node.AnswerStream(question, now, &asker);
  const auto same = std::count_if(given_.begin(), given_.end(),
                                  [&](const Given& given) { return given.to == asker; });
  if (stream == nullptr || same >= static_cast<ptrdiff_t>(kMostOfOne)) return false;
  given_.push_back({std::move(waiting.frames), After(now, kPatience), asker, std::move(stream)});
  return false;
}

// False if it is over.
bool StateStreams::RunGiven(Given& given, Instant now) {
  for (int pieces = 0; pieces < kMostPieces; ++pieces) {
    const Outcome flushed = given.frames.Flush();
    if (flushed == Outcome::kBroken) return false;
    given.deadline = After(now, kPatience);
    if (flushed == Outcome::kWait) return true;
    const std::optional<std::string> piece = given.stream->Next(now);
    if (!piece) return false;  // all is with the kernel, which sends it before it closes
    given.frames.Write(*piece);
  }
  return true;  // others have their turn first
}

void StateStreams::RunFetched(Node& node, Instant now) {
  Outcome outcome = fetched_->frames.Flush();
  std::string piece;
  Node::Piece taken = Node::Piece::kMore;
  for (int pieces = 0; outcome == Outcome::kDone && taken == Node::Piece::kMore; ++pieces) {
    if (pieces == kMostPieces) return;
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
  for (const Waiting& waiting : waiting_) next = std::min(next, waiting.deadline);
  for (const Given& given : given_) next = std::min(next, given.deadline);
  return fetched_ ? std::min(next, fetched_->deadline) : next;
}

}  // namespace weir::cluster
