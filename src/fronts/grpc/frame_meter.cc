#include "fronts/grpc/frame_meter.h"

#include <cstring>

namespace weir {
namespace {

constexpr unsigned char kData = 0, kHeaders = 1, kContinuation = 9;
constexpr unsigned char kEndStream = 1;

uint32_t LengthOf(const unsigned char* head) {
  return uint32_t{head[0]} << 16 | uint32_t{head[1]} << 8 | head[2];
}

}  // namespace

void FrameMeter::Refill(Instant now) {
  constexpr Duration kPerPoint = Duration(std::chrono::seconds(1)) / kPointsPerSecond;
  if (now - refilled_ >= kPerPoint * kMostPoints) {
    points_ = kMostPoints;
    refilled_ = now;
  } else if (now > refilled_) {
    const int64_t earned = (now - refilled_) / kPerPoint;
    points_ = std::min(points_ + earned, kMostPoints);
    refilled_ += earned * kPerPoint;
  }
}

void FrameMeter::Count(const unsigned char* head) {
  const unsigned char type = head[3];
  const bool brings_something =
      type == kHeaders || type == kContinuation ||
      (type == kData && (LengthOf(head) > 0 || (head[4] & kEndStream) != 0));
  if (!brings_something) points_ -= 1;
}

Duration FrameMeter::Unfinished(Instant now) {
  if (!began_) began_ = now;
  return whole() ? Duration::zero() : now - *began_;
}

bool FrameMeter::Walk(std::string_view in, Instant now) {
  Refill(now);
  if (!began_) began_ = now;
  while (!in.empty()) {
    if (left_ > 0) {
      const size_t taken = std::min<size_t>(left_, in.size());
      left_ -= static_cast<uint32_t>(taken);
      in.remove_prefix(taken);
      continue;
    }
    if (head_size_ == 0) began_ = now;
    const size_t taken = std::min<size_t>(kHeadBytes - head_size_, in.size());
    std::memcpy(head_ + head_size_, in.data(), taken);
    head_size_ += static_cast<uint32_t>(taken);
    in.remove_prefix(taken);
    if (head_size_ < kHeadBytes) break;
    head_size_ = 0;
    left_ = LengthOf(head_);
    Count(head_);
  }
  return points_ > 0;
}

}  // namespace weir
