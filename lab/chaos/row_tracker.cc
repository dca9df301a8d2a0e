#include "lab/chaos/row_tracker.h"

#include <algorithm>
#include <utility>

namespace weir::chaos {

void RowTracker::Read(const Replica& replica, uint32_t key) {
  read_.clear();
  ReadRows(replica, KeyOf(key), read_);
  if (read_ == raw_[key]) return;
  before_.push_back(std::exchange(rows_[key], read_));
  std::swap(raw_[key], read_);
  std::sort(rows_[key].begin(), rows_[key].end(),
            [](const Row& a, const Row& b) { return a.name < b.name; });
  Compare(key, before_.back(), rows_[key]);
}

void RowTracker::Compare(uint32_t key, const std::vector<Row>& before,
                         const std::vector<Row>& after) {
  for (size_t i = 0, j = 0; i < before.size() || j < after.size();) {
    if (j == after.size() || (i < before.size() && before[i].name < after[j].name)) {
      changes_.push_back({key, before[i].name, &before[i], nullptr});
      ++i;
    } else if (i == before.size() || after[j].name < before[i].name) {
      changes_.push_back({key, after[j].name, nullptr, &after[j]});
      ++j;
    } else {
      if (before[i] != after[j]) changes_.push_back({key, after[j].name, &before[i], &after[j]});
      ++i, ++j;
    }
  }
}

}  // namespace weir::chaos
