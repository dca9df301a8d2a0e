// Random numbers: a generator that is seeded and repeats (for decisions that need chance, and for
// tests), and bytes that nobody can guess (for identifiers and secrets).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weir {

// xoshiro256**, by Blackman and Vigna; seeded with splitmix64.
class Random {
 public:
  using result_type = uint64_t;

  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  uint64_t operator()() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }

  // 0 <= result < n; n > 0.
  uint64_t Below(uint64_t n) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>((*this)()) * n >> 64);
  }
  // 0 <= result < 1.
  double Unit() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_[4];
};

// From the operating system's generator; aborts if there is none.
void FillUnguessable(std::span<std::byte> bytes);
// One word of it, from a buffer of the calling thread.
uint64_t UnguessableWord();

}  // namespace weir
