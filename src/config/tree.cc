#include "config/tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rules/read/parse.h"
#include "rules/text/document.h"
#include "rules/text/number_text.h"
#include "rules/text/utf8.h"

namespace weir {
namespace {

Json FromScalar(const Node& node) {
  if (node.quoted) return std::string(node.text);
  if (node.text == "true") return true;
  if (node.text == "false") return false;
  if (const auto number = ParseNumber(node.text)) return *number;
  // A number that rules do not take stays one, for their reader to say so; unless it would come out
  // as another text, which may be meant as a name.
  std::string text(node.text);
  const Json number = Json::parse(text, nullptr, false);
  return number.is_number() && number.dump() == text ? number : Json(std::move(text));
}

Json FromNode(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull: return nullptr;
    case Node::Kind::kScalar: return FromScalar(node);
    case Node::Kind::kList: {
      Json list = Json::array();
      for (const Child& child : node.children) list.push_back(FromNode(*child.node));
      return list;
    }
    case Node::Kind::kMap: break;
  }
  Json map = Json::object();
  for (const Child& child : node.children) {
    map[std::string(child.key->text)] = FromNode(*child.node);
  }
  return map;
}

Error BadText(const std::vector<Diagnostic>& errors) {
  const Diagnostic& first = errors.front();
  std::string where = first.file.empty() ? "" : first.file + ": ";
  if (first.line != 0) {
    where +=
        "line " + std::to_string(first.line) + ", column " + std::to_string(first.column) + ": ";
  }
  return {Code::kBadRequest, where + first.message, ""};
}

Result<Json> ReadTree(Source& source) {
  const auto document = Document::Read(source);
  if (document == nullptr || source.error_count() > 0) return BadText(source.SortedErrors());
  return FromNode(document->root());
}

// The reader of rules is generous with what stands without quotes: 01 is not JSON.
bool HasGoodWords(const Node& node) {
  if (node.kind == Node::Kind::kScalar) return node.quoted || Json::accept(node.text);
  return std::all_of(node.children.begin(), node.children.end(),
                     [](const Child& child) { return HasGoodWords(*child.node); });
}

std::vector<std::string> RulesFiles(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".yaml") && !name.starts_with(".")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Walks the lines of PrintJsonLines.
class LineFinder {
 public:
  explicit LineFinder(uint32_t wanted) : wanted_(wanted) {}

  bool Find(const Json& node, const std::string& path) {
    if (line_ == wanted_) return found_ = path, true;
    if (!node.is_structured() || node.empty()) return false;
    size_t place = 0;
    for (const auto& member : node.items()) {
      ++line_;
      const std::string below = node.is_array() ? path + "[" + std::to_string(place++) + "]"
                                : path.empty()  ? member.key()
                                                : path + "." + member.key();
      if (Find(member.value(), below)) return true;
    }
    ++line_;
    if (line_ == wanted_) return found_ = path, true;
    return false;
  }
  const std::string& found() const { return found_; }

