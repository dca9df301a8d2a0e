// Numbers as bytes: little-endian, eight bytes each.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weir {

class ByteWriter {
 public:
  void Put(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void Put(int64_t value) { Put(static_cast<uint64_t>(value)); }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Once something is missing, every number is 0 and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t Get() {
    uint64_t value = 0;
    if (bytes_.size() < sizeof value) {
      ok_ = false;
      return 0;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  int64_t GetSigned() { return static_cast<int64_t>(Get()); }
  // How many numbers are left, so that a count can be checked before memory is taken for it.
  size_t left() const { return bytes_.size() / sizeof(uint64_t); }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace weir
