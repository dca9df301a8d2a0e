#include "limiter/hold_book.h"

namespace weir {

Ticket HoldBook::Add(std::vector<Key> pools, uint64_t copies) {
  const Ticket hold = NewTicket(node_);
  const std::lock_guard lock(mutex_);
  holds_.try_emplace(hold, Hold{std::move(pools), copies});
  return hold;
}

Result<HoldBook::Release> HoldBook::Take(const Ticket& hold, uint64_t copies) {
  const std::lock_guard lock(mutex_);
  const auto found = holds_.find(hold);
  if (found == holds_.end()) {
    return Error{Code::kNotHeld, "no such hold: it was released, or never was", "hold"};
  }
  Hold& held = found->second;
  if (copies > held.copies) {
    return Error{Code::kBadRequest,
                 "the hold has " + std::to_string(held.copies) + " copies, not so many", "copies"};
  }
  if (copies == 0) copies = held.copies;
  held.copies -= copies;
  Release release{held.pools, copies, held.copies};
  if (held.copies == 0) holds_.erase(found);
  return release;
}

}  // namespace weir