 private:
  const uint32_t wanted_;
  uint32_t line_ = 1;
  std::string found_;
};

// Where a Normalisation's path leads: the parent, and the member. A name may hold dots and brackets,
// so that every name that fits is tried.
struct Place {
  Json* parent = nullptr;
  std::string key;   // of a map
  size_t index = 0;  // of a list
};

bool FindPlace(Json& node, std::string_view path, Place& place) {
  if (node.is_array()) {
    const size_t end = path.find(']');
    if (!path.starts_with('[') || end == std::string_view::npos) return false;
    const auto index = ParseNumber(path.substr(1, end - 1));
    if (!index || *index >= node.size()) return false;
    path.remove_prefix(end + 1);
    if (path.empty()) return place = {&node, "", *index}, true;
    return FindPlace(node[*index], path, place);
  }
  if (!node.is_object()) return false;
  if (path.starts_with('.')) path.remove_prefix(1);
  for (const auto& member : node.items()) {
    if (!path.starts_with(member.key())) continue;
    const std::string_view rest = path.substr(member.key().size());
    if (rest.empty()) return place = {&node, member.key(), 0}, true;
    if ((rest[0] == '.' || rest[0] == '[') && FindPlace(member.value(), rest, place)) return true;
  }
  return false;
}

bool ApplyOne(const Normalisation& change, Json& tree) {
  Place place;
  if (!FindPlace(tree, change.path, place)) return false;
  if (change.to == "removed" && place.parent->is_array()) {
    place.parent->erase(place.index);
    return true;
  }
  Json& value =
      place.parent->is_array() ? (*place.parent)[place.index] : (*place.parent)[place.key];
  const auto number = ParseNumber(change.to);
  value = number ? Json(*number) : Json(change.to);
  return true;
}

void Differ(const Json& from, const Json& to, const std::string& path,
            std::vector<std::string>& lines) {
  if (from == to) return;
  if (!from.is_object() || !to.is_object()) {
    lines.push_back("~ " + path + ": " + PrintJson(from) + " -> " + PrintJson(to));
    return;
  }
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& member : from.items()) {
    const auto found = to.find(member.key());
    if (found == to.end()) {
      lines.push_back("- " + below(member.key()) + ": " + PrintJson(member.value()));
    } else {
      Differ(member.value(), *found, below(member.key()), lines);
    }
  }
  for (const auto& member : to.items()) {
    if (from.contains(member.key())) continue;
    lines.push_back("+ " + below(member.key()) + ": " + PrintJson(member.value()));
  }
}

}  // namespace

Result<Json> ReadJsonTree(std::string_view text) {
  Source source("", std::string(text), {});
  if (FirstBadByte(text) != text.size()) {
    return Error{Code::kBadRequest, "the body is not UTF-8 without control characters", ""};
  }
  // Of YAML and its aliases nothing is taken from strangers. A bare word or number is a document
  // too, which the reader of files would take for YAML; it is no node of the rules.
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) {
    return Error{Code::kBadRequest, "the body must be a map or a list in JSON", ""};
  }
  const auto document = Document::ReadJsonOnly(source);
  if (document == nullptr || source.error_count() > 0) return BadText(source.SortedErrors());
  if (!HasGoodWords(document->root())) {
    return Error{Code::kBadRequest, "the body is not JSON: a number is not written as one", ""};
  }
  return FromNode(document->root());
}

Result<Json> ReadRulesTree(std::string text, std::string file_name) {
  Source source(std::move(file_name), std::move(text), {});
  return ReadTree(source);
}

Result<Json> LoadNamespaces(const std::string& path, const ParseOptions& options) {
  const ParseResult parsed = LoadRulesPath(path, options);
  if (!parsed.ok()) return Error{Code::kBadRequest, ToString(parsed.errors), ""};
  Json all = Json::object();
  for (const std::string& file : RulesFiles(path)) {
    std::stringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    const Result<Json> tree = ReadRulesTree(text.str(), file);
    if (!tree) return tree.error();
    const Json namespaces = tree->is_object() ? tree->value("namespaces", Json()) : Json();
    if (namespaces.is_object()) all.update(namespaces);
  }
  return all;
}

std::string PrintJson(const Json& tree) {
  return tree.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string PrintJsonLines(const Json& tree) {
  return tree.dump(1, ' ', false, Json::error_handler_t::replace);
}

std::string PathOfLine(const Json& tree, uint32_t line) {
  LineFinder finder(line);
  finder.Find(tree, "");
  return finder.found();
}

bool ApplyNormalisations(const std::vector<Normalisation>& changes, Json& tree) {
  // From the last to the first: what is removed moves nothing that is still to be found.
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    if (!ApplyOne(*change, tree)) return false;
  }
  return true;
}

std::vector<std::string> Differences(const Json& from, const Json& to) {
  std::vector<std::string> lines;
  Differ(from, to, "", lines);
  return lines;
}

}  // namespace weir
