// What the limiter can tell about the past minute and the past day.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/decision.h"
#include "weir/instant.h"

namespace weir {

// Why limits have decided by their `on_failure`, and how often since the start.
struct FailureCount {
  std::string_view cause;  // "deadline", "unavailable", "too_many_waiting", "cannot_wait"
  uint64_t count = 0;
};

struct Counts {
  uint64_t admitted = 0;
  uint64_t refused = 0;
  uint64_t cost = 0;  // of what was admitted

  Counts& operator+=(const Counts& other) {
    admitted += other.admitted;
    refused += other.refused;
    cost += other.cost;
    return *this;
  }
  Counts operator-(const Counts& other) const {
    return {admitted - other.admitted, refused - other.refused, cost - other.cost};
  }
  bool operator==(const Counts&) const = default;
};

// The last 60 whole seconds and the last 1440 minutes (the last of them not over yet), oldest first.
struct History {
  std::vector<Counts> seconds;
  std::vector<Counts> minutes;
};

// How often a limit was the one that refused, or would have (shadow).
struct LimitCounts {
  std::string limit;
  uint64_t refused = 0;
  uint64_t would_refuse = 0;
};

struct ResourceCounts {
  std::string namespace_name;
  std::string resource;
  Counts total;  // since the start
  std::vector<LimitCounts> limits;
};

// Decisions on descriptors, by the rule that they met.
struct DescriptorCounts {
  std::string namespace_name;
  std::string rule;
  uint64_t ok = 0, over = 0, would_refuse = 0;
};

struct LimiterCounts {
  std::vector<ResourceCounts> resources;
  std::vector<DescriptorCounts> descriptors;
  Counts adhoc;
};

// A limit as the state of one subject tells it. How exactly depends on the algorithm (API
// management, section 6.4): a bucket has forgotten what was refilled, a window what was before it.
struct LimitUse {
  std::string name;
  std::string algorithm;
  uint64_t capacity = 0;
  uint64_t used = 0;
  uint64_t remaining = 0;
  Duration per{};
  Duration reset_after{};
  bool refuses = false;  // a request of cost 1, now
  bool shadow = false;
  std::string accuracy;  // a sentence
};

struct SubjectReport {
  Code error = Code::kOk;
  std::string message;
  Decision now;  // what a request of cost 1 would be answered
  std::vector<LimitUse> limits;
  // Where the subject is among the busiest of the resource: estimates of the last minute and day.
  bool among_busiest = false;
  History history;
};

}  // namespace weir
