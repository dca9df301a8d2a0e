// An envelope written anew, with some of what it says changed: how a planted bug lies.
#pragma once

#include <functional>
#include <string>

#include "mail/envelope.h"
#include "weir/instant.h"

namespace weir::chaos {

struct ToldRow {
  Origin origin;
  uint64_t segment = 0;
  uint64_t age = 0;  // as it is written: nanoseconds of a queue, 100 us of a debt
  uint64_t charged = 0;
  uint64_t refunded = 0;
  int64_t window = 0;
  Duration keep{};  // of a window
};

struct Lies {
  std::function<void(EnvelopeHead&)> head;
  std::function<void(uint64_t& up_to)> acknowledged;  // of a debt: how much of the list has come
  std::function<void(const Key&, ToldRow&)> row;
};

// Of any kind; what cannot be read stays as it is. Without lies it is the same, byte for byte.
std::string Transcribed(const std::string& bytes, const Lies& lies);

}  // namespace weir::chaos
