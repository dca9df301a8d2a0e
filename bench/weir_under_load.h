// Weir on one core with one thread and limits that are never reached; the load has the other core.
#pragma once

#include <string>

#include "lab/live/free_port.h"
#include "lab/live/program.h"

namespace weir::bench {

inline constexpr int kServerCore = 0, kLoadCore = 1;

class WeirUnderLoad {
 public:
  // `programs`: the directory of weir; `directory`, which outlives this, is for its files. Waits
  // until it listens. Asked for: the resource `api` and the descriptor `user` of the namespace
  // `bench`.
  WeirUnderLoad(const std::string& programs, const lab::ScratchDirectory& directory);

  const int http = lab::FreePort(), grpc = lab::FreePort(), resp = lab::FreePort();
  const lab::Program program;
};

}  // namespace weir::bench
