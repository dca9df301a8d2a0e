#include "rules/read/schema.h"

#include "rules/read/limit_spec.h"
#include "rules/text/scalars.h"

namespace weir {
namespace schema {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::vector<RuleKey> All(std::span<const RuleKey> keys) { return {keys.begin(), keys.end()}; }

std::vector<RuleKey> Some(std::span<const LimitSpec::Field> fields) {
  std::vector<RuleKey> keys;
  for (const LimitSpec::Field field : fields) keys.push_back(kLimitKeys[field]);
  return keys;
}

OrderedJson Words(std::span<const std::string_view> words) {
  OrderedJson list = OrderedJson::array();
  for (const std::string_view word : words) list.push_back(word);
  return {{"type", "string"}, {"enum", list}};
}

OrderedJson Number() { return {{"type", "integer"}, {"minimum", 0}, {"maximum", kMostNumber}}; }

OrderedJson Name() { return {{"type", "string"}, {"minLength", 1}}; }

OrderedJson ListOf(OrderedJson items) { return {{"type", "array"}, {"items", std::move(items)}}; }

OrderedJson ObjectOf(std::span<const RuleKey> keys, std::string_view about,
                     std::string_view refer_to);

OrderedJson CoordinationSchema(std::string_view refer_to) {
  OrderedJson map = ObjectOf(kCoordinationKeys, "", refer_to);
  map["minProperties"] = 1;
  map["maxProperties"] = 1;
  return {{"oneOf", {Words(kCoordinationWords), map}}};
}

OrderedJson SchemaOf(const RuleKey& key, std::string_view refer_to) {
  const OrderedJson other = {{"$ref", std::string(refer_to) + std::string(key.of)}};
  switch (key.takes) {
    case Takes::kName: return Name();
    case Takes::kNumber: return Number();
    case Takes::kLimit: return {{"oneOf", {Number(), {{"const", "unlimited"}}}}};
    case Takes::kDuration: return {{"type", "string"}, {"examples", {"250ms", "1s", "1d"}}};
    case Takes::kPeriod: return {{"type", "string"}, {"examples", {"1s", "1d", "1mo"}}};
    case Takes::kFlag: return {{"type", "boolean"}};
    case Takes::kWord: return Words(key.words);
    case Takes::kWords: return ListOf(Words(key.words));
    case Takes::kNames: return ListOf(Name());
    case Takes::kCoordination: return CoordinationSchema(refer_to);
    case Takes::kUnit: return {{"type", "string"}, {"examples", {"second", "minute", "hour"}}};
    case Takes::kAnything: return {{"type", "object"}};
    case Takes::kMap: return other;
    case Takes::kList: return ListOf(other);
    case Takes::kNamed: return {{"type", "object"}, {"additionalProperties", other}};
  }
  __builtin_unreachable();
}

OrderedJson ObjectOf(std::span<const RuleKey> keys, std::string_view about,
                     std::string_view refer_to) {
  OrderedJson schema = {{"type", "object"}};
  if (!about.empty()) schema["description"] = about;
  OrderedJson required = OrderedJson::array();
  for (const RuleKey& key : keys) {
    schema["properties"][std::string(key.name)] = SchemaOf(key, refer_to);
    if (key.required) required.push_back(key.name);
  }
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

std::vector<RuleMap> Maps() {
  return {
      {"Namespace", "A namespace: its resources, contracts and descriptors", All(kNamespaceKeys)},
      {"Resource", "A resource, with limits, tiers or copies", All(kResourceKeys)},
      {"Contract", "Limits over all resources of a namespace, for some subjects",
       All(kContractKeys)},
      {"Limit", "A limit of a resource or a contract", All(kLimitKeys)},
      {"Tiers", "Burst tiers", All(kTiersKeys)},
      {"Tier", "A tier, from the lowest up", All(kTierKeys)},
      {"Copies", "How many copies may be held at once", All(kCopiesKeys)},
      {"Group", "Subjects that share copies", All(kGroupKeys)},
      {"Override", "What is different for a subject", All(kOverrideKeys)},
      {"LimitOverride", "A limit of a subject, laid over the resource's limit of the same name",
       Some(kOverridable)},
      {"TiersOverride", "The tiers of a subject", All(kTiersOverrideKeys)},
      {"CopiesOverride", "The copies of a subject", All(kCopiesOverrideKeys)},
      {"Descriptor", "A rule for descriptors, as envoyproxy/ratelimit has them",
       All(kDescriptorKeys)},
      {"RateLimit", "So many requests per unit", All(kRateLimitKeys)},
      {"Replaces", "A limit that is not asked where this one is", All(kReplacesKeys)},
      {"DescriptorLimit", "A limit of Weir's own on a descriptor", Some(kDescriptorFields)},
  };
}

}  // namespace
}  // namespace schema

std::vector<RuleMap> RuleMaps() { return schema::Maps(); }

nlohmann::ordered_json RuleSchemas(std::string_view refer_to) {
  auto schemas = nlohmann::ordered_json::object();
  for (const RuleMap& map : RuleMaps()) {
    schemas[std::string(map.name)] = schema::ObjectOf(map.keys, map.about, refer_to);
  }
  return schemas;
}

}  // namespace weir
