// Makes what a node of a cluster carries: somebody who speaks for the replicated limits of this server.
#pragma once

#include <functional>
#include <memory>

#include "replication/correspondent.h"

namespace weir {

struct CorrespondentSetup {
  Origin self;
  // To be called, from any thread, when NextTick has become earlier than it was.
  std::function<void()> wake;
};

// Safe to use from several threads.
std::unique_ptr<Correspondent> MakeCorrespondent(const CorrespondentSetup& setup, Instant now);

}  // namespace weir
