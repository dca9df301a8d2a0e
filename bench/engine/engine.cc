#include "bench/engine/engine.h"

#include <algorithm>
#include <thread>

#include "base/keyed_hash.h"
#include "bench/engine/rivals.h"
#include "bench/engine/rules.h"
#include "bench/workload.h"
#include "cluster/replicated_limits.h"
#include "rules/read/parse.h"
#include "weir/clock.h"
#include "weir/limiter.h"

namespace weir::bench {
namespace {

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
constexpr int64_t kNanosPerOperation = 100;
constexpr Gcra kGcra{60'000'000, 60'000'000'000};  // 1000 a minute, burst 1000
constexpr size_t kBatch = 16;
constexpr size_t kTellEvery = 4096;

Instant At(size_t i) { return kStart + Duration(static_cast<int64_t>(i) * kNanosPerOperation); }
int64_t NanosAt(size_t i) { return ToNanos(At(i)); }

// One set of names in one order, and everything that is measured on it.
class Suite {
 public:
  Suite(const EngineOptions& options, const Names& names, Popularity popularity,
        const Progress& progress, std::vector<Row>& rows)
      : options_(options),
        names_(names),
        popularity_(popularity),
        progress_(progress),
        rows_(rows),
        sequence_(Sequence(names.size(), popularity, options.operations, 42)) {}

  void Run() {
    MeasureStringMap();
    MeasureKeyMap();
    MeasureLockedShards();
    MeasureCasTable();
    for (const char* resource :
         {"token_bucket", "fixed_window", "sliding_window", "sliding_log", "burst_tiers"}) {
      MeasureDecide("bench", resource);
    }
    MeasureDecide("contract", "api");
    MeasureReplicated();
  }

 private:
  std::string_view Name(size_t i) const { return names_[sequence_[i]]; }

  void Add(const std::string& what, int threads, double nanos, double bytes_per_key = 0) {
    rows_.push_back(
        {what, names_.size(), std::string(NameOf(popularity_)), threads, nanos, bytes_per_key});
  }
  void Say(const std::string& what) const {
    progress_(what + ", " + std::to_string(names_.size()) + " keys, " +
              std::string(NameOf(popularity_)));
  }
  double BytesPerKey(size_t before) const {
    return static_cast<double>(ResidentBytes() - before) / static_cast<double>(names_.size());
  }

  void MeasureStringMap() {
    Say("map of strings");
    const size_t before = ResidentBytes();
    StringMap map;
    for (size_t i = 0; i < names_.size(); ++i) map.emplace(std::string(names_[i]), 0);
    const double bytes = BytesPerKey(before);
    const size_t n = options_.operations;
    Add("map of strings: find", 1,
        CpuNanos(n, options_.runs,
                 [&] {
                   for (size_t i = 0; i < n; ++i) Keep(map.find(Name(i))->second);
                 }),
        bytes);
    Add("map of strings: find and update a bucket", 1,
        CpuNanos(n, options_.runs,
                 [&] {
                   for (size_t i = 0; i < n; ++i) {
                     int64_t& full_at = map.find(Name(i))->second;
                     full_at = kGcra.Next(full_at, NanosAt(i));
                   }
                 }),
        bytes);
  }

  void MeasureKeyMap() {
    Say("map of 64-bit keys");
    const KeyedHash hash({1, 2});
    const size_t before = ResidentBytes();
    KeyMap map;
    for (size_t i = 0; i < names_.size(); ++i) map.emplace(hash(names_[i]).low, 0);
    const double bytes = BytesPerKey(before);
    std::vector<uint64_t> keys(options_.operations);
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = hash(Name(i)).low;
    const size_t n = options_.operations;
    Add("map of 64-bit keys: find", 1,
        CpuNanos(n, options_.runs,
                 [&] {
                   for (size_t i = 0; i < n; ++i) Keep(map.find(keys[i])->second);
                 }),
        bytes);
    Add("map of 64-bit keys: find and update", 1,
        CpuNanos(n, options_.runs,
                 [&] {
                   for (size_t i = 0; i < n; ++i) {
                     int64_t& full_at = map.find(keys[i])->second;
                     full_at = kGcra.Next(full_at, NanosAt(i));
                   }
                 }),
        bytes);
    Add("keyed hash of the name", 1, CpuNanos(n, options_.runs, [&] {
          for (size_t i = 0; i < n; ++i) Keep(hash(Name(i)));
        }));
  }

  void MeasureLockedShards() {
    Say("locked shards");
    const KeyedHash hash({1, 2});
    LockedShards shards;
    for (size_t i = 0; i < names_.size(); ++i) shards.Decide(hash(names_[i]).low, kGcra, 0);
    Both("trial: 256 locked shards, from strings",
         [&](size_t i) { Keep(shards.Decide(hash(Name(i)).low, kGcra, NanosAt(i))); });
  }

  void MeasureCasTable() {
    Say("compare-and-swap cells");
    const KeyedHash hash({1, 2});
    int bits = 10;
    while ((size_t{2} << bits) / 3 < names_.size()) ++bits;
    CasTable table(bits);
    const auto decide = [&](std::string_view name, int64_t now) {
      const Key key = hash(name);
      return table.Decide(key.high, key.low, kGcra, now);
    };
    for (size_t i = 0; i < names_.size(); ++i) decide(names_[i], 0);
    Both(
        "trial: 16-byte cells with CAS, from strings",
        [&](size_t i) { Keep(decide(Name(i), NanosAt(i))); },
        static_cast<double>(table.bytes()) / static_cast<double>(names_.size()));
  }

  void MeasureDecide(std::string_view ns, std::string_view resource) {
    const std::string what = "Decide " + std::string(resource == "api" ? "three limits" : resource);
    Say(what);
    std::string errors;
    LimiterOptions limiter_options;
    limiter_options.memory_bytes = uint64_t{16} << 30;
    const size_t before = ResidentBytes();
    Limiter limiter(ParseRules(kRules, &errors), limiter_options, kStart);
    for (size_t i = 0; i < names_.size(); ++i) limiter.Decide({ns, resource, names_[i]}, kStart);
    const double bytes = BytesPerKey(before);
    Both(
        what,
        [&](size_t i) {
          Keep(limiter.Decide({ns, resource, Name(i)}, At(i)).allowed);
        },
        bytes);
    if (resource != "token_bucket") return;
    Add(what + ", 16 at once", 1,
        CpuNanos(options_.operations, options_.runs,
                 [&] { DecideInBatches(limiter, ns, resource); }),
        bytes);
  }

  void DecideInBatches(Limiter& limiter, std::string_view ns, std::string_view resource) {
    std::array<Request, kBatch> requests;
    std::array<Decision, kBatch> decisions;
    for (size_t i = 0; i + kBatch <= options_.operations; i += kBatch) {
      for (size_t j = 0; j < kBatch; ++j) requests[j] = {ns, resource, Name(i + j)};
      limiter.DecideBatch(requests, At(i), decisions);
      Keep(decisions);
    }
  }

  // A limit that is shared with two other nodes: what the request pays, and with what the cluster's
  // thread pays to tell it.
  void MeasureReplicated() {
    Say("Decide replicated");
    LimiterOptions limiter_options;
    limiter_options.memory_bytes = uint64_t{16} << 30;
    const ParseResult rules = ParseRulesText(kReplicatedRules, "rules", {.cluster = true});
    cluster::ReplicatedLimits shared({1, 1}, {}, kStart);
    shared.SetPeers({1, 2, 3});
    Limiter limiter(rules.rules, limiter_options, kStart);
    limiter.CoordinateWith(&shared);
    for (size_t i = 0; i < names_.size(); ++i) {
      limiter.Decide({"bench", "replicated", names_[i]}, kStart);
      if (i % kTellEvery == 0) shared.Tick(kStart);
    }
    const auto decide = [&](size_t i) {
      Keep(limiter.Decide({"bench", "replicated", Name(i)}, At(i)).allowed);
    };
    const size_t n = options_.operations;
    Add("Decide replicated, and telling it", 1, CpuNanos(n, options_.runs, [&] {
          for (size_t i = 0; i < n; ++i) {
            decide(i);
            if (i % kTellEvery == 0) Keep(shared.Tick(At(i)));
          }
        }));
    std::atomic<bool> stop{false};
    std::thread cluster([&] {
      while (!stop) Keep(shared.Tick(At(n)));
    });
    Add("Decide replicated", 1, CpuNanos(n, options_.runs, [&] {
          for (size_t i = 0; i < n; ++i) decide(i);
        }));
    stop = true;
    cluster.join();
  }

  // With one thread and with two.
  template <typename Operation>
  void Both(const std::string& what, Operation operation, double bytes_per_key = 0) {
    const size_t n = options_.operations;
    Add(what, 1,
        CpuNanos(n, options_.runs,
                 [&] {
                   for (size_t i = 0; i < n; ++i) operation(i);
                 }),
        bytes_per_key);
    const auto share = [&](size_t first, size_t step) {
      for (size_t i = first; i < n; i += step) operation(i);
    };
    Add(what + " (elapsed)", 1, ElapsedNanos(n, options_.runs, 1, share));
    Add(what + " (elapsed)", 2, ElapsedNanos(n, options_.runs, 2, share));
  }

  const EngineOptions& options_;
  const Names& names_;
  const Popularity popularity_;
  const Progress& progress_;
  std::vector<Row>& rows_;
  const std::vector<uint32_t> sequence_;
};

const Row* Find(const std::vector<Row>& rows, std::string_view what, size_t keys, int threads = 1) {
  for (const Row& row : rows) {
    if (row.what == what && row.keys == keys && row.threads == threads &&
        row.popularity == NameOf(Popularity::kUniform)) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<Row> MeasureEngine(const EngineOptions& options, const Progress& progress) {
  std::vector<Row> rows;
  progress("reading the clock");
  SystemClock clock;
  rows.push_back({"reading the clock", 0, "", 1, CpuNanos(1'000'000, options.runs, [&] {
                    for (int i = 0; i < 1'000'000; ++i) Keep(clock.Now());
                  })});
  for (const size_t keys : options.keys) {
    const Names names(keys);
    for (const Popularity popularity : {Popularity::kUniform, Popularity::kZipf}) {
      Suite(options, names, popularity, progress, rows).Run();
    }
  }
  return rows;
}

std::vector<Goal> GoalsOf(const std::vector<Row>& rows) {
  size_t keys = 0;
  for (const Row& row : rows) keys = std::max(keys, row.keys);
  const Row* map = Find(rows, "map of strings: find and update a bucket", keys);
  const Row* one = Find(rows, "Decide token_bucket", keys);
  const Row* batch = Find(rows, "Decide token_bucket, 16 at once", keys);
  const Row* three = Find(rows, "Decide three limits", keys);
  const Row* replicated = Find(rows, "Decide replicated", keys);
  const Row* alone = Find(rows, "Decide token_bucket (elapsed)", keys, 1);
  const Row* both = Find(rows, "Decide token_bucket (elapsed)", keys, 2);
  return {
      {"Decide from strings / find and update in the map of strings", one->nanos / map->nanos, 0.5,
       true},
      {"Decide 16 at once / find and update in the map of strings", batch->nanos / map->nanos, 0.5,
       true},
      {"two threads / one thread, decisions a second", alone->nanos / both->nanos, 1.7, false},
      {"bytes per key of a token bucket (resident, everything)", one->bytes_per_key, 32, true},
      {"three limits / one", three->nanos / one->nanos, 2.2, true},
      {"replicated / local, on the request's thread", replicated->nanos / one->nanos, 2, true},
  };
}

}  // namespace weir::bench
