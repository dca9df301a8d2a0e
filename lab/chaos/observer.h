// Those who look on. The simulation tells them everything that happens, with what it changed in the
// rows of the node that it happened to; each checks one invariant, on its own account of the truth,
// and throws a Violation. They change nothing.
#pragma once

#include <span>
#include <string>

#include "lab/chaos/rows.h"
#include "lab/chaos/scenario.h"

namespace weir::chaos {

struct Violation {
  std::string invariant;
  std::string what;
  Instant at;
};

struct RowChange {
  uint32_t key = 0;
  RowName name;
  const Row* before = nullptr;  // null: it was not there
  const Row* after = nullptr;   // null: it is not there any more
};

enum class What : uint8_t {
  kStart,      // of a life of the node
  kEnd,        // it will not come back as it was
  kAway,       // it pauses or crashes, and keeps its memory
  kBack,       // and is there again
  kRequest,    // `cost` was asked for; `admitted`
  kTake,       // `cost` was taken
  kRefund,     // `cost` was given back
  kTick,       // the node was ticked, and sent something or not
  kReceive,    // an envelope of `other` came
  kCut,        // of `action`
  kMend,       //
  kStorm,      // begins
  kConverged,  // long enough after quiet that all have heard everything
  kForgotten,  // long enough that everything is full, and forgotten
};

struct Happening {
  What what = What::kTick;
  Instant at;  // true time
  uint32_t node = 0;
  uint32_t other = 0;
  uint32_t key = 0;
  int64_t window = 0;
  uint64_t cost = 0;
  bool admitted = false;
  bool good = true;
  Duration travelled{};
  const Action* action = nullptr;
  std::span<const Envelope> sent;
  std::span<const RowChange> changes;
};

// The cluster as observers may see it.
class Cluster {
 public:
  virtual ~Cluster() = default;
  virtual const Scenario& scenario() const = 0;
  virtual NodeSet members() const = 0;       // that belong to the cluster now
  virtual bool Up(uint32_t node) const = 0;  // it runs
  virtual Origin origin(uint32_t node) const = 0;
  virtual Replica& replica(uint32_t node) const = 0;
  virtual const std::vector<Row>& rows(uint32_t node, uint32_t key) const = 0;  // by name
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual const char* name() const = 0;
  virtual void See(const Happening& happening, const Cluster& cluster) = 0;

 protected:
  [[noreturn]] void Fail(const Happening& happening, std::string what) const {
    throw Violation{name(), std::move(what), happening.at};
  }
};

}  // namespace weir::chaos
