#include "lab/oracle/run.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "lab/oracle/random_limit.h"
#include "lab/oracle/traffic.h"

namespace weir::oracle {
namespace {

std::string Decimal(uint128 n) {
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(n % 10)));
    n /= 10;
  } while (n != 0);
  return digits;
}

std::string Until(Instant now, Instant then) {
  if (then == kEndOfTime) return "never";
  return Decimal(static_cast<uint128>(int128{ToNanos(then)} - ToNanos(now))) + "ns";
}

std::string ToText(const Event& event) {
  std::string text = "at " + std::to_string(ToNanos(event.now));
  if (event.kind == Event::Kind::kRestart) return text + " restart";
  if (event.kind == Event::Kind::kSettle) {
    return text + " settle ticket " + std::to_string(event.ticket) + " to " +
           std::to_string(event.cost);
  }
  text += " request cost " + std::to_string(event.cost);
  if (event.least != event.cost) text += " least " + std::to_string(event.least);
  if (event.ticket != 0) text += " ticket " + std::to_string(event.ticket);
  return text;
}

std::string ToText(const Event& event, const Answer& answer) {
  if (!answer.known) return "unknown ticket";
  std::string text;
  if (event.kind == Event::Kind::kRestart) {
    text = "restarted";
  } else if (event.kind == Event::Kind::kSettle) {
    text = "refunded " + Decimal(answer.refunded);
  } else if (answer.allowed) {
    text = "granted " + std::to_string(answer.granted);
    if (answer.retry_at != event.now) text += " but when " + Until(event.now, answer.retry_at);
  } else {
    text = "refused, retry after " + Until(event.now, answer.retry_at);
    if (!answer.retry_true) text += " (not the earliest)";
  }
  if (answer.tier != Model::TierView{}) {
    text += ", tier " + std::to_string(answer.tier.tier) + " with " +
            std::to_string(answer.tier.hits) + " of " + std::to_string(answer.tier.limit) +
            (answer.tier.burst ? " (burst)" : "");
  }
  return text + ", remaining " + std::to_string(answer.remaining) + ", reset after " +
         Until(event.now, answer.reset_at) + ", use " + std::to_string(answer.use);
}

// True if the two answer these events differently. With `text`, all answers are written to it.
bool Differ(const Limit& limit, const ModelMaker& tested, const std::vector<Event>& events,
            std::string* text = nullptr) {
  Session right(MakeOracle(limit));
  Session other(tested(limit));
  for (const Event& event : events) {
    const Answer expected = right.Ask(event);
    const Answer actual = other.Ask(event);
    if (text != nullptr) {
      *text += "  " + ToText(event) + "\n      oracle: " + ToText(event, expected) + "\n";
      if (actual != expected) *text += "      tested: " + ToText(event, actual) + "\n";
    }
    if (actual != expected) return true;
  }
  return false;
}

// Drops events, many at a time at first, while the answers still differ.
std::vector<Event> Shrink(const Limit& limit, const ModelMaker& tested, std::vector<Event> events) {
  for (size_t size = events.size() / 2; size > 0; size = size == 1 ? 0 : (size + 1) / 2) {
    for (bool shorter = true; shorter;) {
      shorter = false;
      for (size_t at = 0; at + size <= events.size();) {
        std::vector<Event> fewer = events;
        const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
        fewer.erase(first, first + static_cast<std::ptrdiff_t>(size));
        if (Differ(limit, tested, fewer)) {
          events = std::move(fewer);
          shorter = true;
        } else {
          ++at;
        }
      }
    }
  }
  return events;
}

// One limit, one key. Returns the events, of which the last was answered differently if `differs`.
struct Run {
  Limit limit;
  std::vector<Event> events;
  bool differs = false;
};

uint64_t& Tally(const Event& event, const Answer& answer, OracleReport* report) {
  if (event.kind == Event::Kind::kRestart) return report->restarts;
  if (event.kind == Event::Kind::kSettle) return report->settled;
  return answer.allowed ? report->admitted : report->refused;
}

Run RunOnce(std::string_view algorithm, uint64_t seed, const ModelMaker& tested,
            OracleReport* report) {
  Random random(seed);
  Run run{RandomLimit(algorithm, &random), {}};
  Traffic traffic(run.limit, &random);
  Session right(MakeOracle(run.limit));
  Session other(tested(run.limit));
  Answer expected;
  const uint64_t length = random.Below(64) == 0 ? 500 : 1 + random.Below(100);
  for (uint64_t i = 0; i < length && !run.differs; ++i) {
    const Event event = traffic.Next(right, expected);
    run.events.push_back(event);
    expected = right.Ask(event);
    if (!expected.retry_true || (expected.allowed && expected.retry_at != event.now)) {
      std::fprintf(stderr, "the oracle contradicts itself: %s, seed %llu\n",
                   Describe(run.limit).c_str(), static_cast<unsigned long long>(seed));
      std::abort();
    }
    run.differs = other.Ask(event) != expected;
    ++report->decisions;
    ++Tally(event, expected, report);
  }
  return run;
}

std::string DescribeMismatch(std::string_view algorithm, uint64_t seed, const ModelMaker& tested,
                             const Run& run) {
  std::string text = "repeat with: weir-lab oracle --algorithm " + std::string(algorithm) +
                     " --seed " + std::to_string(seed) + " --decisions 1\n" + Describe(run.limit) +
                     "\n";
  Differ(run.limit, tested, Shrink(run.limit, tested, run.events), &text);
  return text;
}

}  // namespace

void OracleReport::Add(const OracleReport& other) {
  decisions += other.decisions;
  admitted += other.admitted;
  refused += other.refused;
  settled += other.settled;
  restarts += other.restarts;
  mismatches += other.mismatches;
  if (first_mismatch.empty()) first_mismatch = other.first_mismatch;
}

OracleReport RunOracle(std::string_view algorithm, uint64_t decisions, uint64_t seed,
                       const Progress& progress, const ModelMaker& tested) {
  OracleReport report;
  if (algorithm == "all") {
    for (const std::string_view each : Algorithms()) {
      report.Add(RunOracle(each, decisions, seed, progress, tested));
    }
    return report;
  }
  uint64_t told = 0;
  for (; report.decisions < decisions && report.mismatches < kMostMismatches; ++seed) {
    const Run run = RunOnce(algorithm, seed, tested, &report);
    if (run.differs && report.mismatches++ == 0) {
      report.first_mismatch = DescribeMismatch(algorithm, seed, tested, run);
    }
    if (progress && report.decisions - told >= 100'000) {
      progress(report.decisions - told);
      told = report.decisions;
    }
  }
  if (progress) progress(report.decisions - told);
  return report;
}

}  // namespace weir::oracle
