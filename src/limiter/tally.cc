#include "limiter/tally.h"

namespace weir {

void Tally::Sample(int64_t second) {
  busiest.Sample(second);
  refused.Sample(second);
  const Counts sum = counts.Sum();
  const std::lock_guard lock(mutex_);
  series_.Add(second, sum - sampled_);
  sampled_ = sum;
}

History Tally::Past(int64_t last_second) const {
  const std::lock_guard lock(mutex_);
  return {series_.Seconds(last_second), series_.Minutes(last_second)};
}

}  // namespace weir
