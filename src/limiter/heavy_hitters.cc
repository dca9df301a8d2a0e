#include "limiter/heavy_hitters.h"

#include <algorithm>

namespace weir {
namespace {

constexpr Duration kPaceEvery = std::chrono::milliseconds(50);
constexpr uint32_t kLooksPerPace = 1000;
constexpr uint32_t kLongestPeriod = 1024;
constexpr Duration kHalveEvery = std::chrono::seconds(10);

}  // namespace

void HeavyHitters::Look(std::string_view name, uint64_t hash, uint32_t weight, Instant now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  Pace(now);
  Age(now);
  name = name.substr(0, kLongestName);
  for (Entry& entry : entries_) {
    if (entry.hash != hash || entry.name != name) continue;
    entry.count += weight;
    entry.total += weight;
    return;
  }
  if (entries_.size() < kMost) {
    entries_.reserve(kMost);
    Entry& entry = entries_.emplace_back(Entry{.hash = hash, .count = weight, .name = {}});
    entry.name.reserve(kLongestName);
    entry.name.assign(name);
    entry.total = weight;
    return;
  }
  const auto least =
      std::min_element(entries_.begin(), entries_.end(),
                       [](const Entry& a, const Entry& b) { return a.count < b.count; });
  least->hash = hash;
  least->count += weight;
  least->name.assign(name);
  least->total = weight;
  least->sampled = 0;
  least->past.reset();
}

// More than about 20,000 looks a second: look at every second one of those, and so on.
void HeavyHitters::Pace(Instant now) {
  looks_ += 1;
  if (now - paced_ < kPaceEvery && looks_ < kLooksPerPace) return;
  const uint32_t period = period_.load(std::memory_order_relaxed);
  if (looks_ >= kLooksPerPace) {
    if (now - paced_ < kPaceEvery) period_.store(std::min(period * 2, kLongestPeriod));
  } else if (looks_ < kLooksPerPace / 4 && period > 1) {
    period_.store(period / 2);
  }
  looks_ = 0;
  paced_ = now;
}

void HeavyHitters::Age(Instant now) {
  if (now - aged_ < kHalveEvery) return;
  const auto halvings = std::min<int64_t>((now - aged_) / kHalveEvery, 63);
  if (aged_ != Instant{}) {
    for (Entry& entry : entries_) entry.count >>= halvings;
    std::erase_if(entries_, [](const Entry& entry) { return entry.count == 0; });
  }
  aged_ = now;
}

std::vector<SubjectCount> HeavyHitters::List() const {
  std::vector<SubjectCount> list;
  {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) list.push_back({entry.name, entry.count});
  }
  std::sort(list.begin(), list.end(), [](const SubjectCount& a, const SubjectCount& b) {
    return a.count != b.count ? a.count > b.count : a.subject < b.subject;
  });
  return list;
}

void HeavyHitters::Sample(int64_t second) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.past == nullptr) entry.past = std::make_unique<Series<uint32_t>>();
    const uint64_t more = std::min<uint64_t>(entry.total - entry.sampled, UINT32_MAX);
    entry.past->Add(second, static_cast<uint32_t>(more));
    entry.sampled = entry.total;
  }
}

std::optional<History> HeavyHitters::Past(std::string_view name, int64_t last_second) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.name != name.substr(0, kLongestName)) continue;
    History history;
    const Series<uint32_t> none;
    const Series<uint32_t>& past = entry.past == nullptr ? none : *entry.past;
    for (const uint32_t n : past.Seconds(last_second)) history.seconds.push_back({n, 0, 0});
    for (const uint32_t n : past.Minutes(last_second)) history.minutes.push_back({n, 0, 0});
    return history;
  }
  return std::nullopt;
}

}  // namespace weir
