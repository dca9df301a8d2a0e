#include "lab/chaos/rows.h"

#include <fmt/core.h>

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
