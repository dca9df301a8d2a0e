// Carries out the lines of `weir try` and of the scenario tests (cli/command.h) on a limiter.
//
// Time runs by itself until a line sets it; from then on it stands still between lines. It never
// goes back. Tickets, holds and transfers are numbered from 1 in the order in which they were given
// out. Whoever waits for copies is answered with the line that brings them, or that lets his time
// run out.
//
// Not safe for threads.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer_text.h"
#include "cli/command.h"
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
  ~Interpreter();  // its sessions end
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

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
  std::string ReserveText(const Result<Reservation>& reservation);
  std::string Release(const Command& command);
  std::string Transfer(const Command& command);
  std::string Seize(const Command& command);
  std::string End(const Command& command);
  std::string SetTime(const std::string& text);

  size_t Number(const Ticket& ticket);
  std::optional<Ticket> Find(const std::string& name) const;
  AnswerStyle Style() const;  // exact while time stands still
  std::string Mistake(std::string_view message) const;
  std::string Told(const Error& error) const;
  const SessionId& Session(const std::string& name);

  Limiter* const limiter_;
  Clock* const clock_;
  const Options options_;
  std::optional<Instant> frozen_;
  Instant latest_;             // that the limiter was told
  bool last_allowed_ = false;  // of the last request, for counting repetitions
  bool quit_ = false;
  std::map<std::string, SessionId> sessions_;  // by name, which may be empty
  std::string late_;                           // answers to those who waited
  std::vector<Ticket> tickets_;                // holds and transfers too; #n is tickets_[n - 1]
};

}  // namespace weir
