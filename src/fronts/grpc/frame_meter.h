// Walks over the frames that arrive, beside the library that reads them: tells whether the last one
// is whole, and counts those that cost us something and bring nothing.
//
// A frame is nine bytes (length 24 bits, type 8, flags 8, stream 32) and then its payload; before
// the first come the 24 bytes of the client's preface.
//
// The budget: every such frame takes a point, every answered call gives some back, and so does
// time. A peer that makes calls may thus ping, update windows and cancel in proportion; one that
// sends nothing else runs dry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/instant.h"

namespace weir {

class FrameMeter {
 public:
  static constexpr int64_t kMostPoints = 2000;
  static constexpr int64_t kPointsPerSecond = 200;
  static constexpr int64_t kPointsPerCall = 8;

  // False: the peer has used up its points, and `in` should not be looked at.
  bool Walk(std::string_view in, Instant now);
  void CallAnswered() { points_ = std::min(points_ + kPointsPerCall, kMostPoints); }
  // Not within a frame, nor within the preface.
  bool whole() const { return left_ == 0 && head_size_ == 0; }
  // How long the peer has been at the frame that it is within; 0 if it is within none.
  Duration Unfinished(Instant now);

 private:
  static constexpr uint32_t kPrefaceBytes = 24;
  static constexpr uint32_t kHeadBytes = 9;

  void Refill(Instant now);
  void Count(const unsigned char* head);

  uint32_t left_ = kPrefaceBytes;  // of the payload, or of the preface
  uint32_t head_size_ = 0;         // of the next frame's head, if a part of it has come
  unsigned char head_[kHeadBytes] = {};
  int64_t points_ = kMostPoints;
  Instant refilled_{};            // the points' time
  std::optional<Instant> began_;  // the last frame, or the preface; none: we were not told the time
};

}  // namespace weir
