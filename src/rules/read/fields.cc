#include "rules/read/fields.h"

#include <algorithm>

#include "rules/text/scalars.h"

namespace weir {
namespace {

std::vector<std::string_view> NamesOf(std::span<const RuleKey> keys) {
  std::vector<std::string_view> names;
  for (const RuleKey& key : keys) names.push_back(key.name);
  return names;
}

}  // namespace

Fields::Fields(const Node& node, std::string_view what, std::span<const RuleKey> known,
               Source& source)
    : node_(node), what_(what), source_(source) {
  if (!node.IsMap()) {
    if (node.IsNull()) return;
    source.Error(node.mark, std::string(what) + " must be a map with the keys " +
                                Listed(NamesOf(known)) + ", but is " + Shown(node));
    return;
  }
  for (const Child& child : node.children) {
    const std::string_view key = child.key->text;
    if (std::any_of(known.begin(), known.end(), [&](const RuleKey& k) { return k.name == key; })) {
      continue;
    }
    const std::vector<std::string_view> names = NamesOf(known);
    std::string hint = Suggested(key, names);
    if (hint.empty()) hint = "; it takes " + Listed(names);
    source.Error(child.key->mark, Ticked(key) + " is no key of " + std::string(what) + hint);
  }
}

const Node* Fields::Find(std::string_view key) const {
  if (!node_.IsMap()) return nullptr;
  for (const Child& child : node_.children) {
    if (child.key->text == key) return child.node;
  }
  return nullptr;
}

const Node* Fields::Require(std::string_view key, std::string_view example) const {
  const Node* found = Find(key);
  if (found == nullptr && is_map()) {
    source_.Error(node_.mark, std::string(what_) + " needs `" + std::string(key) + "`, as `" +
                                  std::string(example) + "`");
  }
  return found;
}

const Node* Fields::FindList(std::string_view key) const {
  return FindKind(key, Node::Kind::kList, "a list");
}

const Node* Fields::FindMap(std::string_view key) const {
  return FindKind(key, Node::Kind::kMap, "a map");
}

const Node* Fields::FindKind(std::string_view key, Node::Kind kind, std::string_view name) const {
  const Node* found = Find(key);
  if (found == nullptr || found->kind == kind) return found;
  if (!found->IsNull()) {
    source_.Error(found->mark, "`" + std::string(key) + "` is " + Shown(*found) + "; it must be " +
                                   std::string(name));
  }
  return nullptr;
}

}  // namespace weir
