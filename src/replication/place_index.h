// Where entries are, by the hash of their names; who keeps the entries tells the hash of one at a place.
//
// Extendible hashing: a directory leads from the first bits of a hash to a segment, a small table of places
// that is probed from a slot on. A segment that is half full has twice the slots, or, if it is large, becomes
// two, which one more bit tells apart; two that are nearly empty become one again. So whatever comes or goes,
// no more is laid out anew than one or two segments.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "base/prefetch.h"

namespace weir {

class PlaceIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kMostSlots = 1024;  // of a segment

  // Of the first for which is(place) says so.
  template <typename Is>
  uint32_t Find(uint64_t hash, const Is& is) const {
    if (directory_.empty()) return kNone;
    const uint64_t mixed = Mix(hash);
    const Segment& segment = segments_[directory_[Prefix(mixed, depth_)]];
    for (size_t slot = segment.Home(mixed);; slot = segment.After(slot)) {
      const uint32_t place = segment.slots[slot];
      if (place == kNone || is(place)) return place;
    }
  }
  template <typename HashOf>
  void Insert(uint64_t hash, uint32_t place, const HashOf& hash_of) {
    if (directory_.empty()) Begin();
    const uint64_t mixed = Mix(hash);
    uint32_t id = directory_[Prefix(mixed, depth_)];
    while (2 * (segments_[id].used + 1) > segments_[id].slots.size()) {
      Grow(id, mixed, hash_of);
      id = directory_[Prefix(mixed, depth_)];
    }
    segments_[id].Put(mixed, place);
  }
  // One that is there.
  template <typename HashOf>
  void Erase(uint64_t hash, uint32_t place, const HashOf& hash_of) {
    const uint64_t mixed = Mix(hash);
    const uint32_t id = directory_[Prefix(mixed, depth_)];
    Segment& segment = segments_[id];
    segment.Vacate(segment.SlotOf(mixed, place), hash_of);
    if (8 * segment.used < segment.slots.size() && segment.slots.size() > kFewestSlots) {
      Shrink(id, mixed, hash_of);
    }
  }
  void Move(uint64_t hash, uint32_t from, uint32_t to) {
    const uint64_t mixed = Mix(hash);
    Segment& segment = segments_[directory_[Prefix(mixed, depth_)]];
    segment.slots[segment.SlotOf(mixed, from)] = to;
  }

  // It is about to be looked for.
  void Fetch(uint64_t hash) const {
    if (directory_.empty()) return;
    const uint64_t mixed = Mix(hash);
    const Segment& segment = segments_[directory_[Prefix(mixed, depth_)]];
    Prefetch(&segment.slots[segment.Home(mixed)]);
  }
  // The first place that will be looked at.
  uint32_t Guess(uint64_t hash) const {
    return Find(hash, [](uint32_t) { return true; });
  }

  size_t bytes() const {
    size_t sum = directory_.capacity() * sizeof(uint32_t) + segments_.capacity() * sizeof(Segment) +
                 free_.capacity() * sizeof(uint32_t);
    for (const Segment& segment : segments_) sum += segment.slots.capacity() * sizeof(uint32_t);
    return sum;
  }

 private:
  static constexpr size_t kFewestSlots = 8;
  static constexpr uint32_t kMostDepth = 20;

  // Of places; half of the slots are free at least.
  struct Segment {
    uint32_t depth = 0;  // so many bits lead here
    uint32_t used = 0;
    std::vector<uint32_t> slots;  // a power of two of them

    size_t Home(uint64_t mixed) const { return (mixed >> 20) & (slots.size() - 1); }
    size_t After(size_t slot) const { return (slot + 1) & (slots.size() - 1); }
    size_t SlotOf(uint64_t mixed, uint32_t place) const {
      size_t slot = Home(mixed);
      while (slots[slot] != place) {
        assert(slots[slot] != kNone);
        slot = After(slot);
      }
      return slot;
    }
    void Put(uint64_t mixed, uint32_t place) {
      size_t slot = Home(mixed);
      while (slots[slot] != kNone) slot = After(slot);
      slots[slot] = place;
      used += 1;
    }
    // Those behind it that were pushed on move up, so that no probe ends early.
    template <typename HashOf>
    void Vacate(size_t slot, const HashOf& hash_of) {
      for (size_t next = After(slot); slots[next] != kNone; next = After(next)) {
        const size_t home = Home(Mix(hash_of(slots[next])));
        const bool stays = slot <= next ? slot < home && home <= next : slot < home || home <= next;
        if (stays) continue;
        slots[slot] = slots[next];
        slot = next;
      }
      slots[slot] = kNone;
      used -= 1;
    }
    // Those of `before`.
    template <typename HashOf>
    void PutAll(const std::vector<uint32_t>& before, const HashOf& hash_of) {
      for (const uint32_t place : before) {
        if (place != kNone) Put(Mix(hash_of(place)), place);
      }
    }
    // Nothing is in it then.
    std::vector<uint32_t> Empty(size_t slots_then) {
      used = 0;
      std::vector<uint32_t> before(slots_then, kNone);
      before.swap(slots);
      return before;
    }
  };

