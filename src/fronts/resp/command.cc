#include "fronts/resp/command.h"

#include <charconv>
#include <optional>

#include "fronts/protocol.h"

namespace weir::resp {
namespace {

constexpr size_t kLongestCount = 32;  // of a line that holds a number

Parsed Broken(std::string_view why) { return {.outcome = Outcome::kBroken, .error = why}; }

// A line that holds one number behind its first letter.
struct CountLine {
  enum class State { kIncomplete, kRead, kTooLong, kNoNumber } state;
  int64_t count = 0;
  size_t end = 0;  // behind the line
};

CountLine ReadCount(std::string_view in, size_t at) {
  const std::string_view line = in.substr(at + 1, kLongestCount);
  const size_t length = line.find('\r');
  if (length == std::string_view::npos || length + 1 == line.size()) {
    const bool full = line.size() == kLongestCount;
    return {full ? CountLine::State::kTooLong : CountLine::State::kIncomplete};
  }
  CountLine read{CountLine::State::kNoNumber, 0, at + 1 + length + 2};
  const char* const end = line.data() + length;
  const auto [stop, error] = std::from_chars(line.data(), end, read.count);
  if (length > 0 && error == std::errc() && stop == end && line[length + 1] == '\n') {
    read.state = CountLine::State::kRead;
  }
  return read;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Splits a line as redis-cli and redis-server do: "..." with escapes, '...' with \' only.
class Splitter {
 public:
  // `unquoted` has room for the whole line, so that it does not move.
  Splitter(std::string_view line, std::string& unquoted) : line_(line), unquoted_(unquoted) {}

  // The next word; nothing at the end, or where a quote is not closed as it should be.
  std::optional<std::string_view> Next() {
    while (at_ < line_.size() && IsBlank(line_[at_])) ++at_;
    if (at_ == line_.size()) return std::nullopt;
    const size_t from = at_;
    while (at_ < line_.size() && !IsBlank(line_[at_])) {
      if (line_[at_] == '"' || line_[at_] == '\'') return Quoted(from);
      ++at_;
    }
    return line_.substr(from, at_ - from);
  }
  bool broken() const { return broken_; }

 private:
  static bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

  std::optional<std::string_view> Quoted(size_t from) {
    const char quote = line_[at_];
    const size_t start = unquoted_.size();
    unquoted_.append(line_.substr(from, at_ - from));
    for (++at_; at_ < line_.size() && line_[at_] != quote; ++at_) {
      if (line_[at_] == '\\' && at_ + 1 < line_.size()) {
        Escaped(quote);
      } else {
        unquoted_.push_back(line_[at_]);
      }
    }
    broken_ = at_ == line_.size() || (at_ + 1 < line_.size() && !IsBlank(line_[at_ + 1]));
    if (broken_) return std::nullopt;
    ++at_;
    return std::string_view(unquoted_).substr(start);
  }

  void Escaped(char quote) {
    const char next = line_[at_ + 1];
    if (quote == '\'') {
      if (next == '\'') ++at_;
      unquoted_.push_back(line_[at_]);
      return;
    }
    if (next == 'x' && at_ + 3 < line_.size()) {
      const int high = HexDigit(line_[at_ + 2]), low = HexDigit(line_[at_ + 3]);
      if (high >= 0 && low >= 0) {
        unquoted_.push_back(static_cast<char>(high * 16 + low));
        at_ += 3;
        return;
      }
    }
    ++at_;
    switch (next) {
      case 'n': unquoted_.push_back('\n'); break;
      case 'r': unquoted_.push_back('\r'); break;
      case 't': unquoted_.push_back('\t'); break;
      case 'b': unquoted_.push_back('\b'); break;
      case 'a': unquoted_.push_back('\a'); break;
      default: unquoted_.push_back(next);
    }
  }

  const std::string_view line_;
  std::string& unquoted_;
  size_t at_ = 0;
  bool broken_ = false;
};

}  // namespace

Parsed CommandParser::Next(std::string_view in, Words& words, size_t most) {
  words.clear();
  if (in.empty() || in.size() < wanted_) return {};
  wanted_ = 0;
  return in[0] == '*' ? Array(in, words, most) : Inline(in, words, most);
}

Parsed CommandParser::Array(std::string_view in, Words& words, size_t most) {
  const CountLine head = ReadCount(in, 0);
  switch (head.state) {
    case CountLine::State::kIncomplete: return {};
    case CountLine::State::kTooLong: return Broken("too big mbulk count string");
    case CountLine::State::kNoNumber: return Broken("invalid multibulk length");
    case CountLine::State::kRead: break;
  }
  if (head.count > static_cast<int64_t>(kMostArguments)) return Broken("invalid multibulk length");
  size_t at = head.end;
  for (int64_t i = 0; i < head.count; ++i) {
    if (at == in.size()) return {};
    if (in[at] != '$') return Broken("expected '$' before an argument");
    const CountLine line = ReadCount(in, at);
    switch (line.state) {
      case CountLine::State::kIncomplete: return {};
      case CountLine::State::kTooLong: return Broken("too big bulk count string");
      case CountLine::State::kNoNumber: return Broken("invalid bulk length");
      case CountLine::State::kRead: break;
    }
    if (line.count < 0 || line.count > static_cast<int64_t>(kMostBulk)) {
      return Broken("invalid bulk length");
    }
    const size_t length = static_cast<size_t>(line.count);
    const size_t end = line.end + length + 2;
    if (end > most) return Broken("too big command");
    if (in.size() < end) {
      wanted_ = end;
      return {};
    }
    if (in[end - 2] != '\r' || in[end - 1] != '\n')
      return Broken("expected the end of an argument");
    words.push_back(in.substr(line.end, length));
    at = end;
  }
  return {.outcome = Outcome::kCommand, .used = at};
}

Parsed CommandParser::Inline(std::string_view in, Words& words, size_t most) {
  const size_t longest = std::min(kMostInline, most);
  const size_t end = in.substr(0, longest).find('\n');
  if (end == std::string_view::npos) {
    if (in.size() >= longest) return Broken("too big inline request");
    return {};
  }
  std::string_view line = in.substr(0, end);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  unquoted_.clear();
  unquoted_.reserve(line.size());
  Splitter splitter(line, unquoted_);
  while (const std::optional<std::string_view> word = splitter.Next()) {
    if (words.size() == kMostArguments) return Broken("too many arguments");
    words.push_back(*word);
  }
  if (splitter.broken()) return Broken("unbalanced quotes in request");
  return {.outcome = Outcome::kCommand, .used = end + 1, .copied = !unquoted_.empty()};
}

}  // namespace weir::resp
