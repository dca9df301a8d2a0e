// A limit as it is written: only what is given is set. A limit of an override is laid over the one
// that it overrides before anything is built from it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "rules/read/fields.h"
#include "rules/rule_limit.h"
#include "rules/text/document.h"
#include "rules/text/period.h"

namespace weir {

struct LimitSpec {
  enum class Algorithm { kTokenBucket, kFixedWindow, kSlidingLog, kSlidingWindow };
  enum Field {
    kName,
    kAlgorithm,
    kLimit,
    kPer,
    kBurst,
    kAnchor,
    kTimeZone,
    kSlices,
    kEdge,
    kKeepRejected,
    kKey,
    kCoordination,
    kShadow,
    kOnFailure,
    kPersist,
    kFieldCount
  };

  const Node* node = nullptr;                 // the limit as a whole
  std::array<const Node*, kFieldCount> at{};  // where each field is written; `node`: inherited
  bool bad = false;                           // an error was noted in a field
  bool bad_algorithm = false;                 // in this one, on which the others depend
  bool bad_base = false;                      // in what it is laid over

  std::string name;
  Algorithm algorithm = Algorithm::kTokenBucket;
  uint64_t limit = 0;  // or kUnlimited
  Period per;
  uint64_t burst = 0;
  FixedWindow::Anchor anchor = FixedWindow::Anchor::kEpoch;
  std::string time_zone = "UTC";
  uint32_t slices = 10;
  SlidingWindow::Edge edge = SlidingWindow::Edge::kWeighted;
  bool keep_rejected = false;
  std::vector<KeyPart> key = {KeyPart::kSubject};
  Coordination coordination;
  bool shadow = false;
  OnFailure on_failure = OnFailure::kAllow;
  bool persist = false;

  bool Has(Field field) const { return at[field] != nullptr; }
  bool IsWrittenHere(Field field) const { return Has(field) && at[field] != node; }
  // The one given, or else that of the algorithm.
  std::string EffectiveName() const;
  // Where to report a mistake in a field.
  Mark MarkOf(Field field) const { return (at[field] ? at[field] : node)->mark; }
};

// How rules spell them, in the order of the enumerators.
inline constexpr auto kLimitFields = [] {
  std::array<std::string_view, LimitSpec::kFieldCount> names;
  static_assert(std::size(kLimitKeys) == LimitSpec::kFieldCount);
  for (size_t i = 0; i < names.size(); ++i) names[i] = kLimitKeys[i].name;
  return names;
}();

// What an override may say of a limit: all but the key, which says whose state it is.
inline constexpr LimitSpec::Field kOverridable[] = {
    LimitSpec::kName,      LimitSpec::kAlgorithm,    LimitSpec::kLimit,        LimitSpec::kPer,
    LimitSpec::kBurst,     LimitSpec::kAnchor,       LimitSpec::kTimeZone,     LimitSpec::kSlices,
    LimitSpec::kEdge,      LimitSpec::kKeepRejected, LimitSpec::kCoordination, LimitSpec::kShadow,
    LimitSpec::kOnFailure, LimitSpec::kPersist};
// What `weir` beside a descriptor may.
inline constexpr LimitSpec::Field kDescriptorFields[] = {
    LimitSpec::kAlgorithm,    LimitSpec::kLimit,        LimitSpec::kPer,       LimitSpec::kBurst,
    LimitSpec::kAnchor,       LimitSpec::kTimeZone,     LimitSpec::kSlices,    LimitSpec::kEdge,
    LimitSpec::kKeepRejected, LimitSpec::kCoordination, LimitSpec::kOnFailure, LimitSpec::kPersist};

// Reads those of `fields` that the map gives.
void ReadLimitFields(const Fields& members, std::span<const LimitSpec::Field> fields,
                     LimitSpec& spec, Source& source);
// The whole map; `fields` are all that it may give.
LimitSpec ReadLimitSpec(const Node& node, std::span<const LimitSpec::Field> fields,
                        std::string_view what, Source& source);

// `over` laid over `base`: fields not given stay, but the burst follows a new limit, and with
// another algorithm or anchor goes what only the old one takes.
LimitSpec LaidOver(const LimitSpec& base, const LimitSpec& over);

// Empty, or what Check (algorithms/limit.h) says of the numbers; `field` is the last part of the
// path to the field at fault.
std::string NumbersProblem(const Limit& limit, std::string* field);

// What is said beside the numbers: key, coordination and so on. Notes an error if the coordination
// does not go with the algorithm, which must be set already.
void SetBeside(const LimitSpec& spec, RuleLimit& rule, Source& source);
// Nothing, and errors noted, if the parts do not make a limit. The identity is the caller's to set.
std::optional<RuleLimit> BuildRuleLimit(const LimitSpec& spec, Source& source);

}  // namespace weir