  // Hashes are good, but for those that tests make.
  static uint64_t Mix(uint64_t hash) { return (hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15; }
  static size_t Prefix(uint64_t mixed, uint32_t bits) {
    return bits == 0 ? 0 : static_cast<size_t>(mixed >> (64 - bits));
  }

  void Begin() {
    directory_.push_back(NewSegment(0));
    segments_[0].slots.assign(kFewestSlots, kNone);
    deepest_ = 1;
  }
  uint32_t NewSegment(uint32_t depth) {
    uint32_t id = static_cast<uint32_t>(segments_.size());
    if (free_.empty()) {
      segments_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
    }
    segments_[id].depth = depth;
    return id;
  }
  void Lead(uint64_t mixed, uint32_t depth, uint32_t id) {
    const size_t count = size_t{1} << (depth_ - depth);
    const auto first = directory_.begin() + static_cast<ptrdiff_t>(Prefix(mixed, depth) * count);
    std::fill(first, first + static_cast<ptrdiff_t>(count), id);
  }

  template <typename HashOf>
  void Grow(uint32_t id, uint64_t mixed, const HashOf& hash_of) {
    const uint32_t depth = segments_[id].depth;
    const size_t slots = segments_[id].slots.size();
    if (slots < kMostSlots || depth == kMostDepth) {
      segments_[id].PutAll(segments_[id].Empty(2 * slots), hash_of);
      return;
    }
    if (depth == depth_) DeepenDirectory();
    deepest_ += depth + 1 == depth_ ? 2 : 0;
    const uint32_t other = NewSegment(depth + 1);
    Segment &lower = segments_[id], &upper = segments_[other];
    lower.depth = depth + 1;
    const uint64_t bit = uint64_t{1} << (63 - depth);
    Lead(mixed & ~bit, depth + 1, id);
    Lead(mixed | bit, depth + 1, other);
    upper.Empty(kMostSlots);
    for (const uint32_t place : lower.Empty(kMostSlots)) {
      if (place == kNone) continue;
      const uint64_t of_place = Mix(hash_of(place));
      ((of_place & bit) != 0 ? upper : lower).Put(of_place, place);
    }
  }
  void DeepenDirectory() {
    std::vector<uint32_t> twice(2 * directory_.size());
    for (size_t i = 0; i < twice.size(); ++i) twice[i] = directory_[i / 2];
    directory_.swap(twice);
    depth_ += 1;
    deepest_ = 0;
  }

  template <typename HashOf>
  void Shrink(uint32_t id, uint64_t mixed, const HashOf& hash_of) {
    bool merged = false;
    for (uint32_t depth = segments_[id].depth; depth > 0; --depth) {
      const uint32_t buddy = directory_[Prefix(mixed ^ (uint64_t{1} << (64 - depth)), depth_)];
      Segment &one = segments_[id], &two = segments_[buddy];
      if (two.depth != depth || one.used + two.used > kMostSlots / 4) break;
      deepest_ -= depth == depth_ ? 2 : 0;
      one.depth = depth - 1;
      const size_t used = one.used + two.used;
      const std::vector<uint32_t> of_one =
          one.Empty(std::max(kFewestSlots, std::bit_ceil(4 * used)));
      const std::vector<uint32_t> of_two = two.Empty(0);
      one.PutAll(of_one, hash_of);
      one.PutAll(of_two, hash_of);
      free_.push_back(buddy);
      Lead(mixed, depth - 1, id);
      merged = true;
    }
    if (merged) {
      FlattenDirectory();
    } else {
      Segment& segment = segments_[id];
      segment.PutAll(segment.Empty(segment.slots.size() / 2), hash_of);
    }
  }
  void FlattenDirectory() {
    while (deepest_ == 0 && depth_ > 0) {
      depth_ -= 1;
      for (size_t i = 0; i < directory_.size() / 2; ++i) directory_[i] = directory_[2 * i];
      directory_.resize(directory_.size() / 2);
      for (const uint32_t id : directory_) deepest_ += segments_[id].depth == depth_;
    }
    if (4 * directory_.size() < directory_.capacity()) directory_.shrink_to_fit();
    if (depth_ > 0) return;
    std::vector<Segment> last(1);
    last[0] = std::move(segments_[directory_[0]]);
    segments_.swap(last);
    directory_[0] = 0;
    free_ = {};
  }

  std::vector<uint32_t> directory_;  // segments, by the first depth_ bits
  std::vector<Segment> segments_;
  std::vector<uint32_t> free_;  // segments to which nothing leads
  uint32_t depth_ = 0;
  size_t deepest_ = 0;  // segments of that depth
};

}  // namespace weir
