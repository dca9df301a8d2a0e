// The memory of a thread's connections: when it is short, the greediest go.
//
// Bounds are those of a port (half of all, so that a crowd on one port leaves room on the others) and
// those of all ports together.
#pragma once

#include <vector>

#include "server/connections/shared_bytes.h"

namespace weir {

class Connection;

class MemoryGuard {
 public:
  // Connections of one port on one thread.
  class Port {
   public:
    virtual ~Port() = default;
    // Appends those that are open.
    virtual void AddOpen(std::vector<Connection*>& open) = 0;
    // It is being closed for its greed.
    virtual void CountGreedy() = 0;

   private:
    friend class MemoryGuard;
    SharedBytes* all_ = nullptr;  // of the port on all threads
    int64_t mine_ = 0;
  };

  // `all` outlives this, and so do the ports' own.
  explicit MemoryGuard(SharedBytes& all) : all_(all) {}

  void Watch(Port& port, SharedBytes& all_of_port);
  // Connections of the port take so many bytes more, or fewer. May close any of them.
  void Grew(Port& port, int64_t bytes);
  // Others may have taken more: looks again.
  void Look();

 private:
  // Closes the greediest of these ports until `shared` has enough room, given what of it is `mine`.
  void Close(const std::vector<Port*>& ports, const SharedBytes& shared, const int64_t& mine);

  SharedBytes& all_;
  int64_t mine_ = 0;
  bool closing_ = false;
  std::vector<Port*> ports_;
};

}  // namespace weir
