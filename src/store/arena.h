// Memory for the arrays of a key table: a range of addresses in which arrays of lines are laid one
// after the other and, when they are replaced by others, given back.
//
// The range is reserved once, far larger than the memory that may be used, and never unmapped: an
// address that was once an array's can always be read. Freed pages go back to the operating system
// and read as zeros, the others as they were left. Allocation goes round the range (next fit), so arrays that are replaced in
// turn leave whole huge pages behind and come to lie in whole huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace weir {

class Arena {
 public:
  // At most `bytes` in use at a time (the caller sees to that).
  explicit Arena(size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Memory that is all zeros, or what its last user left there; null if the range is too
  // fragmented. `bytes` is a multiple of 64, and the memory is aligned to that.
  void* Allocate(size_t bytes);
  void Free(void* memory, size_t bytes);

  size_t bytes_in_use() const;

 private:
  char* range_ = nullptr;
  size_t range_bytes_ = 0;

  mutable std::mutex mutex_;
  std::map<size_t, size_t> free_;  // offset -> length, coalesced; guarded by mutex_
  size_t next_ = 0;                // where to look first; guarded by mutex_
  size_t in_use_ = 0;              // guarded by mutex_
};

}  // namespace weir
