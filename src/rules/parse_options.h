// What the reader of rules is told about the server that they are for.
#pragma once

namespace weir {

struct ParseOptions {
  bool cluster = false;  // --cluster was given: replicated limits work
  bool divide = false;   // divided and leased limits work
  bool redis = false;    // --redis was given: shared and synced limits work
};

}  // namespace weir
