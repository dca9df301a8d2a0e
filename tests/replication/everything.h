// All that a replica knows, at once.
#pragma once

#include <vector>

#include "mail/correspondent.h"

namespace weir {

inline std::vector<Envelope> Everything(Correspondent& replica, uint32_t to, Instant now) {
  std::vector<Envelope> all;
  CopyCursor cursor;
  for (bool last = false; !last;) {
    Slice slice = replica.Everything(to, cursor, {}, now);
    last = slice.last;
    for (Envelope& envelope : slice.envelopes) all.push_back(std::move(envelope));
  }
  return all;
}

}  // namespace weir
