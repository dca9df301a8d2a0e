// Builds the tree of a Document from events, whatever the notation that they come from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rules/text/document.h"

namespace weir {

// The text is no document; thrown through the parser that reads it.
struct SyntaxError {
  Mark mark;
  std::string message;
};

class TreeBuilder {
 public:
  // An anchor of YAML; 0: none. They are numbered from 1 in order of appearance.
  using Anchor = size_t;

  explicit TreeBuilder(Document& document) : document_(document) {}

  void Null(Mark mark, Anchor anchor = 0);
  void Scalar(Mark mark, std::string_view text, bool quoted, Anchor anchor = 0);
  void Open(Node::Kind kind, Mark mark, Anchor anchor = 0);
  void Close();
  void Alias(Mark mark, Anchor anchor);

  // The keys that were doubled so far.
  const std::vector<SyntaxError>& doubled() const { return doubled_; }

 private:
  // What hangs below a node, aliases counted as what they stand for.
  struct Extent {
    uint64_t nodes = 1;
    uint32_t height = 1;
  };
  struct Anchored {
    const Node* node = nullptr;  // null while it is open
    Extent extent;
  };
  struct Pending {
    Node* node;
    Anchor anchor;
    Extent extent;
    const Node* key = nullptr;  // of a map: read, and waiting for its value
    std::vector<Child> children;
  };

  Node* New(Node::Kind kind, Mark mark);
  void Attach(const Node* node, const Extent& extent);
  void Remember(Anchor anchor, const Node* node, const Extent& extent);
  void CheckKey(const Node& key) const;
  void DropDoubledKeys(std::vector<Child>& members);
  void Bound(Mark mark, uint32_t depth) const;

  Document& document_;
  std::vector<Pending> open_;
  std::vector<Anchored> anchored_;
  uint64_t nodes_ = 0;
  std::vector<SyntaxError> doubled_;
};

}  // namespace weir
