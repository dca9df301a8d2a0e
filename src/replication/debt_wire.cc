#include "replication/debt_wire.h"

#include <algorithm>

namespace weir {
namespace {

constexpr uint64_t kOfOther = 1, kRefunded = 2, kOfWindow = 4, kHanded = 8, kSameState = 16;
constexpr uint64_t kEndOfFlags = 32;

constexpr uint64_t kMostCharged = uint64_t{1} << 60;
constexpr uint64_t kMostAge = uint64_t{1} << 50;
constexpr uint64_t kMostSeconds = uint64_t{1} << 25;  // about a year

uint64_t NotNegative(int64_t n) { return static_cast<uint64_t>(std::max<int64_t>(0, n)); }

uint64_t Zigzag(int64_t n) {
  return (static_cast<uint64_t>(n) << 1) ^ static_cast<uint64_t>(n >> 63);
}
int64_t Unzigzag(uint64_t n) { return static_cast<int64_t>(n >> 1) ^ -static_cast<int64_t>(n & 1); }

constexpr uint64_t kGap = 1, kAsks = 2, kEndOfMarks = 4;  // beside how much has come

DebtState ReadState(EnvelopeReader& reader, const Key& key, uint64_t flags) {
  DebtState state{.name = {key}, .handed = (flags & kHanded) != 0};
  if (state.handed) state.capacity = reader.NumberBelow(kMostCharged);
  if (flags & kOfWindow) {
    state.name.window = Unzigzag(reader.Number());
    state.keep = std::chrono::seconds(reader.NumberBelow(kMostSeconds));
  } else {
    state.spacing = std::chrono::microseconds(std::max<uint64_t>(1, reader.NumberBelow(kMostAge)));
  }
  return state;
}

DebtRows::Row ReadRow(EnvelopeReader& reader, uint64_t flags, Instant now) {
  DebtRows::Row row{.origin = reader.head().sender};
  if (flags & kOfOther) row.origin = reader.Life();
  row.segment = reader.Number();
  row.epoch = After(now, -static_cast<int64_t>(reader.NumberBelow(kMostAge)) * kAgeOfRow);
  row.charged = reader.NumberBelow(kMostCharged);
  if (flags & kRefunded) row.refunded = reader.NumberBelow(row.charged + 1);
  return row;
}

}  // namespace

void WriteDebtHead(EnvelopeWriter& to, const DebtHead& head) {
  to.Numbers(head.stretch, head.incarnation,
             head.have * kEndOfMarks + (head.gap ? kGap : 0) + (head.asks ? kAsks : 0));
}

DebtHead ReadDebtHead(EnvelopeReader& from) {
  DebtHead head;
  head.stretch = from.NumberBelow(from.head().sequence + 1);
  head.incarnation = from.Number32();
  const uint64_t came = from.Number();
  head.have = came / kEndOfMarks;
  head.gap = (came & kGap) != 0;
  head.asks = (came & kAsks) != 0;
  return head;
}

void DebtRowsWriter::Add(const DebtState& state, const DebtRows::Row& row) {
  const bool same = !empty() && state.name == last_;
  last_ = state.name;
  const bool window = state.name.window != 0;
  out_.Byte(static_cast<uint8_t>((row.origin == sender_ ? 0 : kOfOther) |
                                 (row.refunded > 0 ? kRefunded : 0) | (window ? kOfWindow : 0) |
                                 (state.handed ? kHanded : 0) | (same ? kSameState : 0)));
  if (!same) {
    out_.Name(state.name.key);
    if (state.handed) out_.Number(std::min(state.capacity, kMostCharged - 1));
    if (window) {
      out_.Number(Zigzag(state.name.window));
      const auto keep = std::chrono::ceil<std::chrono::seconds>(state.keep);
      out_.Number(std::min(NotNegative(keep.count()), kMostSeconds - 1));
    } else {
      const auto spacing = std::chrono::ceil<std::chrono::microseconds>(state.spacing);
      out_.Number(std::min(NotNegative(spacing.count()), kMostAge - 1));
    }
  }
  if (row.origin != sender_) out_.Life(row.origin);
  out_.Number(row.segment);
  out_.Number(std::min(NotNegative((now_ - row.epoch) / kAgeOfRow), kMostAge - 1));
  out_.Number(row.charged);
  if (row.refunded > 0) out_.Number(row.refunded);
}

std::string DebtRowsWriter::Take() {
  std::string rows(out_.bytes().substr(blank_));
  out_.Cut(blank_);
  return rows;
}

std::vector<ToldRow> ReadDebtRows(EnvelopeReader& reader, Instant now) {
  std::vector<ToldRow> rows;
  while (reader.ok() && reader.left() > 0) {
    uint64_t flags = reader.NumberBelow(kEndOfFlags);
    if ((flags & kSameState) && rows.empty()) flags = reader.NumberBelow(0);  // as what?
    const DebtState state =
        flags & kSameState ? rows.back().state : ReadState(reader, reader.Name(), flags);
    rows.push_back({state, ReadRow(reader, flags, now)});
  }
  return rows;
}

}  // namespace weir
