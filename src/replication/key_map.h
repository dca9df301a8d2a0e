// A map from keys, made for states that are looked up much more often than they come and go. Keys
// are hashes already.
//
// Entries lie side by side, so that going through them is going through memory, in the order in which they
// came: the same in every run, so that a simulation repeats. They are in chunks (chunked_vector.h), and so is
// the index of their places (place_index.h): no insertion and no erasure takes longer the more there are.
// Erasing moves the last entry into the gap. References last until the next insertion or erasure.
#pragma once

#include <algorithm>
#include <cassert>
#include <compare>
#include <cstdint>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "base/keyed_hash.h"
#include "base/prefetch.h"
#include "replication/chunked_vector.h"
#include "replication/place_index.h"

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

 private:
  template <typename Entries, typename Entry>
  class At {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = KeyMap::value_type;
    using difference_type = ptrdiff_t;
    using pointer = Entry*;
    using reference = Entry&;

    At() = default;
    At(Entries& entries, size_t place) : entries_(&entries), place_(place) {}
    Entry& operator*() const { return (*entries_)[place_]; }
    Entry* operator->() const { return &(*entries_)[place_]; }
    Entry& operator[](ptrdiff_t n) const { return *(*this + n); }
    At& operator++() { return *this += 1; }
    At& operator--() { return *this += -1; }
    At operator++(int) { return std::exchange(*this, *this + 1); }
    At operator--(int) { return std::exchange(*this, *this - 1); }
    At& operator+=(ptrdiff_t n) {
      place_ += static_cast<size_t>(n);
      return *this;
    }
    At& operator-=(ptrdiff_t n) { return *this += -n; }
    At operator+(ptrdiff_t n) const { return At(*this) += n; }
    At operator-(ptrdiff_t n) const { return At(*this) += -n; }
    ptrdiff_t operator-(const At& other) const {
      return static_cast<ptrdiff_t>(place_ - other.place_);
    }
    bool operator==(const At& other) const { return place_ == other.place_; }
    auto operator<=>(const At& other) const { return place_ <=> other.place_; }

   private:
    Entries* entries_ = nullptr;
    size_t place_ = 0;
  };
  using Entries = ChunkedVector<value_type>;

 public:
  using iterator = At<Entries, value_type>;
  using const_iterator = At<const Entries, const value_type>;

  size_t size() const { return entries_.size(); }
  bool empty() const { return size() == 0; }
  iterator begin() { return {entries_, 0}; }
  iterator end() { return {entries_, size()}; }
  const_iterator begin() const { return {entries_, 0}; }
  const_iterator end() const { return {entries_, size()}; }

  iterator find(const Name& key) { return {entries_, PlaceOf(key)}; }
  const_iterator find(const Name& key) const { return {entries_, PlaceOf(key)}; }
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
    if (place < size()) return {iterator(entries_, place), false};
    entries_.emplace_back(std::piecewise_construct, std::forward_as_tuple(key),
                          std::forward_as_tuple(std::forward<Arguments>(arguments)...));
    index_.Insert(Hash()(key), static_cast<uint32_t>(size() - 1), HashAt());
    return {end() - 1, true};
  }

  void erase(iterator it) {
    const auto place = static_cast<uint32_t>(it - begin()),
               last = static_cast<uint32_t>(size() - 1);
    index_.Erase(Hash()(it->first), place, HashAt());
    if (place != last) {
      index_.Move(Hash()(entries_[last].first), last, place);
      *it = std::move(entries_[last]);
    }
    entries_.pop_back();
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
    for (const Key& key : keys) index_.Fetch(Hash()(key));
    for (const Key& key : keys) {
      const uint32_t place = index_.Guess(Hash()(key));
      if (place == PlaceIndex::kNone) continue;
      const char* const entry = reinterpret_cast<const char*>(&entries_[place]);
      for (size_t at = 0; at < sizeof(value_type); at += 64) Prefetch(entry + at);
    }
    for (const Key& key : keys) {
      if (const size_t place = PlaceOf(key); place < size()) act(entries_[place].second);
    }
  }

  // Without what the values own elsewhere.
  size_t bytes() const { return entries_.bytes() + index_.bytes(); }

 private:
  auto HashAt() const {
    return [this](uint32_t place) { return Hash()(entries_[place].first); };
  }
  // size() if it is not there.
  size_t PlaceOf(const Name& key) const {
    const uint32_t place = index_.Find(
        Hash()(key), [&](uint32_t candidate) { return entries_[candidate].first == key; });
    return place == PlaceIndex::kNone ? size() : place;
  }

  Entries entries_;
  PlaceIndex index_;
};

template <typename Value, typename Name, typename Hash>
size_t MapBytes(const KeyMap<Value, Name, Hash>& map) {
  return map.bytes();
}

}  // namespace weir
