// One file while it is read: its text, and what was found in it.
//
// Errors are collected, not thrown, so that the writer sees all of them at once. Of a file that is
// nothing but errors the first kMostErrors are kept; the others are counted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/diagnostic.h"
#include "rules/parse_options.h"

namespace weir {

class Source {
 public:
  static constexpr size_t kMostErrors = 1000;

  Source(std::string file, std::string text, const ParseOptions& options);

  void Error(Mark at, std::string message);
  void Changed(Mark at, std::string path, std::string from, std::string to, std::string why);

  const std::string& file() const { return file_; }
  std::string_view text() const { return text_; }
  const ParseOptions& options() const { return options_; }
  size_t error_count() const { return error_count_; }
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
  size_t error_count_ = 0;
  std::vector<Normalisation> changes_;
  std::vector<size_t> line_starts_;  // filled by the first error
};

}  // namespace weir
