// The golden vectors: what other implementations are held to. Their fields are described in
// tests/golden/README.md.
//
// They come from the oracles alone, so that whoever is held to them is held to the specification.
// A vector is a limit and the requests of one key, which starts unused, with the answer to each.
// All numbers fit into a double, and so do those that a careful implementation in doubles needs (a
// script in Redis, for one): times are whole microseconds, and see golden_limits.h.
#pragma once

#include <ostream>

namespace weir::oracle {

// One JSON object a line, the same ones every time.
void PrintGoldenVectors(std::ostream& out);

}  // namespace weir::oracle
