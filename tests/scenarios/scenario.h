// A scenario: a readable text of commands and what they are answered.
//
//   # Ten a minute: after a quarter of it two are back.
//   rules
//   namespaces: {demo: {resources: {ping: {limits: [{name: main, limit: 10, per: 1m}]}}}}
//   ----
//   ok
//
//   request demo ping ann 10
//   @15s peek demo ping ann 3
//   ----
//   allowed  granted 10    remaining 0         …
//   refused  granted 0     remaining 2         …
//
// A block is commands, a line `----`, and the answers up to an empty line. The commands are those of
// cli/command.h, and as the first line of a block of their own:
//   rules                 a limiter with the rules that follow; time is 2026-01-01T00:00:00Z
//   rules-file PATH       the same, with the rules of a file of the repository
//   reload, reload-file   other rules for the limiter that there is
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interpreter.h"
#include "weir/clock.h"
#include "weir/limiter.h"

namespace weir {

struct Block {
  std::string before;  // comments and empty lines, as they are
  int line = 0;        // of the first command
  std::vector<std::string> commands;
  std::string answers;  // expected; each line with its newline
};

struct Scenario {
  std::vector<Block> blocks;
  std::string after;  // what follows the last block
};

Scenario ParseScenario(std::string_view text);
std::string ScenarioText(const Scenario& scenario);

// The limiter, the clock and the tickets of one scenario.
class Stage {
 public:
  // `root`: where the paths of rules-file begin.
  explicit Stage(std::string root) : root_(std::move(root)) {}
  // The answers to the commands of a block.
  std::string Run(const Block& block);

 private:
  std::string Begin(std::shared_ptr<const Rulebook> rules, const std::string& errors);
  std::string Reload(std::shared_ptr<const Rulebook> rules, const std::string& errors);

  const std::string root_;
  ManualClock clock_;
  std::unique_ptr<Limiter> limiter_;
  std::unique_ptr<Interpreter> interpreter_;
  std::shared_ptr<const Rulebook> next_rules_;
};

}  // namespace weir
