#include "server/try_command.h"

#include <optional>

#include "fmt/format.h"
#include "rules/rulebook.h"
#include "server/interpreter.h"
#include "server/time_text.h"
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
  for (const Namespace& ns : rules.namespaces()) {
    for (const Resource& resource : ns.resources) {
      if (++count > kMost) return text;
      const bool copies = resource.kind == Resource::Kind::kCopies;
      text += fmt::format("  {}{} {} ann\n", copies ? "reserve " : "", ns.name, resource.name);
    }
  }
  return text;
}

void Greet(const Limiter& limiter, const std::string& path, std::ostream& out) {
  out << "The rules of " << path << " are in force. Type a request, such as\n"
      << Suggestions(*limiter.rules()) << "once or many times. 'help' shows more, 'quit' ends.\n";
}

void Converse(Interpreter& interpreter, bool prompt, std::istream& in, std::ostream& out) {
  std::string line;
  while (!interpreter.quit()) {
    if (prompt) out << "weir> " << std::flush;
    if (!std::getline(in, line)) {
      if (prompt) out << "\n";
      return;
    }
    const std::string answer = interpreter.Run(line);
    if (!answer.empty()) out << answer << std::endl;
  }
}

}  // namespace

int RunTry(const TryOptions& options, std::istream& in, std::ostream& out, std::ostream& errors) {
  SystemClock clock;
  Interpreter::Options how;
  how.start = clock.Now();
  how.style.colours = options.colours;
  if (!options.start.empty()) {
    const std::optional<Instant> start = ParseInstant(options.start, Instant{});
    if (!start) {
      errors << "--start wants a time such as 2026-11-15T10:00:00Z, not " << options.start << "\n";
      return 1;
    }
    how.start = *start;
    how.frozen = true;
  }
  const auto limiter = Limiter::Open(options.rules, {}, how.start);
  if (!limiter) {
    errors << limiter.error().message << "\n";
    return 1;
  }
  how.reload = [&](Instant now) { return Reload(limiter->get(), options.rules, now); };
  if (options.prompt) Greet(**limiter, options.rules, out);
  Interpreter interpreter(limiter->get(), &clock, how);
  Converse(interpreter, options.prompt, in, out);
  return 0;
}

}  // namespace weir
