#include "lab/chaos/report.h"

#include <fmt/core.h>

#include <algorithm>

#include "lab/chaos/narrator.h"

namespace weir::chaos {
namespace {

double Hours(Duration d) { return std::chrono::duration<double, std::ratio<3600>>(d).count(); }

}  // namespace

void Totals::Add(const Outcome& outcome) {
  ++seeds;
  failed += outcome.violation.has_value();
  counts.requests += outcome.counts.requests;
  counts.admitted += outcome.counts.admitted;
  counts.refused += outcome.counts.refused;
  counts.envelopes += outcome.counts.envelopes;
  counts.events += outcome.counts.events;
  counts.simulated += outcome.counts.simulated;
  for (size_t i = 0; i < kActs; ++i) counts.faults[i] += outcome.counts.faults[i];
  margins.bound_share = std::max(margins.bound_share, outcome.margins.bound_share);
  margins.over_capacity = std::max(margins.over_capacity, outcome.margins.over_capacity);
  margins.longest_lag = std::max(margins.longest_lag, outcome.margins.longest_lag);
  margins.checked += outcome.margins.checked;
  margins.beyond_assumption += outcome.margins.beyond_assumption;
}

void PrintTable(std::span<const Totals> all, double seconds) {
  fmt::print("{:<8} {:>6} {:>6} {:>9} {:>10} {:>10} {:>10} {:>11} {:>9} {:>9} {:>9}\n", "kind",
             "seeds", "failed", "hours", "requests", "admitted", "refused", "envelopes", "of bound",
             "over cap.", "D");
  Duration simulated{};
  for (const Totals& one : all) {
    simulated += one.counts.simulated;
    fmt::print(
        "{:<8} {:>6} {:>6} {:>9.2f} {:>10} {:>10} {:>10} {:>11} {:>8.1f}% {:>9.2f} {:>7.1f} s\n",
        NameOf(one.kind), one.seeds, one.failed, Hours(one.counts.simulated), one.counts.requests,
        one.counts.admitted, one.counts.refused, one.counts.envelopes,
        100 * one.margins.bound_share, one.margins.over_capacity,
        std::chrono::duration<double>(one.margins.longest_lag).count());
  }
  fmt::print("\nfaults  ");
  for (size_t act = static_cast<size_t>(Act::kCut); act < kActs; ++act) {
    uint64_t sum = 0;
    for (const Totals& one : all) sum += one.counts.faults[act];
    fmt::print(" {} {}", NameOf(static_cast<Act>(act)), sum);
  }
  fmt::print("\n{:.2f} simulated hours in {:.1f} s: {:.3f} hours per second\n", Hours(simulated),
             seconds, Hours(simulated) / std::max(seconds, 1e-9));
}

void PrintJson(std::span<const Totals> all, double seconds) {
  for (const Totals& one : all) {
    std::string faults;
    for (size_t act = static_cast<size_t>(Act::kCut); act < kActs; ++act) {
      faults += fmt::format("{}\"{}\":{}", faults.empty() ? "" : ",", NameOf(static_cast<Act>(act)),
                            one.counts.faults[act]);
    }
    fmt::print(
        "{{\"experiment\":\"chaos\",\"variant\":\"{}\",\"seeds\":{},\"failed\":{},\"hours\":{:.4f},"
        "\"seconds\":{:.2f},\"requests\":{},\"admitted\":{},\"refused\":{},\"envelopes\":{},"
        "\"faults\":{{{}}},\"share_of_bound_max\":{:.6f},\"over_capacity_max\":{:.6f},"
        "\"longest_lag_s\":{:.3f},\"ok\":{}}}\n",
        NameOf(one.kind), one.seeds, one.failed, Hours(one.counts.simulated), seconds,
        one.counts.requests, one.counts.admitted, one.counts.refused, one.counts.envelopes, faults,
        one.margins.bound_share, one.margins.over_capacity,
        std::chrono::duration<double>(one.margins.longest_lag).count(), one.failed == 0);
  }
}

void PrintFailure(const Scenario& failed, const Violation& violation, const Scenario& shrunk,
                  const Subject& subject, const std::string& command, size_t most_lines) {
  fmt::print("\nseed {} of {} fails after {}: {}: {}\nto repeat it: {}\n\n", failed.seed,
             NameOf(failed.kind), Shown(violation.at), violation.invariant, violation.what,
             command);
  std::vector<std::string> lines;
  const Outcome again = RunOnce(shrunk, subject, MakeNarrator(lines));
  fmt::print("shrunk from {} actions to {}:\n{}", failed.actions.size(), shrunk.actions.size(),
             Described(shrunk));
  const size_t skipped = lines.size() > most_lines ? lines.size() - most_lines : 0;
  if (skipped > 0) fmt::print("  ... {} lines\n", skipped);
  for (size_t i = skipped; i < lines.size(); ++i) fmt::print("{}\n", lines[i]);
  if (again.violation) {
    fmt::print("{}: {}\n", again.violation->invariant, again.violation->what);
  }
}

}  // namespace weir::chaos
