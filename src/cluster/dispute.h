// Two lives of one name have met. Each asks the members whom they take for the node of that name: the one
// that fewer of those who answer have accepted yields. On a tie one that nobody has accepted yet yields to one
// that has joined, and else the one that started later. Members whose own name is disputed have no vote, or two
// lives of a name would keep each other in office. Who must yield tells its rival so, and ends once that says that it
// stays.
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
  bool joined = false;  // as far as is known

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
  enum class Vote { kNone, kFor, kAgainst };
  std::map<uint32_t, Vote> votes;  // by member that has answered
  bool confirming = false;         // the rival is asked whether it stays
  uint64_t stamp = 0;              // of that question

  size_t For() const { return Count(Vote::kFor); }
  size_t Against() const { return Count(Vote::kAgainst); }
  size_t Count(Vote vote) const {
    return static_cast<size_t>(std::count_if(
        votes.begin(), votes.end(), [vote](const auto& one) { return one.second == vote; }));
  }
  bool MustYield(const Namesake& self) const {
    if (Against() != For()) return Against() > For();
    return self.joined != rival.joined ? rival.joined : rival.StartedBefore(self);
  }
};

}  // namespace weir::cluster
