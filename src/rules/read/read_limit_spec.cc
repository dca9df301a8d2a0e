// Reading a limit, field by field.
#include <algorithm>

#include "rules/read/coordination.h"
#include "rules/read/limit_spec.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

std::optional<std::vector<KeyPart>> ReadKey(const Node& node, Source& source) {
  if (!node.IsList()) {
    source.Error(node.mark, "`key` is " + Shown(node) + "; it must be a list of " +
                                Listed(kKeyPartWords) +
                                ", as `[subject]`, or `[]` for one state "
                                "over all");
    return std::nullopt;
  }
  std::vector<KeyPart> key;
  for (const Child& child : node.children) {
    const auto part = ReadEnum<KeyPart>(*child.node, "key", kKeyPartWords, source);
    if (!part) return std::nullopt;
    if (std::find(key.begin(), key.end(), *part) != key.end()) {
      source.Error(child.node->mark, Ticked(child.node->text) + " is twice in `key`");
      return std::nullopt;
    }
    key.push_back(*part);
  }
  std::sort(key.begin(), key.end());
  return key;
}

std::optional<Period> ReadPer(const Node& node, Source& source) {
  const auto per = ReadPeriod(node, "per", source);
  if (!per || per->length > Duration::zero()) return per;
  source.Error(node.mark, "`per` must be more than 0, as `1s`");
  return std::nullopt;
}

std::optional<uint32_t> ReadSlices(const Node& node, Source& source) {
  constexpr uint64_t kMost = 10'000;
  const auto slices = ReadNumber(node, "slices", source);
  if (!slices) return std::nullopt;
  if (*slices >= 1 && *slices <= kMost) return static_cast<uint32_t>(*slices);
  source.Error(node.mark, "`slices` is " + Shown(node) + "; it must be from 1 to 10000");
  return std::nullopt;
}

// Keeps what was read, or that it was wrong.
template <typename T>
bool Keep(std::optional<T> read, T& into) {
  if (!read) return false;
  into = std::move(*read);
  return true;
}

bool ReadField(LimitSpec::Field field, const Node& node, LimitSpec& spec, Source& source) {
  using enum LimitSpec::Field;
  switch (field) {
    case kName: return Keep(ReadName(node, "a limit's name", source), spec.name);
    case kAlgorithm:
      return Keep(ReadEnum<LimitSpec::Algorithm>(node, "algorithm", kAlgorithmWords, source),
                  spec.algorithm);
    case kLimit: return Keep(ReadLimitNumber(node, "limit", source), spec.limit);
    case kPer: return Keep(ReadPer(node, source), spec.per);
    case kBurst: return Keep(ReadNumber(node, "burst", source), spec.burst);
    case kAnchor:
      return Keep(ReadEnum<FixedWindow::Anchor>(node, "anchor", kAnchorWords, source), spec.anchor);
    case kTimeZone: return Keep(ReadName(node, "`time_zone`", source), spec.time_zone);
    case kSlices: return Keep(ReadSlices(node, source), spec.slices);
    case kEdge:
      return Keep(ReadEnum<SlidingWindow::Edge>(node, "edge", kEdgeWords, source), spec.edge);
    case kKeepRejected: return Keep(ReadFlag(node, "keep_rejected", source), spec.keep_rejected);
    case kKey: return Keep(ReadKey(node, source), spec.key);
    case kCoordination: return Keep(ReadCoordination(node, source), spec.coordination);
    case kShadow: return Keep(ReadFlag(node, "shadow", source), spec.shadow);
    case kOnFailure:
      return Keep(ReadEnum<OnFailure>(node, "on_failure", kOnFailureWords, source),
                  spec.on_failure);
    case kPersist: return Keep(ReadFlag(node, "persist", source), spec.persist);
    case kFieldCount: break;
  }
  __builtin_unreachable();
}

}  // namespace

void ReadLimitFields(const Fields& members, std::span<const LimitSpec::Field> fields,
                     LimitSpec& spec, Source& source) {
  for (const LimitSpec::Field field : fields) {
    const Node* at = members.Find(kLimitFields[field]);
    if (at == nullptr) continue;
    spec.at[field] = at;
    if (ReadField(field, *at, spec, source)) continue;
    spec.bad = true;
    if (field == LimitSpec::kAlgorithm) spec.bad_algorithm = true;
  }
}

LimitSpec ReadLimitSpec(const Node& node, std::span<const LimitSpec::Field> fields,
                        std::string_view what, Source& source) {
  LimitSpec spec;
  spec.node = &node;
  const size_t errors = source.error_count();
  std::array<RuleKey, LimitSpec::kFieldCount> known;
  for (size_t i = 0; i < fields.size(); ++i) known[i] = kLimitKeys[fields[i]];
  const Fields members(node, what, std::span(known).first(fields.size()), source);
  ReadLimitFields(members, fields, spec, source);
  spec.bad = source.error_count() != errors;
  return spec;
}

}  // namespace weir
