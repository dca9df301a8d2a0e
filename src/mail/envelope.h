// Messages between the nodes of a cluster, as bytes.
//
// Every envelope begins with kind, version, sender, incarnation and sequence: so it is in all versions, and
// whoever cannot read the rest knows whose it is. Numbers are varints (seven bits a byte, least first), so
// that small ones are short. What is read is checked: a broken envelope is refused as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/keyed_hash.h"

namespace weir {

// A node, and which of its lives: one that comes back without memory is another.
struct Origin {
  uint32_t node = 0;
  uint32_t incarnation = 0;
  auto operator<=>(const Origin&) const = default;
};

// Who reads it; on the wire: a number is never given to another.
enum class EnvelopeKind : uint8_t { kCounter = 1, kQueue = 2, kDebt = 3 };

struct Envelope {
  uint32_t to = 0;  // the node
  std::string bytes;
};

struct EnvelopeHead {
  EnvelopeKind kind = EnvelopeKind::kDebt;
  Origin sender;
  uint64_t sequence = 0;
};

inline constexpr uint8_t kEnvelopeVersion = 1;
inline constexpr size_t kMostDatagramBytes = 1200;  // that no network cuts
// Sealing it (cluster/seal.h) takes 30 bytes, and what stands around it in a datagram 3.
inline constexpr size_t kMostEnvelopeBytes = kMostDatagramBytes - 33;

class EnvelopeWriter {
 public:
  explicit EnvelopeWriter(const EnvelopeHead& head) {
    Byte(static_cast<uint8_t>(head.kind));
    Byte(kEnvelopeVersion);
    Life(head.sender);
    Number(head.sequence);
  }
  void Byte(uint8_t byte) { bytes_.push_back(static_cast<char>(byte)); }
  void Number(uint64_t number) {
    for (; number >= 128; number >>= 7) Byte(static_cast<uint8_t>(number | 128));
    Byte(static_cast<uint8_t>(number));
  }
  // Several at once, for what is written most.
  template <typename... Many>
  void Numbers(Many... numbers) {
    char bytes[kMostNumberBytes * sizeof...(numbers)];
    char* end = bytes;
    (..., (end = Put(end, numbers)));
    bytes_.append(bytes, static_cast<size_t>(end - bytes));
  }
  void Life(Origin origin) { Numbers(origin.node, origin.incarnation); }
  void Name(const Key& key) {
    for (const uint64_t word : {key.high, key.low}) {
      for (int shift = 0; shift < 64; shift += 8) Byte(static_cast<uint8_t>(word >> shift));
    }
  }
  size_t size() const { return bytes_.size(); }
  std::string_view bytes() const { return bytes_; }
  void Cut(size_t size) { bytes_.resize(size); }
  std::string Take() { return std::move(bytes_); }

 private:
  static constexpr size_t kMostNumberBytes = 10;
  static char* Put(char* to, uint64_t number) {
    for (; number >= 128; number >>= 7) *to++ = static_cast<char>(number | 128);
    *to++ = static_cast<char>(number);
    return to;
  }

  std::string bytes_;
};

// Once something is missing or wrong, every number is 0 and ok() is false.
class EnvelopeReader {
 public:
  explicit EnvelopeReader(std::string_view bytes) : left_(bytes) {
    head_.kind = static_cast<EnvelopeKind>(Byte());
    const uint8_t version = Byte();
    head_.sender = Life();
    head_.sequence = Number();
    if (version != kEnvelopeVersion) Fail();
  }
  const EnvelopeHead& head() const { return head_; }

  uint8_t Byte() {
    if (left_.empty() || !ok_) return Fail();
    const auto byte = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  uint64_t Number() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      if (!ok_) return 0;
      if (shift == 63 && byte > 1) break;
      number |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return number;
    }
    return Fail();
  }
  uint64_t NumberBelow(uint64_t end) {
    const uint64_t number = Number();
    return number < end ? number : Fail();
  }
  uint32_t Number32() { return static_cast<uint32_t>(NumberBelow(uint64_t{1} << 32)); }
  Origin Life() {
    const uint32_t node = Number32();
    return {node, Number32()};
  }
  Key Name() {
    Key key;
    for (uint64_t* word : {&key.high, &key.low}) {
      for (int shift = 0; shift < 64; shift += 8) *word |= uint64_t{Byte()} << shift;
    }
    return key;
  }
  size_t left() const { return left_.size(); }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && left_.empty(); }

 private:
  uint8_t Fail() {
    ok_ = false;
    left_ = {};
    return 0;
  }

  EnvelopeHead head_;
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace weir
