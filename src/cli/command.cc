#include "cli/command.h"

#include <algorithm>
#include <charconv>
#include <deque>

#include "base/plain_text.h"
#include "base/time_text.h"

namespace weir {
namespace {

using Verb = Command::Verb;

constexpr uint64_t kMostRepeats = 10'000'000;

// Thrown nowhere: the first mistake is kept, and parsing goes on to its end.
class Parser {
 public:
  explicit Parser(std::string_view line) { Split(line); }

  Result<Command> Run() {
    TakeTime();
    if (Next("as")) command_.session = Word("SESSION");
    TakeRepeat();
    TakeVerb();
    if (mistake_.empty() && !words_.empty()) {
      Mistake(PlainFormat("'{}' is one word too many", words_.front()));
    }
    if (!mistake_.empty()) return Error{Code::kBadRequest, mistake_};
    return command_;
  }

 private:
  void Mistake(std::string what) {
    if (mistake_.empty()) mistake_ = std::move(what);
  }

  void Split(std::string_view line) {
    for (size_t at = 0; at < line.size();) {
      if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
        ++at;
      } else if (IsComment(line, at)) {
        return;
      } else if (line[at] == '"') {
        const size_t end = line.find('"', at + 1);
        if (end == std::string_view::npos) return Mistake("a quote without its end");
        words_.emplace_back(line.substr(at + 1, end - at - 1));
        at = end + 1;
      } else {
        const size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
        words_.emplace_back(line.substr(at, end - at));
        at = end;
      }
    }
  }

  // "#1" names a ticket, "# one" is a comment, and so is a line that begins with #.
  bool IsComment(std::string_view line, size_t at) const {
    if (line[at] != '#') return false;
    return words_.empty() || at + 1 == line.size() || line[at + 1] == ' ';
  }

  bool Next(std::string_view word) {
    if (words_.empty() || words_.front() != word) return false;
    words_.pop_front();
    return true;
  }

  std::string Word(std::string_view what) {
    if (words_.empty()) {
      Mistake(PlainFormat("{} is missing; 'help' shows how lines look", what));
      return {};
    }
    std::string word = std::move(words_.front());
    words_.pop_front();
    return word;
  }

  uint64_t Number(std::string_view text, std::string_view what) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      Mistake(PlainFormat("{} is a whole number from 0, not '{}'", what, text));
    }
    return value;
  }

  Duration Time(std::string_view text) {
    const std::optional<Duration> time = ParseDuration(text);
    if (!time) Mistake(PlainFormat("'{}' is no duration such as 250ms or 1.5s", text));
    return time.value_or(Duration{});
  }

  void TakeTime() {
    if (!words_.empty() && words_.front().size() > 1 && words_.front()[0] == '@') {
      command_.time = Word("TIME").substr(1);
    }
  }

  void TakeRepeat() {
    if (!Next("repeat")) return;
    command_.repeated = true;
    command_.repeat = Number(Word("N"), "N");
    if (command_.repeat > kMostRepeats) Mistake(PlainFormat("at most {} times", kMostRepeats));
    if (Next("every")) command_.every = Time(Word("DURATION"));
  }

  void TakeVerb() {
    if (words_.empty()) return;
    if (Next("at")) {
      command_.time = Word("TIME");
    } else if (Next("peek")) {
      TakeRequest(Verb::kPeek);
    } else if (Next("limits")) {
      TakeRequest(Verb::kLimits);
    } else if (Next("reserve")) {
      TakeRequest(Verb::kReserve);
    } else if (Next("settle")) {
      TakeSettle();
    } else if (Next("release")) {
      TakeHold(Verb::kRelease);
    } else if (Next("transfer")) {
      TakeHold(Verb::kTransfer);
    } else if (words_.size() == 2 && Next("seize")) {
      command_.verb = Verb::kSeize;
      command_.name = Word("TRANSFER");
    } else if (words_.size() == 2 && Next("end")) {
      command_.verb = Verb::kEnd;
      command_.session = Word("SESSION");
    } else if (words_.size() == 1 && TakeWord()) {
      words_.clear();
    } else {
      Next("request");
      TakeRequest(Verb::kRequest);
    }
  }

  bool TakeWord() {
    const std::string& word = words_.front();
    if (word == "reload") command_.verb = Verb::kReload;
    if (word == "help") command_.verb = Verb::kHelp;
    if (word == "quit" || word == "exit") command_.verb = Verb::kQuit;
    return command_.verb != Verb::kNothing;
  }

  void TakeRequest(Verb verb) {
    command_.verb = verb;
    command_.namespace_name = Word("NAMESPACE");
    command_.resource = Word("RESOURCE");
    command_.subject = Word("SUBJECT");
    bool has_amount = false;
    while (mistake_.empty() && !words_.empty()) {
      const std::string word = Word("");
      if (word.substr(0, 4) == "min=") {
        command_.least = Number(std::string_view(word).substr(4), "min");
      } else if (word.substr(0, 5) == "wait=" && verb == Verb::kReserve) {
        command_.wait = Time(std::string_view(word).substr(5));
      } else if (word == "settle" && verb == Verb::kRequest) {
        command_.settle = true;
      } else if (!has_amount) {
        command_.amount = Number(word, verb == Verb::kReserve ? "COPIES" : "COST");
        has_amount = true;
      } else {
        Mistake(PlainFormat("'{}' is one word too many", word));
      }
    }
    if (command_.least && *command_.least > command_.amount) Mistake("min is above the cost");
  }

  void TakeSettle() {
    command_.verb = Verb::kSettle;
    command_.name = Word("TICKET");
    command_.amount = Number(Word("COST"), "COST");
  }

  void TakeHold(Verb verb) {
    command_.verb = verb;
    command_.name = Word("HOLD");
    command_.amount = 0;
    if (!words_.empty() && words_.front().substr(0, 4) != "ttl=") {
      command_.amount = Number(Word("COPIES"), "COPIES");
    }
    if (verb == Verb::kRelease) return;
    const std::string ttl = Word("ttl=DURATION");
    if (ttl.substr(0, 4) != "ttl=") return Mistake(PlainFormat("'{}' is not ttl=DURATION", ttl));
    command_.ttl = Time(std::string_view(ttl).substr(4));
  }

  std::deque<std::string> words_;
  Command command_;
  std::string mistake_;
};

}  // namespace

Result<Command> ParseCommand(std::string_view line) { return Parser(line).Run(); }

}  // namespace weir
