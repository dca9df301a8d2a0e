// Calendar windows, read from the time zone database without a library's help.
//
// The file of a zone (RFC 8536) lists the instants at which its offset from UTC changes. Between
// two of them local time is UTC plus a constant, so the first instant of a civil day is found by
// asking each such span in turn: the first instant of it that lies on that day or later. That is
// what calendar.h promises: where midnight does not exist the transition, where it comes twice the
// first of the two. Reaches from 1970 to 2037, for which the file lists every change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/calendar.h"

namespace weir::oracle {

class CalendarOracle {
 public:
  static constexpr int64_t kFirstSecond = 7 * 86400;              // 1970-01-08
  static constexpr int64_t kLastSecond = int64_t{65} * 31556952;  // 2034-12-31

  // Aborts if the zone cannot be read.
  CalendarOracle(Calendar::Unit unit, const std::string& time_zone);

  struct Window {
    Instant start;
    Instant end;
  };
  Window At(Instant now) const;

 private:
  std::vector<int64_t> starts_;  // in seconds since 1970, in order
};

}  // namespace weir::oracle
