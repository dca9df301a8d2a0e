// Runs the implementation against the oracle.
//
// A run is one limit, one key and a hundred events or so, all of it drawn from the run's seed. The
// runs of a report have seeds that follow one another, so that one that failed is repeated alone by
//
//     weir-lab oracle --algorithm token_bucket --seed 4711 --decisions 1
//
// The first event that is answered differently ends its run. The history that led to it is then
// shortened, dropping events while the answers still differ somewhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lab/oracle/implementation.h"

namespace weir::oracle {

struct OracleReport {
  uint64_t decisions = 0;  // all events: requests, settlements and restarts
  uint64_t admitted = 0;
  uint64_t refused = 0;
  uint64_t settled = 0;
  uint64_t restarts = 0;
  uint64_t mismatches = 0;     // runs that ended in one
  std::string first_mismatch;  // how to repeat it, the limit, the shortest history, both answers

  void Add(const OracleReport& other);
};

// Called now and then with the decisions made since the last call.
using Progress = std::function<void(uint64_t decisions)>;
using ModelMaker = std::function<std::unique_ptr<Model>(const Limit&)>;

// At least `decisions` of `algorithm` ("all": of each), unless kMostMismatches come first. `tested`
// is what is held against the oracle.
inline constexpr uint64_t kMostMismatches = 10;
OracleReport RunOracle(std::string_view algorithm, uint64_t decisions, uint64_t seed,
                       const Progress& progress = {},
                       const ModelMaker& tested = MakeImplementation);

}  // namespace weir::oracle
