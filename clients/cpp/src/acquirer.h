// The same number of copies of several resources, or of none (3.3 of the paper on Charon).
//
// The first resource is asked for `max` copies, each further one for as many as its forerunners gave;
// what they have too many of is given back on the way. All share one budget of waiting.
#pragma once

#include <vector>

#include "clients/cpp/src/core.h"
#include "weir/client/acquire.h"

namespace weir::client {

class Acquirer {
 public:
  Acquirer(Core& core, const AcquireOptions& options);
  Acquired Acquire(const std::vector<Wanted>& wanted);

 private:
  // How many were granted; 0: refused.
  uint64_t Ask(const Copies& wanted);
  uint64_t Ask(const Rate& wanted);
  Duration Left() const;
  void GiveBackSurplus();

  Core& core_;
  const AcquireOptions options_;
  const Duration start_;
  Acquired acquired_;
};

}  // namespace weir::client
