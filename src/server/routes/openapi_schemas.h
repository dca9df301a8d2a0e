// The schemas of the API's description, by name: bodies (fronts/http/body_fields.h), answers
// (fronts/http/answer_fields.h), rules (rules/read/schema.h) and Envoy's messages (their descriptors).
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace weir {

// {"$ref": …}
nlohmann::ordered_json SchemaRef(std::string_view name);
nlohmann::ordered_json ApiSchemas();

}  // namespace weir
