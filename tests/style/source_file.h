// What the style checks read: a file's path in the repository and its text. A check is a function
// of one of these, so that it can be shown a planted text as well as the repository.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::style {

struct SourceFile {
  std::string path;  // from the repository's root, with slashes
  std::string text;
};

struct Finding {
  std::string path;
  int line = 0;
  std::string what;
  std::string ToString() const;
};
using Findings = std::vector<Finding>;

bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);
std::vector<std::string> Lines(std::string_view text);

// The text with comments and the contents of strings and characters blanked; lines stay in place.
std::string CodeOnly(std::string_view text);

// The files below `root` that are ours: not build folders, not what begins with a dot.
std::vector<SourceFile> ReadRepository(const std::string& root);

}  // namespace weir::style
