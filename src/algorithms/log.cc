#include "algorithms/log.h"

#include <bit>
#include <utility>

namespace weir {
namespace {

constexpr uint32_t kSmallest = 4;  // entries
constexpr uint32_t kLarge = 1024;  // a ring of more may be halved

}  // namespace

Log::Log(const Log& other) : before_(other.before_) {
  if (other.size_ == 0) return;
  Resize(std::max(kSmallest, std::bit_ceil(other.size_)));
  for (uint32_t i = 0; i < other.size_; ++i) At(i) = other.At(i);
  size_ = other.size_;
}

Log::Log(Log&& other) noexcept
    : ring_(std::move(other.ring_)),
      capacity_(std::exchange(other.capacity_, 0)),
      head_(std::exchange(other.head_, 0)),
      size_(std::exchange(other.size_, 0)),
      before_(std::exchange(other.before_, 0)) {}

Log& Log::operator=(Log other) noexcept {
  ring_.swap(other.ring_);
  capacity_ = other.capacity_;
  head_ = other.head_;
  size_ = other.size_;
  before_ = other.before_;
  return *this;
}

Instant Log::Add(Instant at, uint64_t n) {
  if (size_ != 0) at = std::max(at, newest());
  n = std::min(n, UINT64_MAX - count());
  if (n == 0) return at;
  if (size_ != 0 && newest() == at) {
    At(size_ - 1).total += n;
    return at;
  }
  if (size_ == capacity_) Resize(std::max(kSmallest, capacity_ * 2));
  At(size_) = {at, TotalBefore(size_) + n};
  ++size_;
  return at;
}

void Log::DropBefore(Instant from) {
  const uint32_t first = FirstFrom(from);
  if (first == 0) return;
  DropFirst(first);
  if (capacity_ > kLarge && size_ < capacity_ / 8) Resize(capacity_ / 2);
}

uint64_t Log::Remove(Instant at, uint64_t n) {
  const uint32_t i = FirstFrom(at);
  if (i == size_ || At(i).at != at) return 0;
  const uint64_t here = At(i).total - TotalBefore(i);
  const uint64_t back = std::min(n, here);
  // Lower the totals from here on, or raise those before: whichever are fewer.
  if (size_ - i <= i) {
    for (uint32_t j = i; j < size_; ++j) At(j).total -= back;
  } else {
    before_ += back;
    for (uint32_t j = 0; j < i; ++j) At(j).total += back;
  }
  if (back == here) Erase(i);
  return back;
}

void Log::KeepNewest(uint64_t most) {
  if (count() <= most) return;
  const uint64_t excess = count() - most;
  const uint64_t before = before_ + excess;
  DropFirst(FirstNot([&](const Entry& entry) { return entry.total - before_ <= excess; }));
  before_ = before;
}

uint64_t Log::CountFrom(Instant from) const {
  return TotalBefore(size_) - TotalBefore(FirstFrom(from));
}

Instant Log::NthFrom(Instant from, uint64_t n) const {
  const uint64_t passed = TotalBefore(FirstFrom(from)) - before_ + n;
  return At(FirstNot([&](const Entry& entry) { return entry.total - before_ < passed; })).at;
}

size_t Log::bytes() const { return capacity_ * sizeof(Entry); }

bool Log::operator==(const Log& other) const {
  if (size_ != other.size_) return false;
  for (uint32_t i = 0; i < size_; ++i) {
    if (At(i).at != other.At(i).at) return false;
    if (At(i).total - before_ != other.At(i).total - other.before_) return false;
  }
  return true;
}

template <typename Early>
uint32_t Log::FirstNot(Early early) const {
  if (size_ == 0 || !early(At(0))) return 0;
  uint32_t low = 0, step = 1;  // early at low
  while (step < size_ - low && early(At(low + step))) {
    low += step;
    step *= 2;
  }
  uint32_t high = low + std::min(step, size_ - low);  // not early at high, or the end
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (early(At(middle)) ? low : high) = middle;
  }
  return high;
}

uint32_t Log::FirstFrom(Instant from) const {
  return FirstNot([from](const Entry& entry) { return entry.at < from; });
}

void Log::DropFirst(uint32_t n) {
  if (n == 0) return;
  before_ = At(n - 1).total;
  head_ = (head_ + n) & (capacity_ - 1);
  size_ -= n;
}

// Its hits are gone from the totals already.
void Log::Erase(uint32_t i) {
  if (size_ - i <= i) {
    for (uint32_t j = i + 1; j < size_; ++j) At(j - 1) = At(j);
  } else {
    for (uint32_t j = i; j > 0; --j) At(j) = At(j - 1);
    head_ = (head_ + 1) & (capacity_ - 1);
  }
  --size_;
}

void Log::Resize(uint32_t capacity) {
  auto ring = std::make_unique_for_overwrite<Entry[]>(capacity);
  for (uint32_t i = 0; i < size_; ++i) ring[i] = At(i);
  ring_ = std::move(ring);
  capacity_ = capacity;
  head_ = 0;
}

}  // namespace weir
