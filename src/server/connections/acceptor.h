// Accepts connections for one front on one loop, and keeps them.
//
// There is room for so many of them. When it is used up some are looked at, and the one of them that has
// been idle the longest goes; if none is idle, the newcomer does. So it is with their memory, but there
// the greediest goes (memory_guard.h).
//
// Neither a tick nor a newcomer goes through all of them at once: others would wait for it.
#pragma once

#include <list>
#include <memory>

#include "net/tls.h"
#include "server/connections/connection.h"
#include "server/connections/memory_guard.h"

namespace weir {

// A socket that listens on the address. `share`: other sockets of this program listen there too and
// the kernel spreads connections over them; otherwise it is an error if anybody does.
Result<FileDescriptor> Listen(const Address& address, bool share);

class Acceptor final : public Loop::Watcher, public MemoryGuard::Port, private Connection::Owner {
 public:
  struct Limits {
    size_t most = 10'000;
    Duration cut_off = std::chrono::seconds(15);  // until a peer that is cut off is found out
  };
  // `tls` may be null. Throws if the system will not tell about the socket.
  Acceptor(Loop& loop, FileDescriptor socket, Front& front, const Tls* tls, const Limits& limits,
           MemoryGuard& memory, PortCounters& counters);
  ~Acceptor() override;

  void OnReady(uint32_t events) override;
  // Looks at some: in kTicksOfARound ticks at all of them.
  static constexpr size_t kTicksOfARound = 8;
  void Tick(const Turn& now, Duration deadline);
  // Accepts no more, and ends what is idle.
  void Drain(const Turn& now);
  void CloseAll();
  size_t open() const { return connections_.size(); }

  // MemoryGuard::Port
  void AddOpen(std::vector<Connection*>& open) override;
  void CountGreedy() override { counters_.greedy.Add(1); }

 private:
  void Remove(Connection& connection) override;
  void Grew(int64_t bytes) override { memory_.Grew(*this, bytes); }
  void Add(FileDescriptor fd);
  bool CloseIdlest();
  Connection& NextInRound();

  Loop& loop_;
  FileDescriptor socket_;
  Front& front_;
  const Tls* const tls_;
  const Limits limits_;
  MemoryGuard& memory_;
  PortCounters& counters_;
  bool paused_ = false;  // out of file descriptors: until the next tick
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace weir
