// The keyed hash that names states: SipHash-1-3 with 128 bits of output.
//
// A key is the hash of its parts under a secret, so that nobody outside can make two keys meet or
// crowd one place of a table, and yet every node that knows the secret gives a state the same name.
// The hash of one part is the standard SipHash of its bytes. Several parts are encoded with their
// lengths ("a_b","c" and "a","b_c" differ): each part is its length as a 64-bit little-endian word
// and then its bytes, padded with zeros to whole words; the hash is the standard SipHash of that
// encoding. So any other implementation can compute it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace weir {

struct Key {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const Key&) const = default;
};

// Two independent hashes into one: the state of `limit` for the request's `parts`.
constexpr Key operator^(Key a, Key b) { return {a.high ^ b.high, a.low ^ b.low}; }

// The state of a SipHash-C-D while words go in.
template <int kCompressRounds, int kFinalRounds>
class SipHash {
 public:
  explicit SipHash(const std::array<uint64_t, 2>& secret)
      : v0_(secret[0] ^ 0x736f6d6570736575),
        v1_(secret[1] ^ 0x646f72616e646f6d ^ 0xee),
        v2_(secret[0] ^ 0x6c7967656e657261),
        v3_(secret[1] ^ 0x7465646279746573) {}

  [[gnu::always_inline]] void Word(uint64_t word) {
    v3_ ^= word;
    for (int i = 0; i < kCompressRounds; ++i) Round();
    v0_ ^= word;
    words_ += 1;
  }

  // Whole words so far, then `tail_bytes` < 8 of `tail`.
  [[gnu::always_inline]] Key Finish(uint64_t tail = 0, uint64_t tail_bytes = 0) {
    const uint64_t length = words_ * 8 + tail_bytes;
    Word(tail | length << 56);
    v2_ ^= 0xee;
    for (int i = 0; i < kFinalRounds; ++i) Round();
    const uint64_t high = v0_ ^ v1_ ^ v2_ ^ v3_;
    v1_ ^= 0xdd;
    for (int i = 0; i < kFinalRounds; ++i) Round();
    return {high, v0_ ^ v1_ ^ v2_ ^ v3_};
  }

 private:
  [[gnu::always_inline]] void Round() {
    v0_ += v1_, v1_ = std::rotl(v1_, 13), v1_ ^= v0_, v0_ = std::rotl(v0_, 32);
    v2_ += v3_, v3_ = std::rotl(v3_, 16), v3_ ^= v2_;
    v0_ += v3_, v3_ = std::rotl(v3_, 21), v3_ ^= v0_;
    v2_ += v1_, v1_ = std::rotl(v1_, 17), v1_ ^= v2_, v2_ = std::rotl(v2_, 32);
  }

  uint64_t v0_, v1_, v2_, v3_;
  uint64_t words_ = 0;
};

class KeyedHash {
 public:
  explicit KeyedHash(const std::array<uint64_t, 2>& secret) : start_(secret) {}

  // Of one part.
  [[gnu::always_inline]] Key operator()(std::string_view part) const {
    Sip sip = start_;
    const size_t left = AddWords(sip, part);
    return sip.Finish(Tail(part.data() + part.size() - left, left), left);
  }
  // Of several parts, which may be none.
  template <typename Parts>
  Key OfAll(const Parts& parts) const {
    Sip sip = start_;
    for (std::string_view part : parts) {
      sip.Word(part.size());
      const size_t left = AddWords(sip, part);
      if (left > 0) sip.Word(Tail(part.data() + part.size() - left, left));
    }
    return sip.Finish();
  }

 private:
  using Sip = SipHash<1, 3>;

  // The whole words of the part; returns how many bytes are left.
  [[gnu::always_inline]] static size_t AddWords(Sip& sip, std::string_view part) {
    const char* bytes = part.data();
    size_t left = part.size();
    for (; left >= 8; left -= 8, bytes += 8) {
      uint64_t word;
      std::memcpy(&word, bytes, 8);
      sip.Word(word);
    }
    return left;
  }
  // The last 0 to 7 bytes as a word, without a loop and without reading beyond them.
  static uint64_t Tail(const char* bytes, size_t left) {
    if (left >= 4) {
      uint32_t low, high;
      std::memcpy(&low, bytes, 4);
      std::memcpy(&high, bytes + left - 4, 4);
      return low | uint64_t{high} << (8 * (left - 4));
    }
    if (left == 0) return 0;
    const auto at = [&](size_t i) { return uint64_t{static_cast<unsigned char>(bytes[i])}; };
    // One byte: three times itself; two: the second twice, in place; three: each.
    return at(0) | at(left / 2) << (8 * (left / 2)) | at(left - 1) << (8 * (left - 1));
  }

  Sip start_;
};

static_assert(std::endian::native == std::endian::little, "words are read as little-endian");

}  // namespace weir
