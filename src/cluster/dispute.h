// Two lives of one name have met. Each asks the members whom they take for the node of that name: the one
// that fewer of those who answer have accepted yields, and on a tie the one that started later.
//
// Pure: the node asks, and tells the answers.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "weir/instant.h"

namespace weir::cluster {

// A life under this node's name, and where it is.
struct Namesake {
  uint32_t incarnation = 0;
  uint64_t birthmark = 0;
  std::string address;

  // Lives are numbered by the time of their start.
  bool StartedBefore(const Namesake& other) const {
    return std::tie(incarnation, birthmark) < std::tie(other.incarnation, other.birthmark);
  }
};

struct Dispute {
  static constexpr Duration kPatience = std::chrono::seconds(1);
  static constexpr Duration kAskEvery = std::chrono::milliseconds(150);

  Namesake rival;
  Instant ends{};
  Instant next_poll{};
  std::map<uint32_t, bool> votes;  // by member: for this node or not

  size_t For() const {
    return static_cast<size_t>(
        std::count_if(votes.begin(), votes.end(), [](const auto& vote) { return vote.second; }));
  }
  size_t Against() const { return votes.size() - For(); }
  bool MustYield(const Namesake& self) const {
    return Against() != For() ? Against() > For() : rival.StartedBefore(self);
  }
};

}  // namespace weir::cluster
