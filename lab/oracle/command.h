// weir-lab oracle [--algorithm NAME] [--decisions N] [--seed N] [--threads N]
//   Holds the algorithms against the oracle (run.h), N decisions each, and prints a table. Exits
//   with 1 on a mismatch, which it prints, and with 2 if it does not understand its arguments.
// weir-lab oracle --golden
//   Prints the golden vectors of tests/golden/vectors.jsonl (golden.h).
#pragma once

#include <span>
#include <string>

namespace weir::oracle {

// `args` are those after "oracle".
int OracleCommand(std::span<const std::string> args);

}  // namespace weir::oracle
