#include "lab/replicated/report/plan.h"

#include <fmt/core.h>

#include <algorithm>

#include "lab/replicated/alone_replica.h"
#include "lab/replicated/report/table.h"
#include "lab/replicated/variants.h"

namespace weir::lab {
namespace {

std::vector<Variant> Candidates(const ReplicatedBucket& limit, const Settings& settings,
                                uint64_t seed) {
  const auto alone = [](uint32_t share) {
    return [share](Origin, Instant) { return std::make_unique<AloneReplica>(share); };
  };
  std::vector<Variant> all = {{"local", alone(1)}, {"divided", alone(settings.nodes)}};
  SpotifyExperiment mine;
  mine.limit = limit;
  Settings some = settings;
  some.variants = {"counter", "queue", "queue+frequency", "debt"};
  for (Variant& variant : VariantsFor(mine, some, seed)) all.push_back(std::move(variant));
  return all;
}

PlanRow RowOf(const std::string& name, const Measured& measured, uint32_t nodes) {
  const double seconds = std::chrono::duration<double>(measured.step).count() *
                         static_cast<double>(std::max<size_t>(1, measured.steps.size()));
  return {name,
          measured.precision(),
          static_cast<double>(measured.over_admission_max),
          static_cast<double>(measured.wrongful_lasting),
          static_cast<double>(measured.bytes_sent) / seconds / nodes,
          static_cast<double>(measured.memory_peak_bytes)};
}

struct Allowed {
  double over, wrongful;
};

// The worse of its two errors, in parts of what is allowed.
double ErrorOf(const PlanRow& row, const Allowed& allowed) {
  return std::max(row.over_admission_max / allowed.over, row.wrongful_refusals / allowed.wrongful);
}

bool Cheaper(const PlanRow& a, const PlanRow& b) {
  return std::tie(a.bytes_per_second_per_node, a.memory_per_node) <
         std::tie(b.bytes_per_second_per_node, b.memory_per_node);
}

std::string Errors(const PlanRow& row) {
  return fmt::format("at most {} over the limit and {} wrongful refusals",
                     Readable(row.over_admission_max, "tokens"),
                     Readable(row.wrongful_refusals, "requests"));
}

}  // namespace

void Recommend(uint64_t burst, Plan& plan) {
  const Allowed allowed{std::max(1.0, 0.01 * static_cast<double>(burst)),
                        std::max(1.0, 0.001 * static_cast<double>(plan.requests))};
  const PlanRow* best = nullptr;
  const auto exact = [&](const PlanRow& row) { return ErrorOf(row, allowed) <= 1; };
  for (const PlanRow& row : plan.rows) {
    if (row.name == "central") continue;
    const bool better = best == nullptr              ? true
                        : exact(row) != exact(*best) ? exact(row)
                        : exact(row)                 ? Cheaper(row, *best)
                                     : ErrorOf(row, allowed) < ErrorOf(*best, allowed);
    if (better) best = &row;
  }
  if (best == nullptr) return;
  plan.recommended = best->name;
  const std::string cost =
      fmt::format("{} B/s and {} of memory a node", Readable(best->bytes_per_second_per_node, ""),
                  Readable(best->memory_per_node, "bytes"));
  if (!exact(*best)) {
    plan.reason = fmt::format("none is within 1 % of the burst, but {} errs least: {}, for {}.",
                              best->name, Errors(*best), cost);
  } else if (plan.refused_centrally == 0 && best->name == "local") {
    plan.reason =
        "nobody comes to the limit in this traffic, so nodes need not tell each other anything; if "
        "it may grow, look at the others.";
  } else {
    plan.reason = fmt::format("of those within 1 % of the burst it is the cheapest: {}, for {}.",
                              Errors(*best), cost);
  }
}

Plan MakePlan(const std::vector<SimulatedRequest>& requests, const ReplicatedBucket& limit,
              const Settings& settings, uint64_t seed) {
  const SimulationOptions options{.nodes = settings.nodes,
                                  .limit = limit,
                                  .network = settings.network,
                                  .seed = seed,
                                  .quiet = settings.quiet};
  Plan plan;
  for (const Variant& variant : Candidates(limit, settings, seed)) {
    const Measured measured = Simulate(requests, variant.make, options);
    plan.requests = measured.requests;
    plan.refused_centrally = measured.refused_centrally;
    plan.rows.push_back(RowOf(variant.name, measured, settings.nodes));
  }
  plan.rows.insert(plan.rows.begin(), {"central", 100, 0, 0, 0, 0});
  Recommend(limit.capacity, plan);
  return plan;
}

}  // namespace weir::lab
