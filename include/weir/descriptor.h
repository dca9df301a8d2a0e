// Requests in the words of Envoy's rate-limit service: a domain (our namespace) and descriptors,
// each an ordered list of (key, value) entries that is matched against a tree of rules.
//
// All descriptors of a request are decided together, all or nothing: if one is over its limit, none
// is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weir/error.h"
#include "weir/instant.h"

namespace weir {

struct Metadata;  // rules/metadata.h

struct DescriptorEntry {
  std::string_view key;
  std::string_view value;
};

// The units of the wire, in its order.
enum class RateUnit : uint8_t { kUnknown, kSecond, kMinute, kHour, kDay, kMonth, kYear, kWeek };
Duration LengthOf(RateUnit unit);  // a month is 30 days, a year 365; 0 for kUnknown

// A limit that the request itself carries: a fixed window.
struct CarriedLimit {
  uint32_t requests_per_unit = 0;
  RateUnit unit = RateUnit::kUnknown;
};

struct Descriptor {
  std::span<const DescriptorEntry> entries;
  std::optional<CarriedLimit> limit;    // wins over the rule's, in a known domain
  std::optional<uint64_t> hits_addend;  // instead of the request's; 0: look, count nothing
  bool is_negative_hits = false;        // give back instead: floored at 0, always OK
};

struct DescriptorRequest {
  std::string_view domain;
  std::span<const Descriptor> descriptors;
  uint64_t hits_addend = 1;
};

// What became of one descriptor. Views point into the rules in force, as in Decision.
struct DescriptorStatus {
  bool over = false;     // had not room enough (in shadow: would have refused)
  bool limited = false;  // a limit was found; if not, nothing below is set
  bool unlimited = false;
  bool shadow = false;
  bool quota = false;
  std::string_view name;  // of the limit, as given in the rules; may be empty
  uint64_t limit = 0;
  RateUnit unit = RateUnit::kUnknown;  // kUnknown where the period is not one of them
  Duration per{};
  uint64_t remaining = 0;
  Duration reset_after{};
  Duration retry_after{};              // kNever: waiting does not help
  uint64_t capacity = 0;               // the most that can be admitted at once
  const Metadata* metadata = nullptr;  // of the rule; null: none
};

struct DescriptorDecision {
  Code error = Code::kOk;
  std::string_view message;
  bool over = false;                       // a rule refuses, or all that are quotas do
  bool degraded = false;                   // as in Decision
  std::vector<DescriptorStatus> statuses;  // one for each descriptor, in order
};

}  // namespace weir
