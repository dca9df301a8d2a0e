#include "server/net/connection.h"

#include <sys/epoll.h>

namespace weir {
namespace {

constexpr size_t kKeptCapacity = size_t{64} << 10;  // larger buffers are freed when empty

void Empty(std::string& buffer) {
  if (buffer.capacity() > kKeptCapacity) {
    std::string().swap(buffer);
  } else {
    buffer.clear();
  }
}

}  // namespace

Connection::Connection(Loop& loop, Stream stream, const Address& peer, Front& front, Owner& owner,
                       PortCounters& counters)
    : loop_(loop),
      stream_(std::move(stream)),
      peer_(peer.host()),
      owner_(owner),
      counters_(counters),
      last_active_(loop.clock().Now()) {
  from_loopback_ = peer.loopback();
  protocol_ = front.Accept(*this);
  watched_ = EPOLLIN;
  loop_.Watch(stream_.fd(), watched_, this);
}

void Connection::OnReady(uint32_t events) {
  if (closed_) return;
  if ((events & EPOLLERR) != 0 || (events & (EPOLLHUP | EPOLLIN)) == EPOLLHUP) return Close();
  if ((events & EPOLLOUT) != 0) {
    last_active_ = loop_.clock().Now();
    Flush();
    if (closed_) return;
  }
  if ((events & EPOLLIN) != 0 || stream_.wants_write()) Read();
}

void Connection::Read() {
  do {
    const Stream::Moved moved = stream_.Read(loop_.scratch());
    switch (moved.state) {
      case Stream::State::kWait: WatchFor(); return;
      case Stream::State::kBroken: Close(); return;
      case Stream::State::kClosed:
        peer_done_ = true;
        if (out_.empty()) return Close();
        WatchFor();
        return;
      case Stream::State::kDone: break;
    }
    counters_.bytes_in.Add(moved.bytes);
    const Instant now = loop_.clock().Now();
    last_active_ = now;
    const std::string_view bytes(loop_.scratch().data(), moved.bytes);
    if (in_.empty()) {
      unread_since_ = now;
      Handle(bytes, now);
    } else {
      in_.append(bytes);
      Handle({}, now);
    }
  } while (!closed_ && stream_.pending() && out_.size() <= kMostUnsent);
}

void Connection::Handle(std::string_view bytes, Instant now) {
  Receive(bytes, now);
  Flush();
  if (closed_) return;
  if (in_.size() > kMostUnread) return Close();
  counters_.batch.Add(loop_.clock().Now() - now);
}

// Hands over `bytes`, or what was kept where there are none, and keeps what is left.
void Connection::Receive(std::string_view bytes, Instant now) {
  const bool kept = bytes.empty();
  receiving_ = true;
  const size_t used = protocol_->Receive(kept ? std::string_view(in_) : bytes, now);
  receiving_ = false;
  if (used > 0) unread_since_ = now;
  if (!kept) {
    in_.assign(bytes.substr(used));
  } else {
    in_.erase(0, used);
    if (in_.empty()) Empty(in_);
  }
}

void Connection::Flush() {
  if (closed_ || receiving_) return;
  bool more = true;
  while (more) {
    more = !out_.empty();
    if (!Write()) return;
    // A protocol stops at requests that it cannot answer before its answers so far are written.
    more = more && out_.empty() && !in_.empty();
    if (more) Receive({}, loop_.clock().Now());
  }
  WatchFor();
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
    last_written_ = last_active_;
  }
  if (sent < out_.size()) {
    out_.erase(0, sent);
    return true;
  }
  Empty(out_);
  if (protocol_->done() || peer_done_) {
    Close();
    return false;
  }
  return true;
}

void Connection::WatchFor() {
  uint32_t wanted = 0;
  if (out_.size() <= kMostUnsent && !peer_done_) wanted |= EPOLLIN;
  if (!out_.empty() || stream_.wants_write()) wanted |= EPOLLOUT;
  if (wanted == watched_) return;
  watched_ = wanted;
  loop_.Change(stream_.fd(), wanted, this);
}

void Connection::Drain() {
  if (closed_) return;
  if (out_.size() <= kMostUnsent) Read();  // what was sent before is answered
  if (closed_) return;
  receiving_ = true;
  protocol_->Drain();
  receiving_ = false;
  Flush();
  if (!closed_ && idle()) Close();
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  stream_.Shutdown();
  loop_.Unwatch(stream_.fd());
  counters_.closed.Add(1);
  protocol_->Closed(loop_.clock().Now());
  owner_.Remove(*this);
}

void Connection::Tick(Instant now, Duration deadline) {
  if (closed_) return;
  if (out_.empty()) last_written_ = now;
  if (protocol_->answering()) unread_since_ = now;
  const bool unread = !in_.empty() && now - unread_since_ > deadline;
  const bool unsent = !out_.empty() && now - last_written_ > deadline;
  if (unread || unsent) {
    counters_.timed_out.Add(1);
    return Close();
  }
  receiving_ = true;
  protocol_->Tick(now);
  receiving_ = false;
  if (!out_.empty() || protocol_->done()) Flush();
}

}  // namespace weir
