#include "tests/style/folder_cycles.h"

#include <map>
#include <regex>
#include <set>

#include "tests/style/include_arrows.h"

namespace weir::style {
namespace {

struct Place {
  std::string path;
  int line = 0;
};
// Of each folder, those that it includes, and where first.
using Graph = std::map<std::string, std::map<std::string, Place>>;

std::string FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

bool LiesIn(const std::string& inner, const std::string& outer) {
  return StartsWith(inner, outer + "/");
}

bool IsSource(const std::string& path) {
  const bool code = EndsWith(path, ".h") || EndsWith(path, ".cc");
  const bool free =
      StartsWith(path, "tests/") || StartsWith(path, "fuzz/") || StartsWith(path, "bench/");
  return code && !free;
}

Graph GraphOf(const std::vector<SourceFile>& files) {
  static const std::regex include_line("^\\s*#\\s*include\\s*\"([^\"]+)\".*");
  Graph graph;
  for (const SourceFile& file : files) {
    if (!IsSource(file.path)) continue;
    const std::string from = FolderOf(file.path);
    int number = 0;
    for (const std::string& line : Lines(file.text)) {
      ++number;
      std::smatch match;
      if (!std::regex_match(line, match, include_line)) continue;
      const std::string to = FolderOf(IncludedPath(match[1]));
      if (to == from || LiesIn(to, from) || LiesIn(from, to)) continue;
      graph[from].try_emplace(to, Place{file.path, number});
    }
  }
  return graph;
}

// The way from one folder to another, with both; empty if there is none.
std::vector<std::string> Way(const Graph& graph, const std::string& from, const std::string& to) {
  std::map<std::string, std::string> came_from{{from, ""}};
  std::vector<std::string> next = {from};
  while (!next.empty()) {
    const std::string at = next.back();
    next.pop_back();
    if (at == to) {
      std::vector<std::string> way;
      for (std::string step = to; !step.empty(); step = came_from[step]) {
        way.insert(way.begin(), step);
      }
      return way;
    }
    const auto found = graph.find(at);
    if (found == graph.end()) continue;
    for (const auto& [folder, place] : found->second) {
      if (came_from.try_emplace(folder, at).second) next.push_back(folder);
    }
  }
  return {};
}

}  // namespace

Findings CheckFolderCycles(const std::vector<SourceFile>& files) {
  const Graph graph = GraphOf(files);
  Findings findings;
  for (const auto& [from, all] : graph) {
    for (const auto& [to, place] : all) {
      const std::vector<std::string> back = Way(graph, to, from);
      if (back.empty()) continue;
      std::string what = from + " needs " + to + ", which needs it";
      if (back.size() > 2) {
        what += " by way of";
        for (size_t i = 1; i + 1 < back.size(); ++i) what += " " + back[i];
      }
      findings.push_back({place.path, place.line, what});
    }
  }
  return findings;
}

}  // namespace weir::style
