#include "base/new_ticket.h"

#include "base/keyed_hash.h"
#include "base/random.h"

namespace weir {

Ticket NewTicket(uint32_t node) {
  return {uint64_t{node} << 32 | UnguessableWord() >> 32, UnguessableWord()};
}

uint32_t NodeHash(std::string_view name) {
  return static_cast<uint32_t>(KeyedHash({0, 0})(name).high) | 1;  // never 0
}

bool Ticket::IsOf(std::string_view node) const { return high >> 32 == NodeHash(node); }

}  // namespace weir
