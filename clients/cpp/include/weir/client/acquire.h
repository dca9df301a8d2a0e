// The same number of copies of several resources, or of none.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "weir/client/hold.h"

namespace weir::client {

// A resource that is held.
struct Copies {
  std::string namespace_name, resource, subject;
};

// A resource that is used up. It cannot be given back: hence at most one is wanted, as the last.
struct Rate {
  std::string namespace_name, resource, subject;
};

using Wanted = std::variant<Copies, Rate>;

struct AcquireOptions {
  uint64_t min = 1, max = 1;
  Duration max_wait{};  // for all of them together
};

// Leaving scope releases what is held.
struct Acquired {
  uint64_t copies = 0;  // of each; 0: refused, and nothing is held
  Duration waited{};
  std::vector<Hold> holds;
  std::optional<Decision> decision;  // of the Rate
  std::string refused_by;            // the resource that refused, if one did

  bool allowed() const { return copies > 0; }
  bool lost() const;
  void Release() { holds.clear(); }
  const Acquired& ThrowIfRefused() const;
};

}  // namespace weir::client
