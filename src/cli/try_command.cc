#include "cli/try_command.h"

#include <optional>

#include "base/time_text.h"
#include "cli/interpreter.h"
#include "rules/rulebook.h"
#include "weir/clock.h"
#include "weir/limiter.h"

namespace weir {
namespace {

std::string Reload(Limiter* limiter, const std::string& path, Instant now) {
  std::string errors;
  const std::shared_ptr<const Rulebook> rules = LoadRules(path, &errors);
  if (rules == nullptr) return errors + "the old rules stay";
  limiter->Install(rules, now);
  return "reloaded " + path;
}

// A line to type for each of the first resources.
std::string Suggestions(const Rulebook& rules) {
  constexpr size_t kMost = 8;
  std::string text;
  size_t count = 0;
  for (const auto& ns : rules.namespaces()) {
    for (const Resource& resource : ns.resources()) {
      if (++count > kMost) return text;
      const bool copies = resource.kind == Resource::Kind::kCopies;
      text +=
          PlainFormat("  {}{} {} ann\n", copies ? "reserve " : "", ns.terms.name, resource.name);
    }
  }
  return text;
}

void Greet(const Limiter& limiter, const std::string& path, Terminal& out) {
  out.Print("The rules of {} are in force. Type a request, such as\n", path);
  out.Lines(Suggestions(*limiter.rules()));
  out.Print("once or many times. 'help' shows more, 'quit' ends.\n");
}

void Converse(Interpreter& interpreter, bool prompt, std::istream& in, Terminal& out) {
  std::string line;
  while (!interpreter.quit()) {
    if (prompt) out.Print("weir> ");
    out.Flush();
    if (!std::getline(in, line)) {
      if (prompt) out.Print("\n");
      return;
    }
    const std::string answer = interpreter.Run(line);
    if (answer.empty()) continue;
    out.PaintedLines(answer);
    out.Print("\n");
    out.Flush();
  }
}

}  // namespace

int RunTry(const TryOptions& options, std::istream& in, Terminal& out, Terminal& errors) {
  SystemClock clock;
  Interpreter::Options how;
  how.start = clock.Now();
  how.style.colours = out.colours();
  if (!options.start.empty()) {
    const std::optional<Instant> start = ParseInstant(options.start, Instant{});
    if (!start) {
      errors.Print("--start wants a time such as 2026-11-15T10:00:00Z, not {}\n", options.start);
      return 1;
    }
    how.start = *start;
    how.frozen = true;
  }
  const auto limiter = Limiter::Open(options.rules, {}, how.start);
  if (!limiter) {
    errors.Lines(limiter.error().message);
    if (!limiter.error().message.ends_with('\n')) errors.Print("\n");
    return 1;
  }
  how.reload = [&](Instant now) { return Reload(limiter->get(), options.rules, now); };
  if (options.prompt) Greet(**limiter, options.rules, out);
  Interpreter interpreter(limiter->get(), &clock, how);
  Converse(interpreter, options.prompt, in, out);
  return 0;
}

}  // namespace weir
