#include "tests/style/forbidden_calls.h"

#include <regex>

namespace weir::style {
namespace {

// Not covered by an exemption from everything.
constexpr std::string_view kOutput = "output", kKeptMemory = "kept memory";

struct Forbidden {
  std::string_view word;
  std::regex pattern;
  bool in_tests;  // tests may read clocks and the environment, but do not wait or throw dice
  std::string_view instead;
};

const std::vector<Forbidden>& Words() {
  static const std::vector<Forbidden> words = {
      {"now", std::regex(R"(\bnow\s*\(\s*\)|\babsl::Now\b)"), false,
       "take the time as an argument"},
      {"clock",
       std::regex(R"(\b(system_clock|steady_clock|high_resolution_clock|clock_gettime|)"
                  R"(gettimeofday|timespec_get|__rdtsc)\b|\btime\s*\(\s*(NULL|nullptr|0|&))"),
       false, "take the time as an argument"},
      {"rand",
       std::regex(R"(\b(rand|random|[delmn]rand48)\s*\(\s*\)|\b(srand|srandom|rand_r)\s*\()"), true,
       "take a Random as an argument"},
      {"random_device", std::regex(R"(\b(random_device|getrandom|getentropy)\b)"), true,
       "take a Random as an argument"},
      {"sleep", std::regex(R"(\b(u|nano)?sleep\s*\(|\bsleep_(for|until)\b|\bSleepFor\b)"), true,
       "move the clock instead"},
      {kOutput,
       std::regex(R"(\bstd::(cout|cerr|clog)\b|\bfmt::print\b|\bv?f?printf\s*\(|\bf?puts\s*\()"),
       false, "write by base/terminal.h or the log, which make what came from outside plain"},
      {kKeptMemory, std::regex(R"([\w\])] = std::string\(\);)"), true,
       "a string that is assigned an empty one keeps its memory: Release (base/heap_bytes.h)"},
      {"getenv", std::regex(R"(\b(secure_)?getenv\b)"), false, "take a setting as an argument"},
  };
  return words;
}

bool IsExempt(std::string_view path, std::string_view word) {
  for (const Exemption& exemption : Exemptions()) {
    const bool here =
        EndsWith(exemption.path, "/") ? StartsWith(path, exemption.path) : path == exemption.path;
    const bool everything = exemption.word == "*" && word != kOutput && word != kKeptMemory;
    if (here && (everything || exemption.word == word)) return true;
  }
  return false;
}

}  // namespace

const std::vector<Exemption>& Exemptions() {
  static const std::vector<Exemption> list = {
      {"src/base/clock.cc", "clock", "the one place that reads the machine's clocks"},
      {"src/base/random.cc", "random_device", "the one place that asks the machine for chance"},
      {"src/server/", "*", "builds the objects: reads clock, chance and environment once"},
      {"src/cli/", "*", "the program itself: reads clock, environment and terminal"},
      {"src/net/", "*", "the loop, and clients that wait"},
      {"clients/cpp/src/system_clock.cc", "*", "the client's one place for time, sleep and chance"},
      {"src/cli/main.cc", kOutput, "the one place that has standard output and standard error"},
      {"src/store/arena.cc", kOutput, "tells a number, and ends"},
      {"src/base/random.cc", kOutput, "tells words of its own, and ends"},
      {"src/cluster/", kOutput, "tells words of its own, and ends"},
      {"lab/", kOutput, "tells numbers of its own; what is anybody's, by lab/print.h"},
      {"bench/", kOutput, "tells numbers of its own"},
      {"examples/", kOutput, "what a user writes"},
      {"clients/", kOutput, "examples of what a user writes"},
      {"lab/live/", "*", "waits for real processes"},
      {"bench/", "*", "measures time"},
      {"examples/", "now", "a user of the library reads the library's clock"},
  };
  return list;
}

Findings CheckForbiddenCalls(const SourceFile& file) {
  Findings findings;
  const bool in_tests = StartsWith(file.path, "tests/") || StartsWith(file.path, "fuzz/");
  const std::vector<std::string> lines = Lines(CodeOnly(file.text));
  for (const Forbidden& forbidden : Words()) {
    if ((in_tests && !forbidden.in_tests) || IsExempt(file.path, forbidden.word)) continue;
    for (size_t i = 0; i < lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_search(lines[i], match, forbidden.pattern)) continue;
      findings.push_back({file.path, static_cast<int>(i) + 1,
                          match.str() + ": " + std::string(forbidden.instead)});
    }
  }
  return findings;
}

}  // namespace weir::style
