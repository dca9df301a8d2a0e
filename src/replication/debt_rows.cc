#include "replication/debt_rows.h"

#include <algorithm>
#include <tuple>

namespace weir {
namespace {

int128 Of(const DebtRows::Row& row, const Ticks& ticks) {
  return ticks.Of(row.charged - row.refunded);
}

// When so much has flowed off.
Instant GoneAt(int128 debt, const Ticks& ticks, Instant from) {
  if (debt <= 0) return from;
  if (ticks.per_nano == 0) return kEndOfTime;
  return InstantAt(ToNanos(from) + CeilDiv(debt, ticks.per_nano));
}

bool Earlier(const DebtRows::Row& a, const DebtRows::Row& b) {
  return std::tie(a.epoch, a.origin, a.segment) < std::tie(b.epoch, b.origin, b.segment);
}

}  // namespace

void DebtRows::Fold(const Ticks& ticks, Instant now) {
  stale_ = false;
  debt_ = 0;
  running_ = 0;
  at_ = rows_.empty() ? now : std::min(rows_.front().epoch, now);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const Instant epoch = std::min(row.epoch, now);
    debt_ -= ticks.In(epoch - at_);
    if (debt_ <= 0) {
      debt_ = 0;
      running_ = i;
    }
    at_ = epoch;
    debt_ += Of(row, ticks);
  }
}

void DebtRows::BringTo(const Ticks& ticks, Instant now) {
  if (stale_) Fold(ticks, now);
  if (now <= at_) return;
  debt_ -= ticks.In(now - at_);
  at_ = now;
  if (debt_ > 0) return;
  debt_ = 0;
  running_ = rows_.size();
}

int128 DebtRows::Debt(const Ticks& ticks, Instant now) {
  BringTo(ticks, now);
  return debt_;
}

Instant DebtRows::ZeroAt(const Ticks& ticks, Instant now) {
  BringTo(ticks, now);
  return GoneAt(debt_, ticks, std::max(now, at_));
}

uint64_t DebtRows::Charge(const Ticks& ticks, Origin self, uint64_t cost, Instant now,
                          uint64_t& segments) {
  BringTo(ticks, now);
  debt_ += ticks.Of(cost);
  for (size_t i = rows_.size(); i > running_; --i) {
    Row& row = rows_[i - 1];
    if (row.origin != self) continue;
    row.charged += cost;
    return row.segment;
  }
  const Row row{self, ++segments, now, cost, 0};
  const auto place = std::upper_bound(rows_.begin(), rows_.end(), row, Earlier);
  running_ = std::min(running_, static_cast<size_t>(place - rows_.begin()));
  rows_.insert(place, row);
  return row.segment;
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

std::vector<DebtRows::Row> DebtRows::DropEnded(const Ticks& ticks, Instant before, Instant now) {
  BringTo(ticks, now);
  int128 debt = 0;
  Instant at{};
  size_t ended = 0;  // rows whose periods have
  for (size_t i = 0; i < running_; ++i) {
    const Row& row = rows_[i];
    if (i > 0) debt -= ticks.In(row.epoch - at);
    if (debt <= 0) {
      debt = 0;
      ended = i;
    }
    at = row.epoch;
    debt += Of(row, ticks);
    if (GoneAt(debt, ticks, at) > before) break;
    if (i + 1 == running_) ended = running_;
  }
  const auto end = rows_.begin() + static_cast<std::ptrdiff_t>(ended);
  std::vector<Row> dropped(rows_.begin(), end);
  rows_.erase(rows_.begin(), end);
  running_ -= ended;
  if (rows_.empty()) rows_.shrink_to_fit();
  return dropped;
}

const DebtRows::Row* DebtRows::Find(Origin origin, uint64_t segment) const {
  for (const Row& row : rows_) {
    if (row.origin == origin && row.segment == segment) return &row;
  }
  return nullptr;
}

}  // namespace weir
