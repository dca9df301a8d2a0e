// Carries out the lines of `weir try` and of the scenario tests (server/command.h) on a limiter.
//
// Time runs by itself until a line sets it; from then on it stands still between lines. It never
// goes back. Tickets and holds are numbered from 1 in the order in which they were given out.
//
// Not safe for threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/answer_text.h"
#include "server/command.h"
#include "weir/clock.h"
#include "weir/limiter.h"

namespace weir {

class Interpreter {
 public:
  struct Options {
    Instant start{};      // what "@0s" means
    bool frozen = false;  // time stands still from the beginning
    AnswerStyle style;
    // Installs the rules anew; returns what to tell. Empty: `reload` is not possible.
    std::function<std::string(Instant now)> reload;
  };

  // Both outlive the interpreter.
  Interpreter(Limiter* limiter, Clock* clock, Options options);

  // The answer, without a newline at its end; empty if there is nothing to say.
  std::string Run(std::string_view line);
  bool quit() const { return quit_; }

  static std::string Help();

 private:
  Instant Now();
  std::string Carry(const Command& command);
  std::string Repeat(const Command& command);
  std::string Once(const Command& command);
  std::string Decide(const Command& command);
  std::string Limits(const Command& command);
  std::string Settle(const Command& command);
  std::string Reserve(const Command& command);
  std::string Release(const Command& command);
  std::string SetTime(const std::string& text);

  size_t Number(const Ticket& ticket);
  std::optional<Ticket> Find(const std::string& name) const;
  AnswerStyle Style() const;  // exact while time stands still
  std::string Mistake(std::string_view message) const;

  Limiter* const limiter_;
  Clock* const clock_;
  const Options options_;
  const SessionId session_;  // whose holds these are
  std::optional<Instant> frozen_;
  Instant latest_;             // that the limiter was told
  bool last_allowed_ = false;  // of the last request, for counting repetitions
  bool quit_ = false;
  std::vector<Ticket> tickets_;  // and holds; #n is tickets_[n - 1]
};

}  // namespace weir
