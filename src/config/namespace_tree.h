// The rules of one namespace as they were written: a tree of JSON, and its text in pieces, one for each
// resource. A change of one resource among ten thousand is written and read without touching the others.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "config/tree.h"
#include "rules/read/parse.h"

namespace weir {

class NamespaceTree {
 public:
  NamespaceTree(std::string name, uint64_t version, Json json);

  uint64_t version() const { return version_; }
  const Json& json() const { return json_; }
  std::string Text() const { return TextWith("", nullptr); }

  // One resource, or its absence, in place of what there is of that name.
  struct Edit {
    std::string resource;
    Json value;  // null: gone
  };
  // Whether a resource of this name can be edited on its own.
  bool HasResources() const;
  const Json* FindResource(const std::string& name) const;
  // The whole text as it would be with this edit.
  std::string TextWith(const Edit& edit) const;
  // The namespace with this resource alone, beside what the reading of a resource depends on.
  Json Around(const Edit& edit) const;
  // False if the whole could be too large to be read, with this edit (rules/text/document.h).
  bool IsWithinBounds(const Edit& edit) const;
  void Apply(Edit edit, uint64_t version);

  // A file of rules with the whole namespace.
  static std::string FileOf(const std::string& name, std::string_view text);

 private:
  // What a part of the text takes.
  struct Size {
    uint64_t bytes = 0, nodes = 0;
    Size& operator+=(const Size& other);
    Size& operator-=(const Size& other);
  };
  // A member of a map: its name, a colon and its value.
  struct Piece {
    std::string text;
    Size size;
  };
  static Piece PieceOf(const std::string& name, const Json& value);
  // `piece` null: without that resource.
  std::string TextWith(const std::string& resource, const Piece* piece) const;

  uint64_t version_;
  Json json_;
  std::map<std::string, Piece> pieces_;  // of each resource
  Size size_;                            // of all
};

}  // namespace weir
