// A cell: one state in 21 bytes. Three cells and a byte of lock make a line of 64.
//
//   byte  0..7    tag: the low word of the key
//         8       tag: the lowest byte of the key's high word
//         9..11   the number of its limit (23 bits, 0: the cell is empty), and whether it is boxed
//        12..20   payload: 72 bits of state, or the address of a box on the heap
//
// The tag has 72 bits; the shard in which the cell lies is 10 further bits of the key, so that a
// key is known by 82 bits of keyed hash. The line is derived from the tag, so that a cell can be
// moved without knowing its key.
#pragma once

#include <cstdint>
#include <cstring>

#include "algorithms/algorithm.h"
#include "base/keyed_hash.h"

namespace weir {

inline constexpr size_t kCellBytes = 21;

// 72 bits.
struct Payload {
  uint64_t low = 0;
  uint8_t high = 0;

  static bool Fits(uint128 value) { return value >> 72 == 0; }
  static Payload Of(uint128 value) {
    return {static_cast<uint64_t>(value), static_cast<uint8_t>(value >> 64)};
  }
  uint128 value() const { return uint128{high} << 64 | low; }
};

// A view of the bytes of a cell, wherever they lie.
class Cell {
 public:
  Cell() = default;
  explicit Cell(unsigned char* bytes) : bytes_(bytes) {}

  bool empty() const { return Word() >> 8 == 0; }
  bool Is(const Key& key) const {
    uint64_t low;
    std::memcpy(&low, bytes_, 8);
    const uint32_t word = Word();
    return low == key.low && (word & 0xff) == (key.high & 0xff) && word >> 8 != 0;
  }
  uint64_t tag() const {
    uint64_t low;
    std::memcpy(&low, bytes_, 8);
    return low;
  }
  uint32_t limit() const { return Word() >> 8 & 0x7fffff; }
  bool boxed() const { return Word() >> 31 != 0; }
  Payload payload() const {
    Payload payload;
    std::memcpy(&payload.low, bytes_ + 12, 8);
    payload.high = bytes_[20];
    return payload;
  }

  void Name(const Key& key, uint32_t limit) {
    std::memcpy(bytes_, &key.low, 8);
    SetWord(static_cast<uint32_t>(key.high & 0xff) | limit << 8);
  }
  void SetLimit(uint32_t limit, bool boxed) {
    SetWord((Word() & 0xff) | limit << 8 | uint32_t{boxed} << 31);
  }
  void SetPayload(Payload payload) {
    std::memcpy(bytes_ + 12, &payload.low, 8);
    bytes_[20] = payload.high;
  }
  void Clear() { SetWord(0); }

  template <typename Box>
  Box* box() const {
    return reinterpret_cast<Box*>(payload().low);
  }

  unsigned char* bytes() const { return bytes_; }

 private:
  uint32_t Word() const {
    uint32_t word;
    std::memcpy(&word, bytes_ + 8, 4);
    return word;
  }
  void SetWord(uint32_t word) { std::memcpy(bytes_ + 8, &word, 4); }

  unsigned char* bytes_ = nullptr;
};

}  // namespace weir
