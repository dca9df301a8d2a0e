// One file while it is read: its text, and what was found in it.
//
// Errors are collected, so that the writer sees all of them at once. Reading ends, by an exception
// that parse.cc catches, where it would cost more than it is worth: after kMostErrors errors, and
// where a few bytes would become more than kMostLimits limits (each override of a resource holds a
// copy of all its limits).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/parse_options.h"
#include "rules/text/diagnostic.h"

namespace weir {

class Source {
 public:
  static constexpr size_t kMostErrors = 1000;
  static constexpr size_t kMostLimits = 1'000'000;

  struct Enough {};  // thrown

  Source(std::string file, std::string text, const ParseOptions& options);

  void Error(Mark at, std::string message);
  // So many more limits are about to be built.
  void TakeLimits(size_t count, Mark at);
  void Changed(Mark at, std::string path, std::string from, std::string to, std::string why);

  const std::string& file() const { return file_; }
  std::string_view text() const { return text_; }
  const ParseOptions& options() const { return options_; }
  size_t error_count() const { return errors_.size(); }
  const std::vector<Normalisation>& changes() const { return changes_; }
  // In order of place.
  std::vector<Diagnostic> SortedErrors() const;
  // "file:line:column".
  std::string Place(Mark at) const;

 private:
  std::string_view Line(uint32_t line);
  void Excerpt(Mark at, Diagnostic& diagnostic);

  const std::string file_;
  const std::string text_;
  const ParseOptions options_;
  std::vector<Diagnostic> errors_;
  size_t limits_ = 0;
  std::vector<Normalisation> changes_;
  std::vector<size_t> line_starts_;  // filled by the first error
};

}  // namespace weir
