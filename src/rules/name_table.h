// Finds the place of a thing by its name, or by several names at once.
//
// Open addressing with at most half of the slots taken. A slot holds half of the hash and the place
// of the thing; whoever looks compares the name itself, so hashes may collide. The hash is fast and
// not cryptographic: the names in the tables come from those who write the rules, and a stranger's
// name is only ever looked for.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace weir {

class NameTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  NameTable() = default;
  explicit NameTable(size_t count)
      : slots_(count == 0 ? 0 : std::bit_ceil(2 * count), Slot{0, kNone}),
        mask_(slots_.empty() ? 0 : slots_.size() - 1) {}

  bool empty() const { return slots_.empty(); }
  // How many it has room for; a table for more is another one.
  size_t capacity() const { return slots_.size() / 2; }

  // At most `capacity` of them, each under a name of its own.
  void Add(uint64_t hash, uint32_t place) {
    size_t i = hash & mask_;
    while (slots_[i].place != kNone) i = (i + 1) & mask_;
    slots_[i] = {static_cast<uint32_t>(hash >> 32), place};
  }

  // One that was added. `hash_of(place)`: under which another was. What stands behind it moves up, so
  // that nobody looks for it behind a gap.
  template <typename HashOf>
  void Erase(uint64_t hash, uint32_t place, HashOf hash_of) {
    size_t gap = hash & mask_;
    while (slots_[gap].place != place) gap = (gap + 1) & mask_;
    for (size_t i = (gap + 1) & mask_; slots_[i].place != kNone; i = (i + 1) & mask_) {
      const size_t home = hash_of(slots_[i].place) & mask_;
      if (((i - home) & mask_) < ((i - gap) & mask_)) continue;  // its home is behind the gap
      slots_[gap] = slots_[i];
      gap = i;
    }
    slots_[gap] = {0, kNone};
  }

  // The place for which `is_it(place)`, or kNone.
  template <typename IsIt>
  uint32_t Find(uint64_t hash, IsIt is_it) const {
    if (slots_.empty()) return kNone;
    for (size_t i = hash & mask_;; i = (i + 1) & mask_) {
      const Slot slot = slots_[i];
      if (slot.place == kNone) return kNone;
      if (slot.tag == static_cast<uint32_t>(hash >> 32) && is_it(slot.place)) return slot.place;
    }
  }

 private:
  struct Slot {
    uint32_t tag;
    uint32_t place;
  };
  std::vector<Slot> slots_;
  size_t mask_ = 0;
};

namespace name_hash {

template <typename Word>
inline uint64_t Load(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// The halves of a 128-bit product, folded.
inline uint64_t Fold(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline constexpr uint64_t kOdd1 = 0x9e3779b97f4a7c15, kOdd2 = 0xd1342543de82ef95;

}  // namespace name_hash

// Reads sixteen bytes at a time; the last ones overlap those before, so nothing loops by bytes.
inline uint64_t HashName(std::string_view name, uint64_t seed = 0) {
  using namespace name_hash;
  const char* at = name.data();
  size_t left = name.size();
  uint64_t hash = seed + left * kOdd1;
  for (; left > 16; at += 16, left -= 16) {
    hash = Fold(Load<uint64_t>(at) ^ kOdd2, Load<uint64_t>(at + 8) ^ hash);
  }
  uint64_t low = 0, high = 0;
  if (left >= 8) {
    low = Load<uint64_t>(at), high = Load<uint64_t>(at + left - 8);
  } else if (left >= 4) {
    low = Load<uint32_t>(at), high = Load<uint32_t>(at + left - 4);
  } else if (left > 0) {
    low = Load<uint8_t>(at) | Load<uint8_t>(at + left / 2) << 8;
    high = Load<uint8_t>(at + left - 1);
  }
  return Fold(low ^ kOdd2, high ^ hash ^ kOdd1);
}

// Equality without a call for the short names that are usual.
inline bool SameName(std::string_view a, std::string_view b) {
  using namespace name_hash;
  const size_t n = a.size();
  if (n != b.size()) return false;
  if (n > 16) return std::memcmp(a.data(), b.data(), n) == 0;
  const char *p = a.data(), *q = b.data();
  if (n >= 8) {
    return Load<uint64_t>(p) == Load<uint64_t>(q) &&
           Load<uint64_t>(p + n - 8) == Load<uint64_t>(q + n - 8);
  }
  if (n >= 4) {
    return Load<uint32_t>(p) == Load<uint32_t>(q) &&
           Load<uint32_t>(p + n - 4) == Load<uint32_t>(q + n - 4);
  }
  for (size_t i = 0; i < n; ++i) {
    if (p[i] != q[i]) return false;
  }
  return true;
}

}  // namespace weir
