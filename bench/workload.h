// What the benchmarks decide on: names of subjects, and the order in which they come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bench {

// `count` different names of 25 bytes, one after the other in one piece of memory.
class Names {
 public:
  static constexpr size_t kLength = 25;
  explicit Names(size_t count);
  std::string_view operator[](size_t i) const { return {bytes_.data() + i * kLength, kLength}; }
  size_t size() const { return bytes_.size() / kLength; }

 private:
  std::vector<char> bytes_;
};

enum class Popularity { kUniform, kZipf };  // Zipf with exponent 0.99
std::string_view NameOf(Popularity popularity);

// Which of `names` come, `length` in a row.
std::vector<uint32_t> Sequence(size_t names, Popularity popularity, size_t length, uint64_t seed);

}  // namespace weir::bench
