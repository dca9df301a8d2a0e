#include "server/connections/memory_guard.h"

#include <algorithm>

#include "server/connections/connection.h"

namespace weir {

void MemoryGuard::Watch(Port& port, SharedBytes& all_of_port) {
  port.all_ = &all_of_port;
  ports_.push_back(&port);
}

void MemoryGuard::Grew(Port& port, int64_t bytes) {
  port.mine_ += bytes;
  port.all_->Add(bytes);
  mine_ += bytes;
  all_.Add(bytes);
  if (bytes > 0) Look();
}

void MemoryGuard::Look() {
  if (closing_) return;
  closing_ = true;
  for (Port* port : ports_) {
    if (port->all_->TooMany(port->mine_)) Close({port}, *port->all_, port->mine_);
  }
  if (all_.TooMany(mine_)) Close(ports_, all_, mine_);
  closing_ = false;
}

void MemoryGuard::Close(const std::vector<Port*>& ports, const SharedBytes& shared,
                        const int64_t& mine) {
  struct Candidate {
    Connection* connection;
    Port* port;
    int64_t bytes;
  };
  std::vector<Candidate> candidates;
  std::vector<Connection*> open;
  for (Port* port : ports) {
    open.clear();
    port->AddOpen(open);
    for (Connection* one : open) candidates.push_back({one, port, one->counted_bytes()});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.bytes > b.bytes; });
  for (const Candidate& candidate : candidates) {
    if (shared.Enough(mine)) return;
    candidate.port->CountGreedy();
    candidate.connection->Close();
  }
}

}  // namespace weir
