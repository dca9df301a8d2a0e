// A tree in YAML: maps as blocks; what hangs in a list, on one line.
#include "config/tree.h"
#include "rules/text/lines.h"
#include "rules/text/scalar_text.h"

namespace weir {
namespace {

std::string Scalar(const Json& value) {
  return value.is_string() ? PrintScalar(value.get<std::string>()) : PrintJson(value);
}

std::string Flow(const Json& value) {
  std::string text;
  if (value.is_array()) {
    for (const Json& member : value) text += (text.empty() ? "" : ", ") + Flow(member);
    return "[" + text + "]";
  }
  if (!value.is_object()) return Scalar(value);
  const auto add = [&](const std::string& key, const Json& member) {
    text += (text.empty() ? "" : ", ") + PrintScalar(key) + ": " + Flow(member);
  };
  // What it is called comes first.
  for (const char* key : {"name", "subject", "key"}) {
    if (value.contains(key)) add(key, value[key]);
  }
  for (const auto& member : value.items()) {
    const std::string& key = member.key();
    if (key != "name" && key != "subject" && key != "key") add(key, member.value());
  }
  return "{" + text + "}";
}

void Block(const Json& map, Lines& lines) {
  for (const auto& member : map.items()) {
    const Json& value = member.value();
    const std::string key = PrintScalar(member.key()) + ":";
    const bool of_maps = value.is_array() && !value.empty() && value.front().is_object();
    if (value.is_object() && !value.empty()) {
      lines.Add(key);
      lines.Below([&] { Block(value, lines); });
    } else if (of_maps) {
      lines.Add(key);
      lines.Below([&] {
        for (const Json& one : value) lines.Add("- " + Flow(one));
      });
    } else {
      lines.Add(key + " " + Flow(value));
    }
  }
}

}  // namespace

std::string PrintYaml(const Json& tree) {
  if (!tree.is_object() || tree.empty()) return Flow(tree) + "\n";
  Lines lines;
  Block(tree, lines);
  return std::move(lines).Take();
}

}  // namespace weir
