// A map from keys, made for states that are looked up much more often than they come and go. Keys
// are hashes already.
//
// Entries lie side by side in a vector, so that going through them is going through memory, in the
// order in which they came: the same in every run, so that a simulation repeats. An index of their
// places, twice as large at least, is probed from the low bits of the key's hash on. Erasing moves
// the last entry into the gap. References last until the next insertion or erasure.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "base/prefetch.h"

namespace weir {

struct HashOfKey {
  size_t operator()(const Key& key) const noexcept { return key.low; }
};

// A key, and of a limit that counts by windows, which of them.
struct StateName {
  Key key;
  int64_t window = 0;

  StateName() = default;
  StateName(const Key& of, int64_t in = 0) : key(of), window(in) {}
  bool operator==(const StateName&) const = default;
};

struct HashOfState {
  size_t operator()(const StateName& name) const noexcept {
    return name.key.low ^ (static_cast<uint64_t>(name.window) * 0x9e3779b97f4a7c15);
  }
};

template <typename Value, typename Name = Key, typename Hash = HashOfKey>
class KeyMap {
 public:
  using value_type = std::pair<Name, Value>;
  using iterator = typename std::vector<value_type>::iterator;
  using const_iterator = typename std::vector<value_type>::const_iterator;

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }

  iterator find(const Name& key) { return begin() + static_cast<ptrdiff_t>(PlaceOf(key)); }
  const_iterator find(const Name& key) const {
    return begin() + static_cast<ptrdiff_t>(PlaceOf(key));
  }
  bool contains(const Name& key) const { return PlaceOf(key) < size(); }
  const Value& at(const Name& key) const {
    assert(contains(key));
    return find(key)->second;
  }
  Value& at(const Name& key) {
    assert(contains(key));
    return find(key)->second;
  }
  Value& operator[](const Name& key) { return try_emplace(key).first->second; }

  template <typename... Arguments>
  std::pair<iterator, bool> try_emplace(const Name& key, Arguments&&... arguments) {
    const size_t place = PlaceOf(key);
    if (place < size()) return {begin() + static_cast<ptrdiff_t>(place), false};
    entries_.emplace_back(std::piecewise_construct, std::forward_as_tuple(key),
                          std::forward_as_tuple(std::forward<Arguments>(arguments)...));
    if (2 * size() > index_.size()) {
      Reindex(std::max<size_t>(8, 2 * index_.size()));
    } else {
      index_[FreeSlot(key)] = static_cast<uint32_t>(size() - 1);
    }
    return {end() - 1, true};
  }

  void erase(iterator it) {
    Vacate(SlotOf(it->first));
    const iterator last = end() - 1;
    if (it != last) {
      index_[SlotOf(last->first)] = static_cast<uint32_t>(it - begin());
      *it = std::move(*last);
    }
    entries_.pop_back();
    if (8 * size() < index_.size() && index_.size() > 8) Shrink();
  }
  void erase(const Name& key) {
    if (const iterator it = find(key); it != end()) erase(it);
  }

  // The entry before a place, which is the last if there are fewer; null: none. So one goes through all, in
  // steps between which entries may come and go:
  //
  //   for (size_t left = SIZE_MAX; const auto* entry = map.Before(left); --left) …
  //
  // and sees every one that was there at the start and is at the end: what comes, comes behind, and a gap
  // is filled with what is behind.
  const value_type* Before(size_t& left) const {
    left = std::min(left, size());
    return left > 0 ? &entries_[left - 1] : nullptr;
  }

  // Calls act(value) for each of the keys that is there, having first fetched the memory of all: one
  // wait instead of one for each.
  template <typename Act>
  void Fetch(std::span<const Key> keys, const Act& act) const {
    if (index_.empty()) return;
    for (const Key& key : keys) Prefetch(&index_[Home(key)]);
    for (const Key& key : keys) {
      const uint32_t place = index_[Home(key)];
      if (place == kFree) continue;
      const char* const entry = reinterpret_cast<const char*>(&entries_[place]);
      for (size_t at = 0; at < sizeof(value_type); at += 64) Prefetch(entry + at);
    }
    for (const Key& key : keys) {
      if (const size_t place = PlaceOf(key); place < size()) act(entries_[place].second);
    }
  }

  // Without what the values own elsewhere.
  size_t bytes() const {
    return entries_.capacity() * sizeof(value_type) + index_.capacity() * sizeof(uint32_t);
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;

  size_t Home(const Name& key) const { return Hash()(key) & (index_.size() - 1); }
  size_t After(size_t slot) const { return (slot + 1) & (index_.size() - 1); }

  // size() if it is not there.
  size_t PlaceOf(const Name& key) const {
    if (index_.empty()) return size();
    for (size_t slot = Home(key);; slot = After(slot)) {
      const uint32_t place = index_[slot];
      if (place == kFree) return size();
      if (entries_[place].first == key) return place;
    }
  }
  // Of one that is there.
  size_t SlotOf(const Name& key) const {
    size_t slot = Home(key);
    while (!(entries_[index_[slot]].first == key)) slot = After(slot);
    return slot;
  }
  size_t FreeSlot(const Name& key) const {
    size_t slot = Home(key);
    while (index_[slot] != kFree) slot = After(slot);
    return slot;
  }
  // Those behind it that were pushed on move up, so that no probe ends early.
  void Vacate(size_t slot) {
    for (size_t next = After(slot); index_[next] != kFree; next = After(next)) {
      const size_t home = Home(entries_[index_[next]].first);
      const bool stays = slot <= next ? slot < home && home <= next : slot < home || home <= next;
      if (stays) continue;
      index_[slot] = index_[next];
      slot = next;
    }
    index_[slot] = kFree;
  }
  void Reindex(size_t slots) {
    index_.assign(slots, kFree);
    for (size_t i = 0; i < size(); ++i) {
      index_[FreeSlot(entries_[i].first)] = static_cast<uint32_t>(i);
    }
  }
  void Shrink() {
    entries_.shrink_to_fit();
    std::vector<uint32_t>(index_.size() / 2).swap(index_);
    Reindex(index_.size());
  }

  std::vector<value_type> entries_;
  std::vector<uint32_t> index_;  // places in entries_; a power of two of them, or none
};

template <typename Value, typename Name, typename Hash>
size_t MapBytes(const KeyMap<Value, Name, Hash>& map) {
  return map.bytes();
}

}  // namespace weir
