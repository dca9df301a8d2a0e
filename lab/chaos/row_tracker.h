// A node's rows as they were last read, and what has changed in them since.
#pragma once

#include "lab/chaos/observer.h"

namespace weir::chaos {

class RowTracker {
 public:
  explicit RowTracker(uint32_t keys = 0) : raw_(keys), rows_(keys) {}

  const std::vector<Row>& Of(uint32_t key) const { return rows_[key]; }  // by name
  // Changes are of what is read after this, and last until the next.
  void Begin() { changes_.clear(), before_.clear(); }
  void Read(const Replica& replica, uint32_t key);
  std::span<const RowChange> changes() const { return changes_; }

 private:
  void Compare(uint32_t key, const std::vector<Row>& before, const std::vector<Row>& after);

  std::vector<std::vector<Row>> raw_, rows_;  // by key: as they were read, and by name
  std::vector<Row> read_;
  std::vector<std::vector<Row>> before_;
  std::vector<RowChange> changes_;
};

}  // namespace weir::chaos
