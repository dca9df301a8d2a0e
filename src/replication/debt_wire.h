// What a debt's envelope says, behind the head that all envelopes have.
//
//   stretch, and what has come from the receiver; then rows
//   row = flags, key, what is the state's own, the row. Flags say what is there: an origin if it is
//   not the sender, a refund, a window. A row of the same state as the one before has no key.
//
// Ages travel, not instants: no clock is compared with another's. They are in tenths of
// milliseconds, rounded down: no row seems older than it is.
#pragma once

#include <string>
#include <vector>

#include "mail/envelope.h"
#include "replication/debt_rows.h"
#include "replication/key_map.h"

namespace weir {

// The envelope's sequence is the place on the sender's list up to which it tells.
struct DebtHead {
  uint64_t stretch = 0;      // so many places before that one too
  uint32_t incarnation = 0;  // of the receiver, as the sender knows it,
  uint64_t have = 0;         // and how much of its list has come in that life
  bool gap = false;          // something before what came last is missing
  bool asks = false;         // for an answer at once
};
void WriteDebtHead(EnvelopeWriter& to, const DebtHead& head);
DebtHead ReadDebtHead(EnvelopeReader& from);

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
  // Of one row at most, and of both heads.
  static constexpr size_t kMostRowBytes = 92;

  DebtRowsWriter(Origin sender, Instant now) : sender_(sender), now_(now) {}
  void Add(const DebtState& state, const DebtRows::Row& row);

  bool empty() const { return out_.size() == blank_; }
  // Another row, and the heads before it, may not fit.
  bool full(size_t room = kMostEnvelopeBytes) const {
    return out_.size() + 2 * kMostRowBytes > room;
  }
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
