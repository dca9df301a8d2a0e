#include "tests/style/layout.h"

#include <array>
#include <cstdio>
#include <regex>

namespace weir::style {
namespace {

// What a command prints, on either output.
std::string Output(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    text.append(buffer.data(), n);
  }
  pclose(pipe);
  return text;
}

}  // namespace

Findings CheckGuard(const SourceFile& file) {
  if (!EndsWith(file.path, ".h")) return {};
  int number = 0;
  for (const std::string& line : Lines(CodeOnly(file.text))) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (line == "#pragma once") return {};
    return {{file.path, number, "a header's first line of code is #pragma once"}};
  }
  return {{file.path, 1, "a header without #pragma once"}};
}

Findings CheckLeftovers(const SourceFile& file) {
  static const std::regex leftover(
      "\\b(TO"
      "DO|FIX"
      "ME|X"
      "XX)\\b");
  Findings findings;
  int number = 0;
  for (const std::string& line : Lines(file.text)) {
    ++number;
    std::smatch match;
    if (!std::regex_search(line, match, leftover)) continue;
    findings.push_back({file.path, number, "a " + match.str() + " left standing"});
  }
  return findings;
}

Findings CheckLength(const SourceFile& file) {
  const size_t lines = Lines(file.text).size();
  if (lines <= kLongFile) return {};
  return {{file.path, static_cast<int>(lines), "is longer than 500 lines"}};
}

std::string FindFormatter() {
  for (const std::string name : {"clang-format-14", "clang-format"}) {
    if (Output(name + " --version").find("version 14.") != std::string::npos) return name;
  }
  return {};
}

Findings CheckForm(const std::string& formatter, const std::string& root,
                   const std::vector<std::string>& paths) {
  std::string command = "cd '" + root + "' && " + formatter + " --style=file --dry-run";
  for (const std::string& path : paths) command += " '" + path + "'";
  static const std::regex warning("([^ :]+):([0-9]+):[0-9]+: (warning|error): .*");
  Findings findings;
  for (const std::string& line : Lines(Output(command))) {
    std::smatch match;
    if (!std::regex_match(line, match, warning)) continue;
    if (!findings.empty() && findings.back().path == match[1]) continue;
    findings.push_back({match[1], std::stoi(match[2]), "is not formatted: tools/format does it"});
  }
  return findings;
}

}  // namespace weir::style
