#include "replication/debt_rows.h"

#include <algorithm>
#include <tuple>

namespace weir {
namespace {

using Units = __int128;

Units UnitsOf(uint64_t tokens, const SharedBucket& limit) {
  return static_cast<Units>(tokens) * limit.per.count();
}

Units FlowOff(Duration gap, const SharedBucket& limit) {
  return static_cast<Units>(std::max<int64_t>(0, gap.count())) * limit.limit;
}

bool Earlier(const DebtRows::Row& a, const DebtRows::Row& b) {
  return std::tie(a.epoch, a.origin, a.segment) < std::tie(b.epoch, b.origin, b.segment);
}

}  // namespace

void DebtRows::Refold(const SharedBucket& limit, Instant now) {
  stale_ = false;
  debt_ = 0;
  running_ = 0;
  at_ = rows_.empty() ? now : std::min(rows_.front().epoch, now);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const Instant epoch = std::min(row.epoch, now);
    debt_ -= FlowOff(epoch - at_, limit);
    if (debt_ <= 0) {
      debt_ = 0;
      running_ = i;
    }
    at_ = epoch;
    debt_ += UnitsOf(row.charged - row.refunded, limit);
  }
}

void DebtRows::BringTo(const SharedBucket& limit, Instant now) {
  if (stale_) Refold(limit, now);
  if (now <= at_) return;
  debt_ -= FlowOff(now - at_, limit);
  at_ = now;
  if (debt_ > 0) return;
  debt_ = 0;
  running_ = rows_.size();
}

uint64_t DebtRows::Debt(const SharedBucket& limit, Instant now) {
  BringTo(limit, now);
  const Units per = limit.per.count();
  return static_cast<uint64_t>((debt_ + per - 1) / per);
}

Instant DebtRows::ZeroAt(const SharedBucket& limit, Instant now) {
  BringTo(limit, now);
  const Units nanos = (debt_ + limit.limit - 1) / limit.limit;
  constexpr Units kMost = INT64_MAX;
  return After(now, Duration(static_cast<int64_t>(std::min(nanos, kMost))));
}

bool DebtRows::Charge(const SharedBucket& limit, Origin self, uint64_t cost, Instant now,
                      uint64_t& segments, uint64_t& segment) {
  BringTo(limit, now);
  const Units units = UnitsOf(cost, limit);
  if (debt_ + units > UnitsOf(limit.capacity, limit)) return false;
  for (size_t i = rows_.size(); i > running_; --i) {
    Row& row = rows_[i - 1];
    if (row.origin != self) continue;
    row.charged += cost;
    debt_ += units;
    segment = row.segment;
    return true;
  }
  segment = ++segments;
  const Row row{self, segment, now, cost, 0};
  const auto place = std::upper_bound(rows_.begin(), rows_.end(), row, Earlier);
  running_ = std::min(running_, static_cast<size_t>(place - rows_.begin()));
  rows_.insert(place, row);
  debt_ += units;
  return true;
}

void DebtRows::Refund(Origin self, uint64_t cost, std::vector<uint64_t>& segments) {
  for (auto row = rows_.rbegin(); row != rows_.rend() && cost > 0; ++row) {
    const uint64_t most = std::min(cost, row->charged - row->refunded);
    if (row->origin != self || most == 0) continue;
    row->refunded += most;
    cost -= most;
    segments.push_back(row->segment);
    stale_ = true;
  }
}

bool DebtRows::Merge(const Row& row) {
  const auto known = std::find_if(rows_.begin(), rows_.end(), [&](const Row& one) {
    return one.origin == row.origin && one.segment == row.segment;
  });
  Row merged = row;
  if (known != rows_.end()) {
    merged.epoch = std::min(known->epoch, row.epoch);
    merged.charged = std::max(known->charged, row.charged);
    merged.refunded = std::max(known->refunded, row.refunded);
    if (merged == *known) return false;
    rows_.erase(known);
  }
  rows_.insert(std::upper_bound(rows_.begin(), rows_.end(), merged, Earlier), merged);
  stale_ = true;
  return true;
}

void DebtRows::DropEnded(const SharedBucket& limit, Instant before, Instant now) {
  BringTo(limit, now);
  Units debt = 0;
  Instant at{};
  size_t ended = 0;  // rows whose periods have
  for (size_t i = 0; i < running_; ++i) {
    const Row& row = rows_[i];
    if (i > 0) debt -= FlowOff(row.epoch - at, limit);
    if (debt <= 0) {
      debt = 0;
      ended = i;
    }
    at = row.epoch;
    debt += UnitsOf(row.charged - row.refunded, limit);
    const Units nanos = (debt + limit.limit - 1) / limit.limit;
    const bool last = i + 1 == running_;
    const Instant zero =
        After(at, Duration(static_cast<int64_t>(std::min<Units>(nanos, INT64_MAX))));
    if (zero > before) break;
    if (last) ended = running_;
  }
  rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(ended));
  running_ -= ended;
  if (rows_.empty()) rows_.shrink_to_fit();
}

const DebtRows::Row* DebtRows::Find(Origin origin, uint64_t segment) const {
  for (const Row& row : rows_) {
    if (row.origin == origin && row.segment == segment) return &row;
  }
  return nullptr;
}

}  // namespace weir
