// What is wanted, and which pools it needs under the rules in force: those may change while it waits, so
// they are asked again for every attempt.
#pragma once

#include <string>
#include <string_view>

#include <absl/container/inlined_vector.h>

#include "store/store.h"
#include "weir/hold.h"

namespace weir {

inline constexpr size_t kPoolsInline = 2;
using Pools = absl::InlinedVector<Key, kPoolsInline>;

// In words that outlive the request.
struct Wanted {
  SessionId session;
  std::string namespace_name, resource, subject;
  uint64_t copies = 1, min_copies = 1;
  bool share = false;
  uint64_t workers = 0;  // > 0: a pool that the request describes itself
  // The queue's name: namespace and resource.
  std::string queue() const { return namespace_name + std::string(1, '\0') + resource; }
};

struct Needs {
  // What a pool is to who asks: his own, that of all, or the group of this number.
  static constexpr int kOwn = -1, kTotal = -2;

  Code error = Code::kOk;
  std::string_view message;
  uint32_t owner = 0;  // whose memory a hold takes
  absl::InlinedVector<Charge, 4> charges;
  absl::InlinedVector<int, 4> shown_as;  // of each charge
  Reservation shown;                     // with the limits; what is held is not known yet
};

class PoolRules {
 public:
  virtual ~PoolRules() = default;
  virtual void Find(const Wanted& wanted, Instant now, Needs& needs) = 0;
  // What the user is told of an error of the pools.
  virtual std::string_view MessageOf(Code code) const = 0;
};

}  // namespace weir
