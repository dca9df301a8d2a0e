// What an allocation really takes (the allocator rounds it up and keeps a word beside it), and giving
// it back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace weir {

// Of `bytes` in one piece; none for nothing.
constexpr size_t ChunkBytes(size_t bytes) {
  return bytes == 0 ? 0 : std::max<size_t>(32, (bytes + 8 + 15) / 16 * 16);
}

// Beside the string itself.
inline size_t ChunkBytes(const std::string& text) {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : ChunkBytes(text.capacity() + 1);
}

// Gives back what it has allocated. Assigning an empty string does not: the memory is kept.
inline void Release(std::string& text) { std::string().swap(text); }

}  // namespace weir
