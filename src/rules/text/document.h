// A rules file as a tree, with the place of everything in it. YAML, of which JSON is a part.
//
// What arrives may be hostile, so the tree is bounded before anybody walks it: at most kMostBytes
// of text, kMostDepth levels, kMostNodes nodes, where a node counts as often as aliases repeat it
// ("billion laughs"). With aliases a node may hang below several parents, but never below itself.
//
// A doubled key is a mistake that YAML libraries do not report; it is noted here, and the first one
// stands.
#pragma once

#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>

#include "rules/text/diagnostic.h"
#include "rules/text/source.h"

namespace weir {

struct Node;

// A member of a list (no key) or of a map.
struct Child {
  const Node* key = nullptr;
  const Node* node = nullptr;
};

struct Node {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  bool quoted = false;  // a scalar in quotes: text, whatever it looks like
  Mark mark;
  std::string_view text;            // of a scalar
  std::span<const Child> children;  // of a list or a map

  bool IsNull() const { return kind == Kind::kNull; }
  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsMap() const { return kind == Kind::kMap; }
};

class Document {
 public:
  static constexpr size_t kMostBytes = size_t{16} << 20;
  static constexpr uint32_t kMostDepth = 64;
  static constexpr uint64_t kMostNodes = 4'000'000;

  // Null, and an error noted, if the text is not one well-formed document.
  static std::unique_ptr<const Document> Read(Source& source);

  // The same of a text that must be JSON: of YAML and its aliases nothing is taken from strangers.
  static std::unique_ptr<const Document> ReadJsonOnly(Source& source);

  const Node& root() const { return *root_; }

 private:
  friend class TreeBuilder;
  static std::unique_ptr<const Document> Read(Source& source, bool yaml);
  std::pmr::monotonic_buffer_resource memory_;
  const Node* root_ = nullptr;
};

}  // namespace weir
