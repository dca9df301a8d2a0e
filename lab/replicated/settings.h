// What can be changed about an experiment, each by a name: --set key=value.
//
// What is not set is the thesis' (Tables 4.1 and 4.2) or the replica's own default. Durations are
// written with a unit: 300ms, 2s, 1m.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/replicated/simulation.h"
#include "replication/debt_replica.h"

namespace weir::lab {

struct Settings {
  uint32_t nodes = 30;
  uint64_t capacity = 1000;  // the thesis' c; set D has its own
  NetworkOptions network;
  Duration quiet = std::chrono::seconds(60);  // after the last request
  std::optional<Duration> interval;           // of gossip
  uint32_t fan_out = 1;                       // peers that are told each time
  std::optional<Duration> margin;             // for which the queue keeps the dead
  Duration frequency_threshold = std::chrono::milliseconds(2400);
  uint64_t window = 0;  // of the frequency analysis; 0: max(2, capacity / nodes)
  Duration births{};    // the queue takes requests of one such slice for one (erratum 4)
  DebtOptions debt;     // patience, grace, heartbeat
  std::vector<std::string> variants;  // only these; none: the usual ones

  // "key=value". Throws std::invalid_argument, with what is wrong and what there is.
  void Set(std::string_view assignment);
};

struct SettingDescription {
  std::string key, meaning;
};
std::vector<SettingDescription> DescribeSettings();

// "250ms", "1.5s", "2m", "1h", also us and ns. Throws std::invalid_argument.
Duration ParseDuration(std::string_view text);

}  // namespace weir::lab
