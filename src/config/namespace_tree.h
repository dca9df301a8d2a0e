// The rules of one namespace as they were written: a tree of JSON, and its text in pieces, one for each
// resource. A change of one resource among ten thousand is written and read without touching the others.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "config/tree.h"
#include "rules/parse.h"

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
  // A file of rules that has this resource alone, and all that the namespace says beside resources.
  std::string FileWith(const Edit& edit) const;
  void Apply(Edit edit, uint64_t version);

  // A file of rules with the whole namespace.
  static std::string FileOf(const std::string& name, std::string_view text);

 private:
  // `piece` null: without that resource; `alone`: without all others.
  std::string TextWith(const std::string& resource, const std::string* piece,
                       bool alone = false) const;

  std::string name_;
  uint64_t version_;
  Json json_;
  std::map<std::string, std::string> pieces_;  // the text of each resource
};

// The namespace that `read` (of a file by FileWith) makes of the one that is in force.
Namespace WithResource(const Namespace& before, Namespace read, const std::string& resource);

}  // namespace weir
