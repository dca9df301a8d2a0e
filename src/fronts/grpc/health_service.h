// grpc.health.v1.Health: whether the server takes calls.
//
// All services of a server are well or not together. A watcher is told at once and then at every
// change, which may come from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fronts/grpc/method_table.h"

namespace weir {

class HealthBoard {
 public:
  class Watcher;

  // From any thread.
  void SetServing(bool serving);
  bool serving() const;

  // The services that may be asked for; before there are connections.
  void SetServices(std::vector<std::string> services) { services_ = std::move(services); }
  // "" is the server as a whole.
  bool Knows(std::string_view service) const;

  void Add(Watcher& watcher);
  void Remove(Watcher& watcher);

 private:
  std::vector<std::string> services_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  bool serving_ = true;
  std::vector<Watcher*> watchers_;
};

// `board` outlives the table.
void AddHealthService(MethodTable& methods, HealthBoard& board);

}  // namespace weir
