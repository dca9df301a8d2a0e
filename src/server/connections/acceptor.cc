#include "server/connections/acceptor.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "net/keep_alive.h"

namespace weir {
namespace {

constexpr int kBacklog = 1024;
constexpr int kAcceptAtOnce = 64;
// Of those that may go for a newcomer, and more if none of them is idle: all would take long.
constexpr size_t kLookedAt = 64, kMostLookedAt = 512;
constexpr int kMostUnsentInKernel = 128 << 10;
// The kernel takes this twice, with what it needs beside; without, it is up to tens of MiB of a peer
// that sends faster than it is read. Over 100 ms there and back it lets through 640 KiB a second.
constexpr int kMostUnreadInKernel = 64 << 10;

void Set(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof value);
}

// The kernel asks a silent peer every few seconds whether it is there, and closes the connection when
// it has been silent for `cut_off`; so it does with one that does not take what it is sent.
void FindOutWhenCutOff(int fd, Duration cut_off) {
  const KeepAlive times = KeepAliveFor(cut_off);
  Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, times.idle_s);
  Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, times.interval_s);
  Set(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveQuestions);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, times.give_up_s * 1000);
}

}  // namespace

Result<FileDescriptor> Listen(const Address& address, bool share) {
  FileDescriptor fd(
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto failed = [&](const char* what) {
    return Error{
        Code::kUnavailable,
        std::string("cannot ") + what + " " + address.ToString() + ": " + std::strerror(errno), ""};
  };
  if (!fd) return failed("open a socket for");
  Set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  Set(fd.get(), SOL_SOCKET, SO_REUSEPORT, share ? 1 : 0);
  Set(fd.get(), SOL_SOCKET, SO_RCVBUF, kMostUnreadInKernel);  // of those that it accepts, too
  const auto* raw = reinterpret_cast<const sockaddr*>(&address.storage);
  if (bind(fd.get(), raw, address.length) != 0) return failed("listen on");
  if (listen(fd.get(), kBacklog) != 0) return failed("listen on");
  return fd;
}

Acceptor::Acceptor(Loop& loop, FileDescriptor socket, Front& front, const Tls* tls,
                   const Limits& limits, MemoryGuard& memory, PortCounters& counters)
    : loop_(loop),
      socket_(std::move(socket)),
      front_(front),
      tls_(tls),
      limits_(limits),
      memory_(memory),
      counters_(counters) {
  if (!loop_.Watch(socket_.get(), EPOLLIN, this)) throw std::runtime_error(std::strerror(errno));
}

Acceptor::~Acceptor() { CloseAll(); }

void Acceptor::OnReady(uint32_t) {
  for (int i = 0; i < kAcceptAtOnce && socket_; ++i) {
    FileDescriptor fd(accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      Add(std::move(fd));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      if (CloseIdlest()) continue;
      paused_ = true;
      loop_.Change(socket_.get(), 0, this);
    }
    if (errno != ECONNABORTED && errno != EINTR) return;
  }
}

void Acceptor::Add(FileDescriptor fd) {
  counters_.accepted.Add(1);
  if (connections_.size() >= limits_.most && !CloseIdlest()) {
    counters_.turned_away.Add(1);
    counters_.closed.Add(1);
    return;
  }
  Set(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  // What the kernel keeps for a peer that reads nothing is bounded too.
  Set(fd.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, kMostUnsentInKernel);
  FindOutWhenCutOff(fd.get(), limits_.cut_off);
  const Address peer = Address::OfPeer(fd.get());
  SSL* ssl = nullptr;
  if (tls_ != nullptr && (ssl = tls_->Accept(fd.get())) == nullptr) {
    counters_.closed.Add(1);
    return;
  }
  Connection::Owner& owner = *this;
  connections_.push_back(std::make_unique<Connection>(loop_, Stream(std::move(fd), ssl), peer,
                                                      front_, owner, counters_));
  Connection& connection = *connections_.back();
  connection.place = std::prev(connections_.end());
  if (!connection.watched()) {
    counters_.turned_away.Add(1);
    return connection.Close();
  }
  connection.CountBytes();
}

void Acceptor::AddOpen(std::vector<Connection*>& open) {
  for (const auto& connection : connections_) open.push_back(connection.get());
}

Connection& Acceptor::NextInRound() {
  Connection& next = *connections_.front();
  connections_.splice(connections_.end(), connections_, connections_.begin());
  return next;
}

bool Acceptor::CloseIdlest() {
  Connection* idlest = nullptr;
  for (size_t i = 0; i < connections_.size() && i < kMostLookedAt; ++i) {
    if (idlest != nullptr && i >= kLookedAt) break;
    Connection& connection = NextInRound();
    if (!connection.idle()) continue;
    if (idlest == nullptr || connection.last_active() < idlest->last_active()) {
      idlest = &connection;
    }
  }
  if (idlest == nullptr) return false;
  counters_.made_room.Add(1);
  idlest->Close();
  return true;
}

void Acceptor::Remove(Connection& connection) {
  memory_.Grew(*this, -connection.counted_bytes());
  std::unique_ptr<Connection> owned = std::move(*connection.place);
  connections_.erase(connection.place);
  loop_.DeleteLater(std::move(owned));
}

void Acceptor::Tick(const Turn& now, Duration deadline) {
  if (paused_ && socket_) {
    paused_ = false;
    loop_.Change(socket_.get(), EPOLLIN, this);
  }
  // One may close itself, or others: for memory.
  for (size_t left = connections_.size() / kTicksOfARound + 1; left > 0 && open() > 0; --left) {
    NextInRound().Tick(now, deadline);
  }
}

void Acceptor::Drain(const Turn& now) {
  // Who has connected already is served.
  for (size_t before = SIZE_MAX; socket_ && connections_.size() != before;) {
    before = connections_.size();
    OnReady(0);
  }
  if (socket_) loop_.Unwatch(socket_.get());
  socket_.Close();
  std::vector<Connection*> open;
  AddOpen(open);
  for (Connection* connection : open) connection->Drain(now);
}

void Acceptor::CloseAll() {
  while (!connections_.empty()) connections_.front()->Close();
}

}  // namespace weir
