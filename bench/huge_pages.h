// Huge pages for everything that is compared: for the arrays of hash maps by an allocator, for what
// malloc gives out by a setting of glibc.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace weir::bench {

// Makes malloc ask for huge pages, by starting the program anew with the setting that does so.
void UseHugePagesInMalloc(char** argv);

template <typename T>
struct HugePageAllocator {
  using value_type = T;
  HugePageAllocator() = default;
  template <typename U>
  HugePageAllocator(const HugePageAllocator<U>&) {}  // NOLINT: allocators convert

  T* allocate(size_t n) {
    constexpr size_t kHugePage = size_t{2} << 20;
    const size_t bytes = (n * sizeof(T) + kHugePage - 1) / kHugePage * kHugePage;
    void* memory = std::aligned_alloc(kHugePage, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }
  bool operator==(const HugePageAllocator&) const { return true; }
};

}  // namespace weir::bench
