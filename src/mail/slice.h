// All that a correspondent knows, for a node that knows nothing yet: a slice at a time. How it is written is
// the correspondent's (replication/copy.h); the cursor between two slices is kept by whoever asks.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "mail/envelope.h"
#include "weir/instant.h"

namespace weir {

struct SliceSize {
  size_t keys = 1000;
  size_t bytes =
      size_t{64} << 10;  // less than kMostEnvelopeBytes may be too little for a single row
  size_t around = 0;     // bytes that an envelope takes beyond its own
};

struct Slice {
  std::vector<Envelope> envelopes;
  size_t keys = 0;    // that were passed
  bool last = false;  // there is nothing more
};

// A row of a state, in the order in which the state keeps them.
struct RowMark {
  Instant at{};
  Origin origin;
  uint64_t number = 0;
  auto operator<=>(const RowMark&) const = default;
};

// How far a copy has come; a new one has come nowhere.
struct CopyCursor {
  size_t box = 0;              // of a mailroom, one for each correspondent
  size_t part = 0;             // of a correspondent that has several
  size_t left = SIZE_MAX;      // states before this place have not been passed
  Key key;                     // of the last of those, and which of its windows,
  int64_t window = 0;          // if some of its rows have been written:
  std::optional<RowMark> row;  // this one, and all behind it

  // Of the correspondent whose box it is.
  bool at_start() const { return part == 0 && left == SIZE_MAX; }
  void NextPart() { *this = {.box = box, .part = part + 1}; }
  void NextBox() { *this = {.box = box + 1}; }
};

}  // namespace weir
