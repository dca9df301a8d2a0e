// Somebody who writes envelopes to the same at other nodes, and reads theirs. What carries them may
// lose, repeat, delay and reorder them; time and everything else come as arguments.
#pragma once

#include <string_view>
#include <vector>

#include "mail/envelope.h"
#include "mail/slice.h"
#include "weir/instant.h"

namespace weir {

class Correspondent {
 public:
  virtual ~Correspondent() = default;

  // The other nodes, by number; those that were there and are not any more are forgotten.
  virtual void SetPeers(std::vector<uint32_t> peers) = 0;

  virtual std::vector<Envelope> Tick(Instant now) = 0;
  // When Tick has to be called next; it may be at once.
  virtual Instant NextTick() const = 0;
  // Bytes of anybody: what is broken changes nothing, and false is answered in `good`.
  virtual std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) = 0;
  // This node leaves: what it has not told yet.
  virtual std::vector<Envelope> Farewell(Instant now) { return Tick(now); }
  // All that is known, for a node that knows nothing yet: the next slice, of this size at most. Receive
  // takes it in.
  virtual Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) = 0;
};

}  // namespace weir
