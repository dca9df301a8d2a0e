#include "limiter/ticket_book.h"

#include <algorithm>
#include <iterator>

#include "base/heap_bytes.h"

namespace weir {

uint32_t TicketBook::BytesOf(const std::vector<Receipt>& receipts) {
  constexpr size_t kEntryOfMap = 48;
  size_t bytes = kEntryOfMap + ChunkBytes(sizeof(Record) + 2 * sizeof(void*)) +
                 ChunkBytes(receipts.capacity() * sizeof(Receipt));
  for (const Receipt& receipt : receipts) {
    bytes += ChunkBytes(receipt.by_tier.capacity() * sizeof(uint64_t));
  }
  return static_cast<uint32_t>(bytes);
}

Ticket TicketBook::Issue(std::vector<Receipt> receipts, uint32_t owner, uint64_t ns, Instant now,
                         std::vector<Receipt>* forgone) {
  const Ticket ticket = NewTicket(node_);
  Reopen(ticket, std::move(receipts), owner, ns, now, forgone);
  return ticket;
}

void TicketBook::Reopen(const Ticket& ticket, std::vector<Receipt> receipts, uint32_t owner,
                        uint64_t ns, Instant now, std::vector<Receipt>* forgone) {
  const uint32_t bytes = BytesOf(receipts);
  Shard& shard = ShardOf(ticket);
  const std::lock_guard lock(shard.mutex);
  Owned& owned = shard.by_owner[owner];
  const auto record = owned.records.insert(
      owned.records.end(), Record{ticket, std::move(receipts), After(now, ttl_), owner, bytes, ns});
  owned.bytes += bytes;
  shard.bytes += bytes;
  shard.by_name.try_emplace(ticket, record);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  open_.fetch_add(1, std::memory_order_relaxed);
  store_.AddOutside(owner, bytes);
  while (shard.by_name.size() > most_per_shard_ ||
         (shard.bytes > bytes_per_shard_ && shard.by_name.size() > 1)) {
    PushOut(shard, forgone);
  }
}

std::vector<Receipt> TicketBook::Remove(Shard& shard, Records::iterator record) {
  const auto [owner, bytes] = std::pair(record->owner, record->bytes);
  std::vector<Receipt> receipts = std::move(record->receipts);
  shard.by_name.erase(record->name);
  const auto owned = shard.by_owner.find(owner);
  owned->second.records.erase(record);
  owned->second.bytes -= bytes;
  if (owned->second.records.empty()) shard.by_owner.erase(owned);
  shard.bytes -= bytes;
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  open_.fetch_sub(1, std::memory_order_relaxed);
  store_.AddOutside(owner, -int64_t{bytes});
  return receipts;
}

std::optional<TicketBook::Closed> TicketBook::Close(const Ticket& ticket, Instant now,
                                                    const std::vector<uint64_t>* namespaces) {
  Shard& shard = ShardOf(ticket);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.by_name.find(ticket);
  if (found == shard.by_name.end() || found->second->expires <= now) return std::nullopt;
  const auto [owner, ns] = std::pair(found->second->owner, found->second->ns);
  if (namespaces != nullptr &&
      std::find(namespaces->begin(), namespaces->end(), ns) == namespaces->end()) {
    return std::nullopt;
  }
  return Closed{Remove(shard, found->second), owner, ns};
}

bool TicketBook::ExpireSome(Instant now, std::vector<Receipt>* forgone) {
  size_t left = kExpireAtOnce;
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    std::vector<Records::iterator> expired;
    for (auto& [owner, owned] : shard.by_owner) {
      for (auto it = owned.records.begin();
           it != owned.records.end() && it->expires <= now && expired.size() < left; ++it) {
        expired.push_back(it);
      }
    }
    left -= expired.size();
    for (const Records::iterator record : expired) {
      std::ranges::move(Remove(shard, record), std::back_inserter(*forgone));
    }
  }
  return left == 0;
}

// There are as many owners as namespaces, so looking at all is little.
void TicketBook::PushOut(Shard& shard, std::vector<Receipt>* forgone) {
  const auto most = std::max_element(
      shard.by_owner.begin(), shard.by_owner.end(),
      [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
  std::ranges::move(Remove(shard, most->second.records.begin()), std::back_inserter(*forgone));
}

}  // namespace weir
