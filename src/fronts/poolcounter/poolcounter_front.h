// PoolCounter's lines, as MediaWiki speaks them: pools that the request itself describes.
//
//   ACQ4ME key workers maxqueue timeout     LOCKED, QUEUE_FULL, TIMEOUT, LOCK_HELD
//   ACQ4ANY key workers maxqueue timeout    the same; DONE, if somebody else did it meanwhile
//   RELEASE                                 RELEASED, NOT_LOCKED
//
// A connection holds one lock at a time, and loses it when it closes. As in the original, `maxqueue`
// counts those who work and those who wait, the timeout is in seconds, and what is not understood
// is answered ERROR BAD_COMMAND or ERROR BAD_SYNTAX.
#pragma once

#include "fronts/protocol.h"
#include "weir/limiter.h"

namespace weir {

class PoolCounterFront : public Front {
 public:
  // `limiter` outlives the front, and the front its protocols.
  explicit PoolCounterFront(Limiter& limiter) : limiter_(limiter) {}

  std::string_view name() const override { return "poolcounter"; }
  std::string_view alpn() const override { return ""; }
  std::unique_ptr<Protocol> Accept(Link& link) override;

 private:
  Limiter& limiter_;
};

}  // namespace weir
