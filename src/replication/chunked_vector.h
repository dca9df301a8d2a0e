// A vector that never moves what is in it: it lies in chunks, so that to add one is never to copy all.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace weir {

template <typename T>
class ChunkedVector {
 public:
  static constexpr size_t kChunk = 512;

  size_t size() const { return size_; }
  T& operator[](size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }

  // The first chunk grows as it fills, for most vectors are small.
  template <typename... Arguments>
  void emplace_back(Arguments&&... arguments) {
    const size_t chunk = size_ / kChunk;
    if (chunk == chunks_.size()) {
      chunks_.emplace_back();
      if (chunk > 0) chunks_.back().reserve(kChunk);
    }
    chunks_[chunk].emplace_back(std::forward<Arguments>(arguments)...);
    size_ += 1;
  }
  // A chunk is given back when the one before it is half empty, not sooner: the next may need it.
  void pop_back() {
    size_ -= 1;
    const size_t chunk = size_ / kChunk;
    chunks_[chunk].pop_back();
    if (size_ % kChunk < kChunk / 2 && chunk + 1 < chunks_.size()) chunks_.pop_back();
    if (chunk == 0 && 8 * size_ < chunks_[0].capacity()) chunks_[0].shrink_to_fit();
  }

  // Without what the values own elsewhere.
  size_t bytes() const {
    size_t sum = chunks_.capacity() * sizeof(std::vector<T>);
    for (const std::vector<T>& chunk : chunks_) sum += chunk.capacity() * sizeof(T);
    return sum;
  }

 private:
  std::vector<std::vector<T>> chunks_;
  size_t size_ = 0;
};

}  // namespace weir
