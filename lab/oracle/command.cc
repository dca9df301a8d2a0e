#include "lab/oracle/command.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

#include "lab/oracle/golden.h"
#include "lab/oracle/random_limit.h"
#include "lab/oracle/run.h"
#include "weir/clock.h"

namespace weir::oracle {
namespace {

constexpr const char* kUsage =
    "usage: weir-lab oracle [--algorithm NAME|all] [--decisions N] [--seed N] [--threads N]\n"
    "       weir-lab oracle --golden\n"
    "algorithms: token_bucket fixed_window sliding_log sliding_window burst_tiers\n";

struct Options {
  std::string algorithm = "all";
  uint64_t decisions = 10'000'000;
  uint64_t seed = 1;
  uint64_t threads = std::max(1u, std::thread::hardware_concurrency());
  bool golden = false;
};

bool ParseNumber(const std::string& text, uint64_t* number) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *number);
  return result.ec == std::errc() && result.ptr == end;
}

bool IsAlgorithm(const std::string& name) {
  const auto all = Algorithms();
  return name == "all" || std::find(all.begin(), all.end(), name) != all.end();
}

std::optional<Options> Parse(std::span<const std::string> args) {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--golden") {
      options.golden = true;
      continue;
    }
    if (i + 1 == args.size()) return std::nullopt;
    const std::string& value = args[i + 1];
    if (args[i] == "--algorithm" && IsAlgorithm(value)) {
      options.algorithm = value;
    } else if (args[i] == "--decisions" && ParseNumber(value, &options.decisions)) {
    } else if (args[i] == "--seed" && ParseNumber(value, &options.seed)) {
    } else if (args[i] == "--threads" && ParseNumber(value, &options.threads) &&
               options.threads >= 1 && options.threads <= 1024) {
    } else {
      return std::nullopt;
    }
    ++i;
  }
  return options;
}

// A bar on the terminal, if there is one. Safe to share between threads.
class Bar {
 public:
  Bar(std::string label, uint64_t total)
      : label_(std::move(label)), total_(std::max<uint64_t>(1, total)), shown_(isatty(2) != 0) {}
  ~Bar() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }
  void Advance(uint64_t n) {
    done_ += n;
    if (!shown_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    const int full = static_cast<int>(share * 40);
    std::fprintf(stderr, "\r%-14s [%.*s%*s] %5.1f %%", label_.c_str(), full,
                 "########################################", 40 - full, "", share * 100);
  }

 private:
  const std::string label_;
  const uint64_t total_;
  const bool shown_;
  std::atomic<uint64_t> done_{0};
  std::mutex mutex_;  // of the terminal
};

OracleReport RunOnThreads(const std::string& algorithm, const Options& options) {
  Bar bar(algorithm, options.decisions);
  std::vector<OracleReport> reports(options.threads);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < options.threads; ++i) {
    threads.emplace_back([&, i] {
      const uint64_t share =
          options.decisions / options.threads + (i < options.decisions % options.threads ? 1 : 0);
      reports[i] = RunOracle(algorithm, share, options.seed + (i << 40),
                             [&bar](uint64_t n) { bar.Advance(n); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  OracleReport sum;
  for (const OracleReport& report : reports) sum.Add(report);
  return sum;
}

}  // namespace

int OracleCommand(std::span<const std::string> args) {
  const std::optional<Options> options = Parse(args);
  if (!options) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (options->golden) {
    PrintGoldenVectors(std::cout);
    return 0;
  }
  SystemClock clock;
  std::string mismatches;
  std::printf("%-14s %12s %12s %12s %12s %10s %8s\n", "algorithm", "decisions", "admitted",
              "refused", "settled", "mismatches", "seconds");
  for (const std::string_view name : Algorithms()) {
    const std::string algorithm(name);
    if (options->algorithm != "all" && options->algorithm != algorithm) continue;
    const Instant start = clock.Now();
    const OracleReport report = RunOnThreads(algorithm, *options);
    const double seconds = std::chrono::duration<double>(clock.Now() - start).count();
    std::printf("%-14s %12lu %12lu %12lu %12lu %10lu %8.1f\n", algorithm.c_str(), report.decisions,
                report.admitted, report.refused, report.settled, report.mismatches, seconds);
    std::fflush(stdout);
    if (report.mismatches != 0) mismatches += "\n" + report.first_mismatch;
  }
  std::fputs(mismatches.c_str(), stdout);
  return mismatches.empty() ? 0 : 1;
}

}  // namespace weir::oracle
