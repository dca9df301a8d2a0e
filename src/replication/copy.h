// All that a correspondent knows, for a node that knows nothing yet: written a slice at a time, so that
// nobody waits long for who writes.
//
// Between two slices anything may change. Whatever was known at the first and still is at the last has
// been written, as it was at some instant between; what came or changed after it was written is news, and
// told to the node like any other, for it is a peer. Nothing is kept for it but the cursor.
//
// States are gone through from the last of their map to the first (KeyMap::Before), the rows of one from
// the latest to the earliest: what comes meanwhile comes behind the cursor, and what moves, moves on to where
// the cursor has not been. So a row may be written twice, which says nothing new, but none is left out.
#pragma once

#include <algorithm>
#include <cassert>
#include <compare>
#include <optional>
#include <vector>

#include "replication/envelope.h"
#include "replication/key_map.h"
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
  size_t part = 0;             // of a correspondent that has several
  size_t left = SIZE_MAX;      // states before this place have not been passed
  StateName name;              // of the last of those, if some of its rows have been written:
  std::optional<RowMark> row;  // this one, and all behind it

  bool at_start() const { return part == 0 && left == SIZE_MAX; }
};

// A letter knows how to write rows of these states: Before(state, mark) gives the row before the mark, or
// the last; Add(name, state, row, room) is false if the envelope would be larger than that; Take() is the
// envelope, and begins another.
template <typename Map, typename Letter>
Slice WriteSlice(const Map& states, Letter& letter, uint32_t to, const SliceSize& most,
                 CopyCursor& cursor) {
  Slice slice;
  size_t left = most.bytes;  // bytes
  const auto close = [&] {
    if (letter.empty()) return;
    slice.envelopes.push_back({to, letter.Take()});
    left -= std::min(left, slice.envelopes.back().bytes.size() + most.around);
  };
  while (const auto* entry = states.Before(cursor.left)) {
    if (slice.keys == most.keys) {
      close();
      return slice;
    }
    const auto& [name, state] = *entry;
    if (cursor.row && cursor.name != name) cursor.row.reset();
    while (const auto* row = letter.Before(state, cursor.row)) {
      const size_t room = std::min(kMostEnvelopeBytes, left - std::min(left, most.around));
      if (letter.Add(name, state, *row, room)) {
        cursor.name = name;
        cursor.row = letter.MarkOf(*row);
        continue;
      }
      assert(!letter.empty() || room < kMostEnvelopeBytes);
      if (letter.empty()) return slice;
      close();
    }
    cursor.row.reset();
    cursor.left -= 1;
    slice.keys += 1;
  }
  close();
  slice.last = true;
  return slice;
}

}  // namespace weir
