// A place in the configuration, as the API names it.
//
//   namespaces / NS / resources / RES / limits / NAME      an element of a list, by its name
//                                     / tiers, copies      a member of the resource
//                                     / overrides / SUBJECT
//                                     / groups / NAME      below `copies` in the rules file
//                   / contracts / NAME / limits / NAME
//                   / descriptors
//
// A path that ends at a collection (namespaces, resources, limits, …) means all of it.
#pragma once

#include <string>
#include <vector>

#include "config/tree.h"

namespace weir {

class ConfigPath {
 public:
  // kNotFound if there can be nothing of this form.
  static Result<ConfigPath> Parse(const std::vector<std::string>& words);

  const std::string& text() const { return text_; }  // "namespaces/shop/resources/search"
  bool all() const { return namespace_.empty(); }    // "namespaces"
  bool is_namespace() const { return !all() && steps_.empty(); }
  const std::string& namespace_name() const { return namespace_; }
  // The resource at which it ends or below which it leads; null: it leads elsewhere.
  const std::string* resource() const;

  // These take the tree of the namespace. Null if there is nothing.
  const Json* Find(const Json& ns) const;
  // False, and the error, if what it belongs to is missing.
  bool Put(Json& ns, Json value, Error& error) const;
  bool Erase(Json& ns) const;
  // An element's body may leave its own name out, but not say another.
  bool CheckName(Json& value, Error& error) const;

 private:
  // From a node to one below it: a map's member, or the list's element whose `field` is `name`.
  struct Step {
    std::string name;
    std::string field = {};   // empty: a member
    bool collection = false;  // made where it is missing
    Json empty = {};          // as which it is made
    Code missing = Code::kNotFound;
  };
  static Json* Follow(Json& node, const Step& step);

  std::string text_;
  std::string namespace_;
  std::vector<Step> steps_;  // below the namespace
};

}  // namespace weir
