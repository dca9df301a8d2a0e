#include "tests/style/source_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weir::style {
namespace {

namespace fs = std::filesystem;

// Where comments, strings and characters begin and end.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), out_(text) {}

  std::string Run() {
    while (at_ < text_.size()) Step();
    return std::move(out_);
  }

 private:
  void Step() {
    if (Here("//")) {
      BlankUntil("\n", 0);
    } else if (Here("/*")) {
      BlankUntil("*/", 2);
    } else if (Here("R\"")) {
      const size_t open = text_.find('(', at_);
      const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
      BlankUntil(end, end.size());
    } else if (text_[at_] == '"' || (text_[at_] == '\'' && !InNumber())) {
      Quoted(text_[at_]);
    } else {
      ++at_;
    }
  }

  bool Here(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  // 1'000'000
  bool InNumber() const { return at_ > 0 && isalnum(static_cast<unsigned char>(text_[at_ - 1])); }

  void BlankUntil(std::string_view end, size_t length) {
    const size_t found = text_.find(end, at_ + 1);
    const size_t stop = found == std::string_view::npos ? text_.size() : found + length;
    for (; at_ < stop; ++at_) Blank();
  }

  void Quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\') Blank(), ++at_;
      if (at_ < text_.size()) Blank(), ++at_;
    }
    ++at_;
  }

  void Blank() {
    if (out_[at_] != '\n') out_[at_] = ' ';
  }

  std::string_view text_;
  std::string out_;
  size_t at_ = 0;
};

bool IsOurs(const fs::path& path) {
  const std::string name = path.filename().string();
  return !StartsWith(name, ".") && name != "build" && !StartsWith(name, "build-") &&
         name != "node_modules";
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string Finding::ToString() const { return path + ":" + std::to_string(line) + ": " + what; }

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string CodeOnly(std::string_view text) { return Blanker(text).Run(); }

std::vector<SourceFile> ReadRepository(const std::string& root) {
  std::vector<SourceFile> files;
  for (fs::recursive_directory_iterator it(root), end; it != end; ++it) {
    if (!IsOurs(it->path())) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file()) {
      files.push_back({fs::relative(it->path(), root).generic_string(), ReadFile(it->path())});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace weir::style
