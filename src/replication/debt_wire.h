// Rows of debts as they travel in envelopes, behind a head that is not written here.
//
//   key, flags, what is the state's own; then the row. Flags say what is there: an origin if it is
//   not the sender, a refund, a window. A row of the same state as the one before begins with flags.
//
// Ages travel, not instants: no clock is compared with another's. They are in tenths of
// milliseconds, rounded down: no row seems older than it is.
#pragma once

#include <string>
#include <vector>

#include "replication/debt_rows.h"
#include "replication/envelope.h"
#include "replication/key_map.h"

namespace weir {

struct DebtState {
  StateName name;
  bool handed = false;    // whoever receives it is to tell everybody, and
  uint64_t capacity = 0;  // needs to know how much room there is
  Duration keep{};        // of a window: so long from now
  Duration spacing{};     // of a bucket: for so long a token counts
};

struct ToldRow {
  DebtState state;
  DebtRows::Row row;
};

inline constexpr Duration kAgeOfRow = std::chrono::microseconds(100);

class DebtRowsWriter {
 public:
  // Of one row at most, and of what Head writes too.
  static constexpr size_t kMostRowBytes = 92;

  DebtRowsWriter(Origin sender, Instant now) : sender_(sender), now_(now) {}
  void Add(const DebtState& state, const DebtRows::Row& row);

  bool empty() const { return out_.size() == blank_; }
  // Another row, and the head before it, may not fit.
  bool full() const { return out_.size() + 2 * kMostRowBytes > kMostEnvelopeBytes; }
  // What was written, and begins anew.
  std::string Take();

 private:
  const Origin sender_;
  const Instant now_;
  EnvelopeWriter out_{EnvelopeHead{}};
  size_t blank_ = out_.size();
  StateName last_;
};

// All that is left; reader.done() tells whether it was right.
std::vector<ToldRow> ReadDebtRows(EnvelopeReader& reader, Instant now);

}  // namespace weir
