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

#include "mail/slice.h"
#include "replication/key_map.h"

namespace weir {

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
    if (cursor.row && StateName(cursor.key, cursor.window) != name) cursor.row.reset();
    while (const auto* row = letter.Before(state, cursor.row)) {
      const size_t room = std::min(kMostEnvelopeBytes, left - std::min(left, most.around));
      if (letter.Add(name, state, *row, room)) {
        const StateName at = name;
        cursor.key = at.key;
        cursor.window = at.window;
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
