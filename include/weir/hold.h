// Holds: copies of a copy-limited resource, held by a session until they are released.
//
// A session is a client's connection, or lives for as long as it is renewed. When it ends, for
// whatever reason, what it holds is released. Only the session that holds may release or transfer.
// A transfer takes copies out of a hold and keeps them for whoever names it: it outlives its giver,
// and its copies go back to the pool if nobody has seized them in time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/decision.h"
#include "weir/error.h"
#include "weir/instant.h"
#include "weir/reach.h"

namespace weir {

using SessionId = Ticket;  // unguessable, like all names of this kind

inline constexpr Duration kLongestTransfer = std::chrono::hours(24);
inline constexpr Duration kLongestWait = std::chrono::hours(24);  // who asks for more waits so long

struct ReserveRequest {
  std::string_view namespace_name;
  std::string_view resource;
  std::string_view subject;
  uint64_t copies = 1;
  std::optional<uint64_t> min_copies = std::nullopt;  // default: copies
  Duration wait{};                                    // 0: refused at once if there is no room
  std::optional<uint64_t> max_queue = std::nullopt;   // so many of the subject may wait already
  bool share = false;  // whoever waits in share is told when the holder is done, and holds nothing
  const Reach* reach = nullptr;  // of whoever asks; null: everything
};

// A pool that the request itself describes (PoolCounter): no rule is needed.
struct PoolRequest {
  std::string_view key;
  uint64_t workers = 1;
  uint64_t max_queue = 0;
  Duration wait{};
  bool share = false;
};

enum class Outcome { kGranted, kRefused, kQueueFull, kTimeout, kDone };
std::string_view OutcomeName(Outcome outcome);  // "granted", "queue_full", …

struct GroupStatus {
  std::string name;
  uint64_t limit = 0;
  uint64_t held = 0;
};

struct Reservation {
  Outcome outcome = Outcome::kRefused;
  bool allowed = false;  // outcome == kGranted
  uint64_t granted = 0;
  Ticket hold;
  uint64_t held = 0;  // by the subject, this hold included
  uint64_t per_subject = 0;
  uint64_t held_total = 0;
  uint64_t total = 0;  // UINT64_MAX: not limited
  std::vector<GroupStatus> groups;
};

struct Seized {
  Ticket hold;
  std::string namespace_name, resource, subject;
  uint64_t copies = 0;
  std::vector<std::string> groups;  // in whose pools they count
};

using ReserveDone = std::function<void(const Result<Reservation>&)>;

}  // namespace weir
