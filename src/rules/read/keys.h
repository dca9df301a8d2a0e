// Every map that rules can have, its keys, and what each of them takes. The readers know no other keys;
// what is told of rules elsewhere (rules/read/schema.h, and so the API's description) is made of this.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "rules/rule_limit.h"

namespace weir {

// How rules spell them, in the order of the enumerators.
inline constexpr std::array<std::string_view, 4> kAlgorithmWords = {
    "token_bucket", "fixed_window", "sliding_log", "sliding_window"};
inline constexpr std::array<std::string_view, 3> kAnchorWords = {"epoch", "first_request",
                                                                 "calendar"};
inline constexpr std::array<std::string_view, 3> kEdgeWords = {"drop", "weighted", "strict"};
inline constexpr std::array<std::string_view, 2> kUnconfiguredWords = {"refuse", "allow"};
inline constexpr std::array<std::string_view, 6> kCoordinationWords = {
    "local", "replicated", "divided", "shared", "synced", "leased"};
inline constexpr std::array<std::string_view, 3> kReplicatedWords = {"counter", "queue", "debt"};
inline constexpr std::array<std::string_view, 5> kDividedWords = {"even", "gtb", "grd", "fps",
                                                                  "supply"};

enum class Takes {
  kName,          // text of some bytes
  kNumber,        // whole, up to 2^53
  kLimit,         // the same, or `unlimited`
  kDuration,      // 250ms, 1s, 1d
  kPeriod,        // the same, or 1mo, 1y
  kFlag,          // true or false
  kWord,          // one of `words`
  kWords,         // a list of them
  kNames,         // a list of names
  kCoordination,  // a word, or a map with one key
  kUnit,          // of envoyproxy/ratelimit: second, minute, …
  kAnything,      // a map that is handed on
  kMap,           // a map of the kind `of`
  kList,          // a list of such maps
  kNamed,         // such maps, each under a name
};

struct RuleKey {
  std::string_view name;
  Takes takes = Takes::kName;
  std::span<const std::string_view> words = {};
  std::string_view of = {};  // the name of a RuleMap (rules/read/schema.h)
  bool required = false;
};

inline constexpr RuleKey kFileKeys[] = {
    {.name = "namespaces", .takes = Takes::kNamed, .of = "Namespace", .required = true}};

inline constexpr RuleKey kRatelimitKeys[] = {
    {.name = "domain", .takes = Takes::kName, .required = true},
    {.name = "descriptors", .takes = Takes::kList, .of = "Descriptor"}};

inline constexpr RuleKey kNamespaceKeys[] = {
    {.name = "unconfigured", .takes = Takes::kWord, .words = kUnconfiguredWords},
    {.name = "enforcement", .takes = Takes::kWord, .words = kEnforcementWords},
    {.name = "coordination", .takes = Takes::kCoordination},
    {.name = "default_contract", .takes = Takes::kName},
    {.name = "resources", .takes = Takes::kNamed, .of = "Resource"},
    {.name = "contracts", .takes = Takes::kNamed, .of = "Contract"},
    {.name = "descriptors", .takes = Takes::kList, .of = "Descriptor"}};

inline constexpr RuleKey kContractKeys[] = {
    {.name = "subjects", .takes = Takes::kNames},
    {.name = "limits", .takes = Takes::kList, .of = "Limit"}};

inline constexpr RuleKey kResourceKeys[] = {
    {.name = "limits", .takes = Takes::kList, .of = "Limit"},
    {.name = "tiers", .takes = Takes::kMap, .of = "Tiers"},
    {.name = "copies", .takes = Takes::kMap, .of = "Copies"},
    {.name = "overrides", .takes = Takes::kList, .of = "Override"}};

// In the order of LimitSpec::Field.
inline constexpr RuleKey kLimitKeys[] = {
    {.name = "name", .takes = Takes::kName},
    {.name = "algorithm", .takes = Takes::kWord, .words = kAlgorithmWords},
    {.name = "limit", .takes = Takes::kLimit},
    {.name = "per", .takes = Takes::kPeriod},
    {.name = "burst", .takes = Takes::kNumber},
    {.name = "anchor", .takes = Takes::kWord, .words = kAnchorWords},
    {.name = "time_zone", .takes = Takes::kName},
    {.name = "slices", .takes = Takes::kNumber},
    {.name = "edge", .takes = Takes::kWord, .words = kEdgeWords},
    {.name = "keep_rejected", .takes = Takes::kFlag},
    {.name = "key", .takes = Takes::kWords, .words = kKeyPartWords},
    {.name = "coordination", .takes = Takes::kCoordination},
    {.name = "shadow", .takes = Takes::kFlag},
    {.name = "on_failure", .takes = Takes::kWord, .words = kOnFailureWords},
    {.name = "persist", .takes = Takes::kFlag}};

inline constexpr RuleKey kTiersKeys[] = {
    {.name = "hard_limit", .takes = Takes::kLimit},
    {.name = "global_limit", .takes = Takes::kLimit},
    {.name = "tiers", .takes = Takes::kList, .of = "Tier", .required = true},
    {.name = "coordination", .takes = Takes::kCoordination},
    {.name = "shadow", .takes = Takes::kFlag},
    {.name = "on_failure", .takes = Takes::kWord, .words = kOnFailureWords},
    {.name = "persist", .takes = Takes::kFlag}};

inline constexpr RuleKey kTierKeys[] = {
    {.name = "limit", .takes = Takes::kNumber, .required = true},
    {.name = "window", .takes = Takes::kDuration, .required = true},
    {.name = "active", .takes = Takes::kDuration, .required = true},
    {.name = "cooldown", .takes = Takes::kDuration},
    {.name = "skippable", .takes = Takes::kFlag}};

inline constexpr RuleKey kCopiesKeys[] = {
    {.name = "per_subject", .takes = Takes::kLimit, .required = true},
    {.name = "total", .takes = Takes::kLimit},
    {.name = "groups", .takes = Takes::kList, .of = "Group"},
    {.name = "coordination", .takes = Takes::kCoordination},
    {.name = "shadow", .takes = Takes::kFlag},
    {.name = "on_failure", .takes = Takes::kWord, .words = kOnFailureWords}};

inline constexpr RuleKey kGroupKeys[] = {
    {.name = "name", .takes = Takes::kName, .required = true},
    {.name = "limit", .takes = Takes::kLimit, .required = true},
    {.name = "subjects", .takes = Takes::kNames},
    {.name = "others", .takes = Takes::kFlag}};

inline constexpr RuleKey kOverrideKeys[] = {
    {.name = "subject", .takes = Takes::kName, .required = true},
    {.name = "limits", .takes = Takes::kList, .of = "LimitOverride"},
    {.name = "tiers", .takes = Takes::kMap, .of = "TiersOverride"},
    {.name = "copies", .takes = Takes::kMap, .of = "CopiesOverride"}};

inline constexpr RuleKey kTiersOverrideKeys[] = {
    {.name = "hard_limit", .takes = Takes::kLimit},
    {.name = "tiers", .takes = Takes::kList, .of = "Tier"}};

inline constexpr RuleKey kCopiesOverrideKeys[] = {
    {.name = "per_subject", .takes = Takes::kLimit, .required = true}};

inline constexpr RuleKey kDescriptorKeys[] = {
    {.name = "key", .takes = Takes::kName, .required = true},
    {.name = "value", .takes = Takes::kName},
    {.name = "rate_limit", .takes = Takes::kMap, .of = "RateLimit"},
    {.name = "weir", .takes = Takes::kMap, .of = "DescriptorLimit"},
    {.name = "shadow_mode", .takes = Takes::kFlag},
    {.name = "quota_mode", .takes = Takes::kFlag},
    {.name = "detailed_metric", .takes = Takes::kFlag},
    {.name = "value_to_metric", .takes = Takes::kFlag},
    {.name = "share_threshold", .takes = Takes::kFlag},
    {.name = "metadata", .takes = Takes::kAnything},
    {.name = "descriptors", .takes = Takes::kList, .of = "Descriptor"}};

inline constexpr RuleKey kRateLimitKeys[] = {
    {.name = "unit", .takes = Takes::kUnit},
    {.name = "requests_per_unit", .takes = Takes::kNumber},
    {.name = "unlimited", .takes = Takes::kFlag},
    {.name = "name", .takes = Takes::kName},
    {.name = "replaces", .takes = Takes::kList, .of = "Replaces"}};

inline constexpr RuleKey kReplacesKeys[] = {
    {.name = "name", .takes = Takes::kName, .required = true}};

inline constexpr RuleKey kCoordinationKeys[] = {
    {.name = "replicated", .takes = Takes::kWord, .words = kReplicatedWords},
    {.name = "divided", .takes = Takes::kWord, .words = kDividedWords},
    {.name = "synced", .takes = Takes::kDuration}};

}  // namespace weir
