#include "replication/debt_wire.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "replication/ticks.h"

namespace weir::debt_wire_test {
namespace {

constexpr Instant kNow = FromNanos(1'800'000'000'000'000'000);
constexpr Origin kSender{3, 7};

uint64_t Any(uint64_t end) { return *rc::gen::inRange<uint64_t>(0, end); }

DebtState AnyState() {
  DebtState state;
  state.name.key = {Any(3), Any(3)};  // so that neighbours are of one state at times
  state.name.window = *rc::gen::element<int64_t>(0, 0, -5, int64_t{1} << 50);
  state.handed = *rc::gen::arbitrary<bool>();
  if (state.handed) state.capacity = Any(uint64_t{1} << 60);
  if (state.name.window != 0) {
    state.keep = std::chrono::seconds(Any(1 << 25));
  } else {
    state.spacing = std::chrono::microseconds(1 + Any(uint64_t{1} << 40));
  }
  return state;
}

DebtRows::Row AnyRow() {
  DebtRows::Row row;
  row.origin = *rc::gen::element(kSender, Origin{3, 8}, Origin{UINT32_MAX, UINT32_MAX});
  row.segment = *rc::gen::arbitrary<uint64_t>();
  row.epoch = kNow - static_cast<int64_t>(Any(uint64_t{1} << 40)) * kAgeOfRow;
  row.charged = Any(uint64_t{1} << 60);
  row.refunded = *rc::gen::arbitrary<bool>() ? Any(row.charged + 1) : 0;
  return row;
}

RC_GTEST_PROP(DebtWire, WhatIsWrittenIsReadAndTakesNoMoreThanItMay, ()) {
  const DebtHead head{Any(100), static_cast<uint32_t>(Any(9)), Any(uint64_t{1} << 61),
                      *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
  EnvelopeWriter writer({EnvelopeKind::kDebt, kSender, 100});
  WriteDebtHead(writer, head);
  DebtRowsWriter rows(kSender, kNow);
  std::vector<ToldRow> told;
  // What is said of a state is the same for all its rows in an envelope.
  for (const DebtState& state :
       *rc::gen::container<std::vector<DebtState>>(rc::gen::exec(AnyState))) {
    if (!told.empty() && told.back().state.name == state.name) continue;
    for (uint64_t i = 0; i <= Any(3) && !rows.full(); ++i) {
      told.push_back({state, AnyRow()});
      rows.Add(told.back().state, told.back().row);
    }
  }
  const std::string bytes = writer.Take() + rows.Take();
  RC_ASSERT(bytes.size() <= kMostEnvelopeBytes);
  EnvelopeReader reader(bytes);
  const DebtHead read_head = ReadDebtHead(reader);
  RC_ASSERT(read_head.stretch == head.stretch && read_head.incarnation == head.incarnation);
  RC_ASSERT(read_head.have == head.have);
  RC_ASSERT(read_head.gap == head.gap && read_head.asks == head.asks);
  const std::vector<ToldRow> read = ReadDebtRows(reader, kNow);
  RC_ASSERT(reader.done());
  RC_ASSERT(read.size() == told.size());
  for (size_t i = 0; i < read.size(); ++i) {
    RC_ASSERT(read[i].row == told[i].row);
    RC_ASSERT(read[i].state.name == told[i].state.name);
    RC_ASSERT(read[i].state.handed == told[i].state.handed);
    RC_ASSERT(read[i].state.capacity == told[i].state.capacity);
    RC_ASSERT(read[i].state.keep == told[i].state.keep);
    RC_ASSERT(read[i].state.spacing == told[i].state.spacing);
  }
}

TEST(DebtWire, ARowOfTheSameStateAsNoneIsRefused) {
  EnvelopeWriter writer({EnvelopeKind::kDebt, kSender, 0});
  WriteDebtHead(writer, {});
  writer.Byte(16);  // the same state; then a row
  writer.Numbers(1u, 2u, 3u);
  const std::string bytes = writer.Take();
  EnvelopeReader reader(bytes);
  ReadDebtHead(reader);
  ReadDebtRows(reader, kNow);
  EXPECT_FALSE(reader.done());
}

}  // namespace
}  // namespace weir::debt_wire_test
