// What clients of one node want of another: questions, each answered once or not at all.
//
// A question is sent again until its answer comes or its time is up. Whoever answers keeps the answer
// for longer than that: a question that comes twice is carried out once, and answered alike.
//
// Pure: time is an argument, and nothing is sent from here.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mail/envelope.h"
#include "weir/instant.h"

namespace weir::cluster {

struct QuestionCounts {
  uint64_t asked = 0;
  uint64_t answered = 0;    // by others
  uint64_t unanswered = 0;  // in time
  uint64_t given = 0;       // answers, to others
};

class Questions {
 public:
  static constexpr size_t kMostBytes = 1024;  // of a question or an answer
  static constexpr size_t kMostOpen = 1 << 16, kMostKept = 1 << 16;
  static constexpr Duration kPatience = std::chrono::seconds(1);
  static constexpr Duration kFirstAgain = std::chrono::milliseconds(10);  // then doubled
  static constexpr Duration kKeep = 2 * kPatience;

  // Nothing: there was no answer.
  using Done = std::function<void(std::optional<std::string_view> answer)>;

  struct ToSend {
    uint32_t node = 0;
    uint64_t number = 0;
    std::string_view text;  // until the next call
  };

  // `done` is called by Take or Tick. False: there are too many already.
  bool Ask(uint32_t node, std::string text, Instant now, Done done);
  // Those to be sent now, new ones among them. Gives up those whose time is up.
  std::vector<ToSend> Tick(Instant now);
  Instant NextTick() const { return due_.empty() ? kEndOfTime : due_.begin()->first; }
  // An answer that nobody waits for is none.
  void Take(uint32_t node, uint64_t number, std::string_view answer);
  // Nobody will be answered any more.
  void GiveUp();

  // The answer to a question of another, by `carry_out` unless it has come before.
  std::string Answer(Origin asker, uint64_t number, Instant now,
                     const std::function<std::string()>& carry_out);

  const QuestionCounts& counts() const { return counts_; }

 private:
  struct Open {
    uint32_t node = 0;
    std::string text;
    Done done;
    Instant ends;
    Duration pause = kFirstAgain;  // before it is sent again
  };
  struct Name {
    Origin asker;
    uint64_t number = 0;
    auto operator<=>(const Name&) const = default;
  };

  uint64_t last_ = 0;
  std::map<uint64_t, Open> open_;               // by number
  std::set<std::pair<Instant, uint64_t>> due_;  // what was answered stays in it until then
  std::map<Name, std::string> kept_;
  std::deque<std::pair<Instant, Name>> kept_until_;
  QuestionCounts counts_;
};

}  // namespace weir::cluster
