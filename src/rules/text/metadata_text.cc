#include "rules/text/metadata_text.h"

#include <charconv>

#include "rules/text/scalar_text.h"

namespace weir {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Metadata ReadScalar(const Node& node) {
  const std::string_view text = node.text;
  if (node.quoted) return {std::string(text)};
  if (text == "true" || text == "false") return {text == "true"};
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const bool zeros = digits.size() > 1 && digits[0] == '0' && IsDigit(digits[1]);
  if (!digits.empty() && IsDigit(digits[0]) && !zeros) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && stop == end) return {number};
  }
  return {std::string(text)};
}

std::string PrintValue(std::monostate) { return "null"; }
std::string PrintValue(bool flag) { return flag ? "true" : "false"; }
std::string PrintValue(double number) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number);
  return error == std::errc() ? std::string(buffer, end) : "0";
}
std::string PrintValue(const std::string& text) { return PrintScalar(text); }
std::string PrintValue(const Metadata::List& list) {
  std::string text;
  for (const Metadata& item : list) text += (text.empty() ? "" : ", ") + PrintMetadata(item);
  return "[" + text + "]";
}
std::string PrintValue(const Metadata::Map& map) {
  std::string text;
  for (const auto& [key, value] : map) {
    text += (text.empty() ? "" : ", ") + PrintScalar(key) + ": " + PrintMetadata(value);
  }
  return "{" + text + "}";
}

Metadata ReadBelow(const Node& node, uint32_t depth, Source& source) {
  if (depth > kMostMetadataDepth) {
    source.Error(node.mark, "metadata is nested more than " + std::to_string(kMostMetadataDepth) +
                                " levels deep");
    return {};
  }
  switch (node.kind) {
    case Node::Kind::kNull: return {};
    case Node::Kind::kScalar: return ReadScalar(node);
    case Node::Kind::kList: {
      Metadata::List list;
      for (const Child& child : node.children) {
        list.push_back(ReadBelow(*child.node, depth + 1, source));
      }
      return {std::move(list)};
    }
    case Node::Kind::kMap: {
      Metadata::Map map;
      for (const Child& child : node.children) {
        map.push_back({std::string(child.key->text), ReadBelow(*child.node, depth + 1, source)});
      }
      return {std::move(map)};
    }
  }
  __builtin_unreachable();
}

}  // namespace

Metadata ReadMetadata(const Node& node, Source& source) { return ReadBelow(node, 1, source); }

std::string PrintMetadata(const Metadata& metadata) {
  return std::visit([](const auto& value) { return PrintValue(value); }, metadata.value);
}

}  // namespace weir
