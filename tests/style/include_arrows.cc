#include "tests/style/include_arrows.h"

#include <map>
#include <regex>
#include <set>

namespace weir::style {
namespace {

using Arrows = std::map<std::string, std::set<std::string>, std::less<>>;

const Arrows& DirectArrows() {
  static const Arrows arrows = {
      {"include", {}},
      {"base", {"include"}},
      {"net", {"base"}},
      {"algorithms", {"base"}},
      {"rules", {"algorithms"}},
      {"store", {"algorithms"}},
      {"mail", {"base"}},
      {"replication", {"mail", "algorithms"}},
      {"allocation", {"mail", "algorithms"}},
      {"holds", {"store"}},
      {"limiter", {"rules", "holds"}},
      {"cluster", {"mail", "replication", "allocation", "store"}},
      {"cluster/net", {"cluster", "net"}},
      {"config", {"rules"}},
      {"fronts", {"limiter"}},
      {"server", {"fronts", "cluster", "cluster/net", "config", "net"}},
      {"cli", {"server"}},
      {"packet", {"limiter", "allocation"}},
      {"lab", {"cluster", "limiter"}},
      {"lab/live", {"lab"}},
      {"examples", {"include"}},
      {"clients", {"include"}},
  };
  return arrows;
}

// Free to include anything, being nobody's dependency.
const std::set<std::string, std::less<>>& Free() {
  static const std::set<std::string, std::less<>> free = {"tests", "fuzz", "bench"};
  return free;
}

bool MayUseSockets(std::string_view path, std::string_view part) {
  static const std::set<std::string, std::less<>> parts = {
      "cli", "net", "server", "fronts", "cluster/net", "packet", "clients", "lab/live"};
  return parts.count(part) > 0 || Free().count(part) > 0 || StartsWith(path, "src/store/redis") ||
         StartsWith(path, "src/config/postgres");
}

bool IsSocketHeader(const std::string& header) {
  static const std::regex sockets(
      "(sys/(socket|un|epoll|select)|poll|sys/poll|netdb|netinet/.*|arpa/.*|net/.*)\\.h|"
      "boost/(asio|beast).*|liburing\\.h|hiredis/.*|nghttp2/.*|libpq.*|zookeeper/.*|grpc(pp)?/.*");
  return std::regex_match(header, sockets);
}

std::string FirstFolders(std::string_view path, int count) {
  size_t at = std::string_view::npos;
  for (size_t from = 0; count > 0; --count, from = at + 1) {
    at = path.find('/', from);
    if (at == std::string_view::npos) return {};
  }
  return std::string(path.substr(0, at));
}

// Libraries of others, whose headers may be written in quotes too.
bool IsForeign(std::string_view included) {
  static const std::set<std::string, std::less<>> libraries = {
      "absl", "fmt", "yaml-cpp", "nlohmann", "CLI", "gtest", "rapidcheck", "benchmark", "google"};
  return libraries.count(FirstFolders(included, 1)) > 0;
}

// What is wrong with an include in a file of part `from`; empty if nothing is.
std::string Fault(const std::string& from, const std::string& included) {
  if (IsForeign(included)) return {};
  const std::string to = PartOf(IncludedPath(included));
  if (to.empty()) {
    return "\"" + included + "\" names no folder of the map; write the path from src/ or the root";
  }
  if (MayInclude(from, to)) return {};
  return from + " may not include " + to + " (\"" + included + "\")";
}

}  // namespace

std::string IncludedPath(const std::string& included) {
  if (StartsWith(included, "weir/")) return "include/" + included;
  const std::string top = FirstFolders(included, 1);
  if (Free().count(top) > 0 || top == "lab" || top == "clients" || top == "examples") {
    return included;
  }
  return "src/" + included;
}

std::string PartOf(std::string_view path) {
  if (StartsWith(path, "include/weir/")) return "include";
  if (StartsWith(path, "lab/live/") || path == "lab/main.cc") return "lab/live";
  if (StartsWith(path, "src/cluster/net/")) return "cluster/net";
  const std::string top = FirstFolders(path, 1);
  if (top == "src") {
    const std::string folder = FirstFolders(path.substr(4), 1);
    return DirectArrows().count(folder) > 0 ? folder : "";
  }
  return DirectArrows().count(top) > 0 || Free().count(top) > 0 ? top : "";
}

bool MayInclude(std::string_view from, std::string_view to) {
  if (from == to || to == "include" || Free().count(from) > 0) return true;
  const auto arrows = DirectArrows().find(from);
  if (arrows == DirectArrows().end()) return false;
  for (const std::string& next : arrows->second) {
    if (MayInclude(next, to)) return true;
  }
  return false;
}

Findings CheckIncludes(const SourceFile& file) {
  static const std::regex include_line("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*");
  Findings findings;
  const std::string part = PartOf(file.path);
  if (part.empty()) {
    findings.push_back({file.path, 1, "lies in no folder of the map"});
    return findings;
  }
  int number = 0;
  for (const std::string& line : Lines(file.text)) {
    ++number;
    std::smatch match;
    if (!std::regex_match(line, match, include_line)) continue;
    std::string what;
    if (match[1] == "\"") {
      what = Fault(part, match[2]);
    } else if (IsSocketHeader(match[2]) && !MayUseSockets(file.path, part)) {
      what = part + " may not use sockets (<" + match[2].str() + ">)";
    }
    if (!what.empty()) findings.push_back({file.path, number, what});
  }
  return findings;
}

}  // namespace weir::style
