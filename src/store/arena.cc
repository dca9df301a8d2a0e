#include "store/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace weir {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;
constexpr size_t kSpare = 8;  // addresses for each byte that may be used

size_t RoundUp(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

Arena::Arena(size_t bytes) {
  bytes = RoundUp(std::max(bytes, kHugePage), kHugePage);
  void* memory = MAP_FAILED;
  // As many addresses as the machine gives: fewer make it more likely that no hole fits.
  for (size_t spare = kSpare; memory == MAP_FAILED && spare > 1; spare /= 2) {
    range_bytes_ = bytes * spare;
    memory = mmap(nullptr, range_bytes_ + kHugePage, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "weir: cannot reserve %zu MiB of addresses for the key table\n",
                 range_bytes_ >> 20);
    std::abort();
  }
  // Huge pages only where they lie inside one range: align, and give back the rest.
  char* start = static_cast<char*>(memory);
  const size_t skip =
      RoundUp(reinterpret_cast<size_t>(start), kHugePage) - reinterpret_cast<size_t>(start);
  if (skip > 0) munmap(start, skip);
  range_ = start + skip;
  munmap(range_ + range_bytes_, kHugePage - skip);
  free_[0] = range_bytes_;
}

Arena::~Arena() { munmap(range_, range_bytes_); }

void* Arena::Allocate(size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const auto& hole) { return hole.second >= bytes; };
  auto hole = std::find_if(free_.lower_bound(next_), free_.end(), fits);
  if (hole == free_.end()) hole = std::find_if(free_.begin(), free_.end(), fits);
  if (hole == free_.end()) return nullptr;
  const auto [offset, length] = *hole;
  free_.erase(hole);
  if (length > bytes) free_[offset + bytes] = length - bytes;
  next_ = offset + bytes;
  // Once the table is large: huge pages, as the table grows into them.
  const size_t huge_end = RoundUp(next_, kHugePage);
  if (in_use_ + bytes > 4 * kHugePage) {
    const size_t huge_start = offset / kHugePage * kHugePage;
    madvise(range_ + huge_start, std::min(huge_end, range_bytes_) - huge_start, MADV_HUGEPAGE);
  }
  in_use_ += bytes;
  return range_ + offset;
}

void Arena::Free(void* memory, size_t bytes) {
  const std::lock_guard lock(mutex_);
  in_use_ -= bytes;
  size_t offset = static_cast<size_t>(static_cast<char*>(memory) - range_);
  auto after = free_.lower_bound(offset);
  size_t end = offset + bytes;
  if (after != free_.end() && after->first == end) {
    end += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      free_.erase(before);
    }
  }
  free_[offset] = end - offset;
  // Give back the whole pages that this array lay in and nobody else does.
  const size_t at = static_cast<size_t>(static_cast<char*>(memory) - range_);
  const size_t first = std::max(RoundUp(offset, kPage), at / kPage * kPage);
  const size_t last = std::min(end / kPage * kPage, RoundUp(at + bytes, kPage));
  if (first < last) madvise(range_ + first, last - first, MADV_DONTNEED);
}

size_t Arena::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

}  // namespace weir
