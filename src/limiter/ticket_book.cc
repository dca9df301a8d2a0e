#include "limiter/ticket_book.h"

#include <iterator>

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

Ticket TicketBook::Issue(std::vector<Receipt> receipts, Instant now,
                         std::vector<Receipt>* forgone) {
  const Ticket ticket = NewTicket(node_);
  Shard& shard = ShardOf(ticket);
  const std::lock_guard lock(shard.mutex);
  DropExpired(shard, now, forgone);
  if (shard.records.size() >= most_per_shard_) DropOldest(shard, forgone);
  const Instant expires = After(now, ttl_);
  shard.records.try_emplace(ticket, Record{std::move(receipts), expires});
  shard.by_expiry.emplace_back(expires, ticket);
  open_.fetch_add(1, std::memory_order_relaxed);
  return ticket;
}

std::optional<std::vector<Receipt>> TicketBook::Close(const Ticket& ticket, Instant now) {
  Shard& shard = ShardOf(ticket);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.records.find(ticket);
  if (found == shard.records.end() || found->second.expires <= now) return std::nullopt;
  std::vector<Receipt> receipts = std::move(found->second.receipts);
  shard.records.erase(found);
  open_.fetch_sub(1, std::memory_order_relaxed);
  return receipts;
}

void TicketBook::Expire(Instant now, std::vector<Receipt>* forgone) {
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    DropExpired(shard, now, forgone);
  }
}

void TicketBook::DropOldest(Shard& shard, std::vector<Receipt>* forgone) {
  while (!shard.by_expiry.empty()) {
    const auto found = shard.records.find(shard.by_expiry.front().second);
    shard.by_expiry.pop_front();
    if (found == shard.records.end()) continue;  // was settled
    std::move(found->second.receipts.begin(), found->second.receipts.end(),
              std::back_inserter(*forgone));
    shard.records.erase(found);
    open_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
}

void TicketBook::DropExpired(Shard& shard, Instant now, std::vector<Receipt>* forgone) {
  while (!shard.by_expiry.empty()) {
    const auto& [expires, ticket] = shard.by_expiry.front();
    if (expires > now && shard.records.contains(ticket)) return;
    if (expires <= now) {
      DropOldest(shard, forgone);
    } else {
      shard.by_expiry.pop_front();
    }
  }
}

}  // namespace weir
