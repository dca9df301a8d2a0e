// Recorded requests, to be replayed.
//
//   JSON   [{"user_id": "ann", "time": 1700000000.25}, …]; "cost" may be added
//   CSV    time,subject,cost; the cost may be left out, and a first line of names is passed over
//
// A time is in seconds, fractions allowed; or, from 10^11 up, in milliseconds since 1970, as the
// thesis' traces have it; or ISO 8601: 2026-01-31T12:00:00.5Z. Only differences between times
// matter. Requests need not be in order. What is wrong is told with the line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lab/replicated/simulation.h"

namespace weir::lab {

struct Trace {
  std::vector<SimulatedRequest> requests;  // in order of time
  std::vector<std::string> subjects;       // by user
};

inline constexpr size_t kMostTraceBytes = size_t{1} << 30;
inline constexpr size_t kMostTraceRequests = 20'000'000;
inline constexpr size_t kMostTraceSubjects = 1'000'000;
inline constexpr size_t kMostSubjectBytes = 1024;

// What is wrong: "line 3: …".
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Trace ParseTrace(std::string_view text);
// "FILE: line 3: …" if it is not to be read.
Trace ReadTrace(const std::string& path);

// Nanoseconds since 1970, or since whatever seconds count from. Throws TraceError without a line.
int64_t ParseTraceTime(std::string_view text);

}  // namespace weir::lab
