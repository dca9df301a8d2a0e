// What the reader of a rules file tells its writer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir {

// A place in a file, counted from 1. Line 0: the file as a whole. Columns count bytes.
struct Mark {
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const Mark&) const = default;
};

// A mistake: what is wrong and what would be right.
struct Diagnostic {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string message;
  std::string excerpt;  // the line, or of a long one the part around the column
  uint32_t caret = 0;   // the byte of the excerpt that the column points to
};

// "file:line:column: message".
std::string ToString(const Diagnostic& diagnostic);
// One a line.
std::string ToString(const std::vector<Diagnostic>& diagnostics);

// A rule that was accepted, but not as it was written (Charon, section 4.1).
struct Normalisation {
  std::string path;  // "namespaces.shop.resources.video.tiers.tiers[0].window"
  std::string from;
  std::string to;
  std::string why;
  std::string file;
  uint32_t line = 0;
};

}  // namespace weir
