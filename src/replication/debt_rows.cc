#include "replication/debt_rows.h"

#include <algorithm>

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
  return DebtRows::MarkOf(a) < DebtRows::MarkOf(b);
}

}  // namespace

// For one more. There are many subjects of few rows, so what is kept free would be much.
void DebtRows::MakeRoom() {
  if (rows_.size() == rows_.capacity()) rows_.reserve(rows_.size() + rows_.size() / 4 + 1);
}

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
  const int128 left = debt_ - ticks.In(now - at_);
  if (left > 0) {
    debt_ = left;
    at_ = now;
  } else {
    at_ = GoneAt(debt_, ticks, at_);
    debt_ = 0;
    running_ = rows_.size();
  }
}

int128 DebtRows::Debt(const Ticks& ticks, Instant now) {
  BringTo(ticks, now);
  return debt_;
}

Instant DebtRows::ZeroAt(const Ticks& ticks, Instant now) {
  BringTo(ticks, now);
  return GoneAt(debt_, ticks, at_);
}

void DebtRows::Charge(const Ticks& ticks, Origin self, uint64_t cost, Instant now,
                      uint64_t& segments) {
  BringTo(ticks, now);
  debt_ += ticks.Of(cost);
  at_ = std::max(at_, now);
  for (size_t i = rows_.size(); i > running_; --i) {
    Row& row = rows_[i - 1];
    if (row.origin != self) continue;
    row.charged += cost;
    row.untold = 1;
    return;
  }
  Row row{self, ++segments, now, cost, 0};
  row.untold = 1;
  const auto place = std::upper_bound(rows_.begin(), rows_.end(), row, Earlier);
  running_ = std::min(running_, static_cast<size_t>(place - rows_.begin()));
  const auto at = place - rows_.begin();
  MakeRoom();
  rows_.insert(rows_.begin() + at, row);
}

bool DebtRows::Refund(const Ticks& ticks, Origin self, uint64_t cost, Instant now) {
  BringTo(ticks, now);
  bool any = false;
  for (size_t i = rows_.size(); i > running_ && cost > 0; --i) {
    Row& row = rows_[i - 1];
    const uint64_t most = std::min(cost, row.charged - row.refunded);
    if (row.origin != self || most == 0) continue;
    row.refunded += most;
    row.untold = 1;
    cost -= most;
    any = stale_ = true;
  }
  return any;
}

std::optional<uint64_t> DebtRows::Merge(const Row& row) {
  const auto known = std::find_if(rows_.begin(), rows_.end(), [&](const Row& one) {
    return one.origin == row.origin && one.segment == row.segment;
  });
  Row merged = row;
  uint64_t before = 0;
  if (known != rows_.end()) {
    before = known->charged;
    merged.epoch = std::min(known->epoch, row.epoch);
    merged.charged = std::max(known->charged, row.charged);
    merged.refunded = std::max(known->refunded, row.refunded);
    merged.place = known->place;
    merged.untold = known->untold;
    if (merged == *known) return std::nullopt;
    rows_.erase(known);
  }
  MakeRoom();
  rows_.insert(std::upper_bound(rows_.begin(), rows_.end(), merged, Earlier), merged);
  stale_ = true;
  return merged.charged - before;
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
    debt += ticks.Of(row.charged);  // as for those who have not heard of refunds
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

void DebtRows::SetPlace(size_t i, uint64_t place, bool untold) {
  rows_[i].place = place & (~uint64_t{0} >> 1);
  rows_[i].untold = untold ? 1 : 0;
}

const DebtRows::Row* DebtRows::Before(const std::optional<RowMark>& mark) const {
  const auto at = mark ? std::lower_bound(rows_.begin(), rows_.end(), *mark,
                                          [](const Row& row, const RowMark& wanted) {
                                            return MarkOf(row) < wanted;
                                          })
                       : rows_.end();
  return at == rows_.begin() ? nullptr : &*std::prev(at);
}

const DebtRows::Row* DebtRows::Find(Origin origin, uint64_t segment) const {
  for (const Row& row : rows_) {
    if (row.origin == origin && row.segment == segment) return &row;
  }
  return nullptr;
}

}  // namespace weir
