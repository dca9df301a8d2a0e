// A client that reserves, releases, transfers and seizes at random and tells what it believes to
// hold (beliefs.h), in a process of its own until it is killed.
#pragma once

#include <cstdint>

#include "tests/e2e/beliefs.h"

namespace weir::e2e {

struct Holder {
  int client = 0;  // its number among the beliefs
  uint64_t seed = 0;
  int resp_port = 0;
  int http_port = 0;
  bool over_http = false;
  int end_of_test = -1;  // can be read from when the test has ended
};

[[noreturn]] void RunHolder(const Holder& who, Beliefs& beliefs);

// Until the test ends, or the time is over; false: it has ended.
bool WaitForEndOfTest(int end_of_test, std::chrono::milliseconds time);

}  // namespace weir::e2e
