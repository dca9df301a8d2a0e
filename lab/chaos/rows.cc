#include "lab/chaos/rows.h"

#include <fmt/core.h>

#include <algorithm>

#include "replication/counter_replica.h"
#include "replication/debt_replica.h"
#include "replication/queue_replica.h"

namespace weir::chaos {

std::string Shown(const RowName& name) {
  std::string text =
      fmt::format("row {}.{}.{}", name.origin.node, name.origin.incarnation, name.segment);
  if (name.window != 0) text += fmt::format(" of window {}", name.window);
  return text;
}

const Row* FindRow(const std::vector<Row>& rows, const RowName& name) {
  const auto at = std::lower_bound(rows.begin(), rows.end(), name,
                                   [](const Row& row, const RowName& n) { return row.name < n; });
  return at == rows.end() || at->name != name ? nullptr : &*at;
}

std::string Differing(uint32_t key, uint32_t one, const Row& ones, uint32_t other,
                      const Row* theirs) {
  return fmt::format(
      "after quiet node {} knows {} charged and {} refunded in {} of key {}, node {} {}", one,
      ones.charged, ones.refunded, Shown(ones.name), key, other,
      theirs ? fmt::format("{} and {}", theirs->charged, theirs->refunded) : "nothing");
}

void ReadRows(const Replica& replica, const Key& key, std::vector<Row>& rows) {
  if (const auto* wrapper = dynamic_cast<const Wrapper*>(&replica)) {
    ReadRows(wrapper->inner(), key, rows);
  } else if (const auto* counter = dynamic_cast<const CounterReplica*>(&replica)) {
    const auto* known = counter->Find(key);
    if (known == nullptr) return;
    for (const auto& row : *known) {
      if (row.consumed == 0) continue;  // room for a row, with nothing in it yet
      rows.push_back({{row.origin, 0}, Instant{}, row.consumed, row.refunded, 0});
    }
  } else if (const auto* queue = dynamic_cast<const QueueReplica*>(&replica)) {
    const TokenQueue* known = queue->Find(key);
    if (known == nullptr) return;
    for (const Element& e : known->elements()) {
      rows.push_back({{e.name.origin, e.name.sequence}, e.birth, e.weight, e.refunded, e.life});
    }
  } else if (const auto* debt = dynamic_cast<const DebtReplica*>(&replica)) {
    debt->ForEach([&](const StateName& state, const DebtRows& known) {
      if (state.key != key) return;
      for (const DebtRows::Row& row : known.rows()) {
        const RowName name{row.origin, row.segment, state.window};
        rows.push_back({name, row.epoch, row.charged, row.refunded, 0});
      }
    });
  }
}

}  // namespace weir::chaos
