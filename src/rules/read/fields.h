// The members of a map that must have certain keys and no others.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rules/read/keys.h"
#include "rules/text/document.h"

namespace weir {

class Fields {
 public:
  // Notes an error for every key that is not among `known`. Nothing at all counts as an empty map;
  // so does anything else, with an error. `what` names it in messages, as "a limit".
  Fields(const Node& node, std::string_view what, std::span<const RuleKey> known, Source& source);

  // False if an error was noted because it is no map.
  bool is_map() const { return node_.IsMap() || node_.IsNull(); }
  // Null if there is no such key.
  const Node* Find(std::string_view key) const;
  // The same, and notes an error; `example` shows what to write.
  const Node* Require(std::string_view key, std::string_view example) const;
  // The list or the map there; null if there is none or it is empty. Notes an error if it is
  // something else.
  const Node* FindList(std::string_view key) const;
  const Node* FindMap(std::string_view key) const;

 private:
  const Node* FindKind(std::string_view key, Node::Kind kind, std::string_view name) const;

  const Node& node_;
  const std::string_view what_;
  Source& source_;
};

}  // namespace weir
