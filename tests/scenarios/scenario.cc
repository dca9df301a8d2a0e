#include "tests/scenarios/scenario.h"

#include <sstream>

#include "base/time_text.h"

namespace weir {
namespace {

constexpr std::string_view kStart = "2026-01-01T00:00:00Z";

bool IsBlank(const std::string& line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}

std::string WithNewline(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

// The lines after the first: the rules that a block carries.
std::string Inline(const Block& block) {
  std::string text;
  for (size_t i = 1; i < block.commands.size(); ++i) text += block.commands[i] + "\n";
  return text;
}

}  // namespace

Scenario ParseScenario(std::string_view text) {
  enum { kBetween, kCommands, kAnswers } where = kBetween;
  Scenario scenario;
  Block block;
  std::istringstream in{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (where == kBetween && (IsBlank(line) || line[0] == '#')) {
      block.before += line + "\n";
    } else if (where == kBetween) {
      block.line = number;
      block.commands.push_back(line);
      where = kCommands;
    } else if (where == kCommands && line == "----") {
      where = kAnswers;
    } else if (where == kCommands) {
      block.commands.push_back(line);
    } else if (!IsBlank(line)) {
      block.answers += line + "\n";
    } else {
      scenario.blocks.push_back(std::move(block));
      block = {};
      block.before = line + "\n";
      where = kBetween;
    }
  }
  if (where == kBetween) {
    scenario.after = block.before;
  } else {
    scenario.blocks.push_back(std::move(block));
  }
  return scenario;
}

std::string ScenarioText(const Scenario& scenario) {
  std::string text;
  for (const Block& block : scenario.blocks) {
    text += block.before;
    for (const std::string& command : block.commands) text += command + "\n";
    text += "----\n" + block.answers;
  }
  return text + scenario.after;
}

std::string Stage::Run(const Block& block) {
  std::istringstream first(block.commands.front());
  std::string verb, path, errors;
  first >> verb >> path;
  if (verb == "rules") {
    const auto rules = ParseRules(Inline(block), &errors);
    return Begin(rules, errors);
  }
  if (verb == "rules-file") {
    const auto rules = LoadRules(root_ + "/" + path, &errors);
    return Begin(rules, errors);
  }
  if (limiter_ == nullptr) return "a scenario begins with rules\n";
  if (verb == "reload") {
    const auto rules = ParseRules(Inline(block), &errors);
    return Reload(rules, errors);
  }
  if (verb == "reload-file") {
    const auto rules = LoadRules(root_ + "/" + path, &errors);
    return Reload(rules, errors);
  }
  std::string answers;
  for (const std::string& command : block.commands) {
    answers += WithNewline(interpreter_->Run(command));
  }
  return answers;
}

std::string Stage::Begin(std::shared_ptr<const Rulebook> rules, const std::string& errors) {
  if (rules == nullptr) return WithNewline(errors);
  LimiterOptions options;
  options.secret = {1, 2};
  Interpreter::Options how;
  how.start = *ParseInstant(kStart, Instant{});
  how.frozen = true;
  how.reload = [this](Instant now) {
    limiter_->Install(next_rules_, now);
    return std::string("ok");
  };
  interpreter_.reset();
  limiter_ = std::make_unique<Limiter>(std::move(rules), options, how.start);
  interpreter_ = std::make_unique<Interpreter>(limiter_.get(), &clock_, how);
  return "ok\n";
}

std::string Stage::Reload(std::shared_ptr<const Rulebook> rules, const std::string& errors) {
  if (rules == nullptr) return WithNewline(errors);
  next_rules_ = std::move(rules);
  return WithNewline(interpreter_->Run("reload"));
}

}  // namespace weir
