// Rules as JSON Schema, made of the tables that the readers read by (rules/read/keys.h): what the parts of a
// configuration look like in JSON. It says which keys there are and what each takes, and leaves to the
// readers what goes with what.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "rules/read/keys.h"

namespace weir {

struct RuleMap {
  std::string_view name;   // "Limit"
  std::string_view about;  // "A limit of a resource or a contract"
  std::vector<RuleKey> keys;
};

// Every kind of map below `namespaces`.
std::vector<RuleMap> RuleMaps();

// Their schemas by name; they refer to each other as `refer_to` + name.
nlohmann::ordered_json RuleSchemas(std::string_view refer_to);

}  // namespace weir
