#include "bench/persist/persist.h"

#include <spdlog/sinks/null_sink.h>
#include <time.h>

#include <algorithm>
#include <stdexcept>

#include "base/random.h"
#include "bench/workload.h"
#include "lab/live/program.h"
#include "server/data/state_keeper.h"
#include "server/problems.h"

namespace weir::bench {

using lab::ScratchDirectory;

namespace {

constexpr char kRules[] = R"(
namespaces:
  bench:
    resources:
      fleeting: {limits: [{name: month, algorithm: fixed_window, limit: 1000000000, per: 30d}]}
      kept: {limits: [{name: month, algorithm: fixed_window, limit: 1000000000, per: 30d, persist: true}]}
)";

uint64_t Nanos(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

PersistRow Measure(const std::string& what, std::string_view resource, bool writes,
                   const PersistOptions& options) {
  std::string errors;
  const ScratchDirectory directory;
  Result<std::unique_ptr<StateFile>> file = StateFile::Open(directory.Path("state.db"));
  if (!file) throw std::runtime_error(file.error().message);
  SystemClock clock;
  Limiter limiter(ParseRules(kRules, &errors), {.secret = (*file)->secret()}, clock.Now());
  Problems problems(clock, std::make_shared<spdlog::logger>(
                               "bench", std::make_shared<spdlog::sinks::null_sink_mt>()));
  StateKeeper keeper(std::move(*file), std::chrono::milliseconds(100), limiter, clock, problems);
  Names names(options.keys);
  Random random(1);
  Decision decision;
  const auto decide = [&](size_t times) {
    for (size_t i = 0; i < times; ++i) {
      limiter.Decide({"bench", resource, names[random.Below(options.keys)]}, clock.Now(), decision);
    }
  };
  decide(options.keys);
  if (writes) keeper.Start();
  const uint64_t wall = Nanos(CLOCK_MONOTONIC), thread = Nanos(CLOCK_THREAD_CPUTIME_ID),
                 process = Nanos(CLOCK_PROCESS_CPUTIME_ID);
  decide(options.operations);
  const auto own = static_cast<double>(Nanos(CLOCK_THREAD_CPUTIME_ID) - thread);
  // What was not written yet belongs to the price; in a short run it is all of it.
  keeper.Stop();
  const auto count = static_cast<double>(options.operations);
  const auto all = static_cast<double>(Nanos(CLOCK_PROCESS_CPUTIME_ID) - process);
  const double seconds = static_cast<double>(Nanos(CLOCK_MONOTONIC) - wall) * 1e-9;
  // The two clocks are not read at once: without a writer their difference may be below 0.
  return {what, own / count, std::max(0.0, all - own) / count,
          static_cast<double>(keeper.counters().saved.load()) / seconds};
}

}  // namespace

std::vector<PersistRow> MeasurePersist(const PersistOptions& options,
                                       const std::function<void(const std::string&)>& progress) {
  std::vector<PersistRow> rows;
  struct Kind {
    std::string what;
    std::string_view resource;
    bool writes;
  };
  for (const Kind& kind : {Kind{"without persist", "fleeting", false},
                           Kind{"without persist, the writer runs", "fleeting", true},
                           Kind{"with persist, nothing is written", "kept", false},
                           Kind{"with persist, written every 100 ms", "kept", true}}) {
    PersistRow best;
    for (int run = 0; run < options.runs; ++run) {
      progress(kind.what);
      const PersistRow row = Measure(kind.what, kind.resource, kind.writes, options);
      if (run == 0 || row.decision_nanos < best.decision_nanos) best = row;
    }
    rows.push_back(best);
  }
  return rows;
}

}  // namespace weir::bench
