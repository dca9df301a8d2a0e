#include "rules/text/tree_builder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "rules/text/scalars.h"

namespace weir {

void TreeBuilder::Null(Mark mark, Anchor anchor) {
  const Node* node = New(Node::Kind::kNull, mark);
  Remember(anchor, node, {});
  Attach(node, {});
}

void TreeBuilder::Scalar(Mark mark, std::string_view text, bool quoted, Anchor anchor) {
  Node* node = New(Node::Kind::kScalar, mark);
  node->quoted = quoted;
  if (!text.empty()) {
    char* copy = static_cast<char*>(document_.memory_.allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    node->text = {copy, text.size()};
  }
  Remember(anchor, node, {});
  Attach(node, {});
}

void TreeBuilder::Open(Node::Kind kind, Mark mark, Anchor anchor) {
  Bound(mark, 1);
  Node* node = New(kind, mark);
  Remember(anchor, nullptr, {});
  open_.push_back({node, anchor, {}, nullptr, {}});
}

void TreeBuilder::Close() {
  Pending closed = std::move(open_.back());
  open_.pop_back();
  if (closed.node->IsMap()) DropDoubledKeys(closed.children);
  const size_t count = closed.children.size();
  if (count > 0) {
    void* memory = document_.memory_.allocate(count * sizeof(Child), alignof(Child));
    std::memcpy(memory, closed.children.data(), count * sizeof(Child));
    closed.node->children = {static_cast<const Child*>(memory), count};
  }
  Remember(closed.anchor, closed.node, closed.extent);
  Attach(closed.node, closed.extent);
}

void TreeBuilder::Alias(Mark mark, Anchor anchor) {
  if (anchor >= anchored_.size() || anchored_[anchor].node == nullptr) {
    throw SyntaxError{mark, "this alias stands for something that contains it"};
  }
  const Anchored& target = anchored_[anchor];
  nodes_ += target.extent.nodes;
  Bound(mark, target.extent.height);
  Attach(target.node, target.extent);
}

Node* TreeBuilder::New(Node::Kind kind, Mark mark) {
  nodes_ += 1;
  Bound(mark, 0);
  Node* node = new (document_.memory_.allocate(sizeof(Node), alignof(Node))) Node;
  node->kind = kind;
  node->mark = mark;
  return node;
}

void TreeBuilder::Attach(const Node* node, const Extent& extent) {
  if (open_.empty()) {
    document_.root_ = node;
    return;
  }
  Pending& parent = open_.back();
  parent.extent.nodes += extent.nodes;
  parent.extent.height = std::max(parent.extent.height, extent.height + 1);
  if (parent.node->IsMap() && parent.key == nullptr) {
    CheckKey(*node);
    parent.key = node;
    return;
  }
  parent.children.push_back({parent.key, node});
  parent.key = nullptr;
}

void TreeBuilder::Remember(Anchor anchor, const Node* node, const Extent& extent) {
  if (anchor == 0) return;
  if (anchor >= anchored_.size()) anchored_.resize(anchor + 1);
  anchored_[anchor] = {node, extent};
}

void TreeBuilder::CheckKey(const Node& key) const {
  if (key.IsScalar()) return;
  throw SyntaxError{key.mark, "a key must be a word, not a list, a map or nothing"};
}

void TreeBuilder::DropDoubledKeys(std::vector<Child>& members) {
  constexpr size_t kFew = 16;  // below, comparing all with all is quicker than hashing
  std::unordered_map<std::string_view, const Node*> seen;
  if (members.size() > kFew) seen.reserve(members.size());
  size_t kept = 0;
  for (const Child& member : members) {
    const std::string_view name = member.key->text;
    const Node* first = nullptr;
    if (members.size() > kFew) {
      const auto [at, is_new] = seen.try_emplace(name, member.key);
      if (!is_new) first = at->second;
    } else {
      for (size_t i = 0; i < kept && first == nullptr; ++i) {
        if (members[i].key->text == name) first = members[i].key;
      }
    }
    if (first == nullptr) {
      members[kept++] = member;
    } else {
      doubled_.push_back({member.key->mark, "key " + Ticked(name) +
                                                " is here a second time; the first is on line " +
                                                std::to_string(first->mark.line)});
    }
  }
  members.resize(kept);
}

void TreeBuilder::Bound(Mark mark, uint32_t depth) const {
  if (nodes_ > Document::kMostNodes) {
    throw SyntaxError{mark, "the file has more than " + std::to_string(Document::kMostNodes) +
                                " parts, aliases counted as what they stand for"};
  }
  if (open_.size() + depth > Document::kMostDepth) {
    throw SyntaxError{mark,
                      "nested more than " + std::to_string(Document::kMostDepth) + " levels deep"};
  }
}

}  // namespace weir
