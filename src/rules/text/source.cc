#include "rules/text/source.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/plain_text.h"
#include "rules/text/utf8.h"

namespace weir {
namespace {

constexpr size_t kMostExcerpt = 120;

bool InsideCharacter(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

std::string ToString(const Diagnostic& diagnostic) {
  std::string text = PlainText(diagnostic.file);
  if (diagnostic.line != 0) {
    text += ":" + std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column);
  }
  return text + ": " + PlainText(diagnostic.message);
}

std::string ToString(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += ToString(diagnostic) + "\n";
  return text;
}

Source::Source(std::string file, std::string text, const ParseOptions& options)
    : file_(std::move(file)), text_(std::move(text)), options_(options) {}

void Source::Error(Mark at, std::string message) {
  Diagnostic diagnostic{file_, at.line, at.column, std::move(message), {}, 0};
  Excerpt(at, diagnostic);
  errors_.push_back(std::move(diagnostic));
  if (errors_.size() < kMostErrors) return;
  errors_.push_back({file_, UINT32_MAX, 0, "there may be more mistakes; this is enough", {}, 0});
  throw Enough();
}

void Source::TakeLimits(size_t count, Mark at) {
  limits_ += count;
  if (limits_ <= kMostLimits) return;
  Error(at, "the overrides up to here stand for more than " + std::to_string(kMostLimits) +
                " limits; give the resource fewer limits, or its subjects contracts");
  throw Enough();
}

void Source::Changed(Mark at, std::string path, std::string from, std::string to, std::string why) {
  changes_.push_back(
      {std::move(path), std::move(from), std::move(to), std::move(why), file_, at.line});
}

std::vector<Diagnostic> Source::SortedErrors() const {
  std::vector<Diagnostic> sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  if (!sorted.empty() && sorted.back().line == UINT32_MAX) sorted.back().line = 0;
  return sorted;
}

std::string Source::Place(Mark at) const {
  return file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string_view Source::Line(uint32_t line) {
  if (line_starts_.empty()) {
    line_starts_.push_back(0);
    for (size_t at = 0; (at = text_.find('\n', at)) != std::string::npos;) {
      line_starts_.push_back(++at);
    }
  }
  if (line == 0 || line > line_starts_.size()) return {};
  const size_t start = line_starts_[line - 1];
  const size_t end = std::min(text_.find('\n', start), text_.size());
  std::string_view view = std::string_view(text_).substr(start, end - start);
  if (view.ends_with('\r')) view.remove_suffix(1);
  return view;
}

void Source::Excerpt(Mark at, Diagnostic& diagnostic) {
  const std::string_view line = Line(at.line);
  if (line.empty() || at.column == 0) return;
  const size_t caret = std::min<size_t>(at.column - 1, line.size());
  size_t from =
      line.size() <= kMostExcerpt || caret < kMostExcerpt / 2 ? 0 : caret - kMostExcerpt / 2;
  size_t to = std::min(line.size(), from + kMostExcerpt);
  while (InsideCharacter(line, from)) ++from;
  while (InsideCharacter(line, to)) --to;
  diagnostic.excerpt = line.substr(from, to - from);
  const size_t place = caret > from ? caret - from : 0;
  diagnostic.caret = static_cast<uint32_t>(std::min(place, diagnostic.excerpt.size()));
  for (char& c : diagnostic.excerpt) {
    if (c != '\t' && ControlLength({&c, 1}) != 0) c = ' ';
  }
}

}  // namespace weir
