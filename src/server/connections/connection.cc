#include "server/connections/connection.h"

#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

namespace weir {
namespace {

// Smaller changes are not worth being counted at once.
constexpr int64_t kCountedStep = 2048;
constexpr int kReadsBeforeDraining = 4;

}  // namespace

Connection::Connection(Loop& loop, Stream stream, const Address& peer, Front& front, Owner& owner,
                       PortCounters& counters)
    : Rota::Member(!front.refuses_late()),
      loop_(loop),
      stream_(std::move(stream)),
      peer_(peer.host()),
      owner_(owner),
      counters_(counters),
      accepted_(loop.clock().Now()),
      last_active_(accepted_) {
  from_loopback_ = peer.loopback();
  protocol_ = front.Accept(*this);
  watched_ = loop_.Watch(stream_.fd(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, this);
}

void Connection::OnReady(uint32_t events) {
  if (closed_) return;
  const bool gone = (events & EPOLLHUP) != 0 && ((events & EPOLLIN) == 0 || !MayRead());
  if ((events & EPOLLERR) != 0 || gone) return Close();
  if ((events & (EPOLLIN | EPOLLRDHUP)) != 0) readable_ = true;
  if ((events & EPOLLOUT) != 0) writable_ = true;
  if ((events & EPOLLRDHUP) != 0) {
    all_came_ = true;
    if (!MayRead()) PeerDone(Turn(loop_.clock()));  // there is more to be read before its end
  }
  if (waits()) {
    LookAtBacklog(loop_.rota().Now(loop_.now()));  // it grows
  } else if (HasWork()) {
    AskForATurn();
  }
}

bool Connection::MayRead() const {
  return !peer_done_ && !full() && (in_.size() <= kTurnBytes || !protocol_->answering());
}

bool Connection::HasWork() const {
  return answered_ || (readable_ && MayRead()) ||
         (writable_ && (blocked_ || stream_.wants_write()));
}

Instant Connection::TakeTurn() {
  const Turn now(loop_.clock());
  if (closed_) return now;
  waited_ = loop_.rota().Waited(*this, now);
  late_ = loop_.rota().next_is_late();
  const uint64_t refused = refused_;
  in_turn_ = true;
  if (answered_ || blocked_ || stream_.wants_write()) {
    answered_ = false;
    Flush();
  }
  if (!closed_ && readable_ && MayRead()) Read(now);
  in_turn_ = false;
  const Instant end = loop_.clock().Now();
  counters_.batch.Add(end - now.at());
  if (refused_ != refused) counters_.refused.Add(refused_ - refused);
  loop_.rota().Took(*this, end, end - now.at(), refused_ != refused);
  waited_ = {};
  late_ = false;
  if (closed_) return end;
  const Rota::Since known = loop_.rota().Now(end);
  if (HasWork()) {
    LookAtBacklog(known);
    loop_.rota().AddAgain(*this, backlog_.Since(stream_.bytes_read(), known), end);
  } else {
    backlog_.Pause(known);
  }
  CountBytes();
  return end;
}

void Connection::AskForATurn() {
  if (waits()) return;
  const Rota::Since now = loop_.rota().Now(loop_.now());
  backlog_.Resume(now);
  loop_.rota().Add(*this, backlog_.Since(stream_.bytes_read(), now), now.at);
}

void Connection::LookAtBacklog(const Rota::Since& now) {
  if (patient() || !readable_) return;
  int left = 0;
  if (ioctl(stream_.fd(), SIOCINQ, &left) != 0) left = 0;
  backlog_.Look(stream_.bytes_read(), static_cast<uint64_t>(left), now);
}

void Connection::Read(const Turn& now) {
  LookForDelivery();
  const Stream::Moved moved = stream_.Read(std::span(loop_.scratch()).first(kTurnBytes));
  switch (moved.state) {
    case Stream::State::kWait: readable_ = false; return;
    case Stream::State::kBroken: return Close();
    case Stream::State::kClosed:
      readable_ = false;
      peer_done_ = true;
      PeerDone(now);
      return Flush();
    case Stream::State::kDone: break;
  }
  if (moved.bytes < kTurnBytes && stream_.tells_the_end() && !all_came_) readable_ = false;
  counters_.bytes_in.Add(moved.bytes);
  last_active_ = now;
  const std::string_view bytes(loop_.scratch().data(), moved.bytes);
  if (in_.empty()) {
    unread_since_ = now;
    Receive(bytes, now);
  } else {
    in_.append(bytes);
    Receive({}, now);
  }
  Flush();
  if (!closed_ && in_.size() > most_unread()) Close();
}

// Hands over `bytes`, or what was kept where there are none, and keeps what is left.
void Connection::Receive(std::string_view bytes, const Turn& now) {
  const bool kept = bytes.empty();
  if (out_.empty()) loop_.Lend(out_);
  receiving_ = true;
  const size_t used = protocol_->Receive(kept ? std::string_view(in_) : bytes, now);
  receiving_ = false;
  if (used > 0) unread_since_ = now;
  if (!kept) {
    if (used < bytes.size()) in_.assign(bytes.substr(used));
  } else {
    in_.erase(0, used);
    if (in_.empty()) loop_.TakeBack(in_);
  }
}

void Connection::Flush() {
  if (closed_ || receiving_) return;
  while (true) {
    const bool some = !out_.empty();
    if (!Write()) return;
    if (!out_.empty()) break;
    if (protocol_->done()) return Close();
    // A protocol stops at requests that it cannot answer before its answers so far are written.
    if (!some || in_.empty()) break;
    Receive({}, Turn(loop_.clock()));
  }
  if (peer_done_ && out_.empty() && !protocol_->owes()) return End();
  if (in_turn_) return;
  if (HasWork()) AskForATurn();
  CountBytes();
}

void Connection::FlushSoon() {
  if (closed_) return;
  answered_ = true;
  AskForATurn();
}

// Writes what it can. False if that was the end of the connection.
bool Connection::Write() {
  size_t sent = 0;
  while (sent < out_.size()) {
    const Stream::Moved moved = stream_.Write(std::string_view(out_).substr(sent));
    if (moved.state == Stream::State::kWait) break;
    if (moved.state != Stream::State::kDone) {
      Close();
      return false;
    }
    sent += moved.bytes;
    counters_.bytes_out.Add(moved.bytes);
  }
  if (sent < out_.size()) {
    writable_ = false;
    if (sent > 0 || !blocked_) last_active_ = blocked_since_ = loop_.clock().Now();
    blocked_ = true;
    out_.erase(0, sent);
    return true;
  }
  blocked_ = false;
  loop_.TakeBack(out_);
  return true;
}

void Connection::PeerDone(const Turn& now) {
  if (half_closed_) return;
  half_closed_ = true;
  protocol_->HalfClosed(now);
}

// Everything was answered to a peer that sends nothing more.
void Connection::End() {
  LookForDelivery();
  // Until it is acknowledged: Tick looks again. A peer that is gone resets the connection.
  if (protocol_->asks_for_delivery()) return;
  Close();
}

void Connection::LookForDelivery() {
  if (!protocol_->asks_for_delivery() || !out_.empty() || protocol_->owes()) return;
  int on_its_way = 0;
  if (ioctl(stream_.fd(), SIOCOUTQ, &on_its_way) != 0 || on_its_way == 0) protocol_->Delivered();
}

void Connection::Drain(const Turn& now) {
  if (closed_) return;
  // What was sent before is answered.
  in_turn_ = true;
  readable_ = true;
  for (int i = 0; i < kReadsBeforeDraining && !closed_ && readable_ && MayRead(); ++i) {
    Read(Turn(loop_.clock()));
  }
  in_turn_ = false;
  if (closed_) return;
  receiving_ = true;
  protocol_->Drain(now);
  receiving_ = false;
  Flush();
  if (!closed_ && idle()) Close();
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  LookForDelivery();
  stream_.Shutdown();
  if (watched_) loop_.Unwatch(stream_.fd());
  loop_.rota().Leave(*this);
  counters_.closed.Add(1);
  protocol_->Closed(Turn(loop_.clock()));
  owner_.Remove(*this);
}

void Connection::Tick(const Turn& now, Duration deadline) {
  if (closed_) return;
  LookForDelivery();
  // It is not the peer's next bytes that are waited for.
  if (blocked_ || protocol_->answering()) unread_since_ = now;
  const bool unread = !in_.empty() && now.at() - unread_since_ > deadline;
  const bool unsent = blocked_ && now.at() - blocked_since_ > deadline;
  const bool no_handshake = !stream_.established() && now.at() - accepted_ > deadline;
  if (unread || unsent || no_handshake) {
    counters_.timed_out.Add(1);
    return Close();
  }
  receiving_ = true;
  protocol_->Tick(now);
  receiving_ = false;
  if (!out_.empty() || peer_done_ || protocol_->done()) Flush();
  if (!closed_) CountBytes();
}

void Connection::CountBytes() {
  const size_t bytes =
      sizeof *this + in_.capacity() + out_.capacity() + protocol_->bytes() + stream_.bytes();
  const int64_t more = static_cast<int64_t>(bytes) - counted_bytes_;
  if (more < kCountedStep && more > -kCountedStep) return;
  counted_bytes_ += more;
  owner_.Grew(more);
}

}  // namespace weir
