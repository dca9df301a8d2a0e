#include "lab/replicated/variants.h"

#include "replication/debt_replica.h"

namespace weir::lab {

std::vector<Variant> VariantsFor(const SpotifyExperiment&, uint32_t, uint64_t) {
  return {{"debt", [](Origin self, Instant start) {
             return std::make_unique<DebtReplica>(self, DebtOptions{}, start);
           }}};
}

}  // namespace weir::lab
