#include "rules/coordination.h"

#include <array>
#include <span>

#include "rules/fields.h"
#include "rules/scalars.h"

namespace weir {
namespace {

using Kind = Coordination::Kind;

// In the order of Kind.
constexpr std::array<std::string_view, 6> kKinds = {"local",  "replicated", "divided",
                                                    "shared", "synced",     "leased"};
constexpr std::array<std::string_view, 3> kReplicated = {"counter", "queue", "debt"};
constexpr std::array<std::string_view, 5> kDivided = {"even", "gtb", "grd", "fps", "supply"};
constexpr std::array<std::string_view, 3> kMapKeys = {"replicated", "divided", "synced"};
constexpr Duration kLeastInterval = std::chrono::milliseconds(1), kMostInterval = kOneDay;

std::optional<Coordination> ReadBareWord(const Node& node, Source& source) {
  const auto kind = ReadEnum<Kind>(node, "coordination", kKinds, source);
  if (!kind) return std::nullopt;
  switch (*kind) {
    case Kind::kReplicated: return Coordination{*kind, "debt", {}};
    case Kind::kDivided:
      source.Error(node.mark, "`divided` needs to know how: `{divided: supply}`, or another of " +
                                  Listed(kDivided));
      return std::nullopt;
    case Kind::kSynced:
      source.Error(node.mark, "`synced` needs to know how often: `{synced: 1s}`");
      return std::nullopt;
    default: return Coordination{*kind, {}, {}};
  }
}

std::optional<Coordination> ReadVariant(Kind kind, const Node& node,
                                        std::span<const std::string_view> words, Source& source) {
  const auto place = ReadWord(node, kKinds[static_cast<size_t>(kind)], words, source);
  if (!place) return std::nullopt;
  return Coordination{kind, std::string(words[*place]), {}};
}

std::optional<Coordination> ReadSynced(const Node& node, Source& source) {
  const auto interval = ReadDuration(node, "synced", source);
  if (!interval) return std::nullopt;
  if (*interval < kLeastInterval || *interval > kMostInterval) {
    source.Error(node.mark, "`synced` must be from `1ms` to `1d`");
    return std::nullopt;
  }
  return Coordination{Kind::kSynced, {}, *interval};
}

// Empty, or the algorithms that go with the kind.
std::string AlgorithmProblem(const Coordination& coordination, const Limit& limit) {
  const bool bucket_or_window =
      std::holds_alternative<TokenBucket>(limit) || std::holds_alternative<FixedWindow>(limit);
  const bool sliding = std::holds_alternative<SlidingWindow>(limit);
  const bool log = std::holds_alternative<SlidingLog>(limit);
  switch (coordination.kind) {
    case Kind::kLocal:
    case Kind::kShared: return "";
    case Kind::kReplicated:
      if (bucket_or_window || sliding || (log && coordination.variant == "queue")) return "";
      return "`token_bucket`, `fixed_window` and `sliding_window`, and `queue` also with "
             "`sliding_log`";
    case Kind::kSynced:
      if (bucket_or_window || sliding) return "";
      return "`token_bucket`, `fixed_window` and `sliding_window`";
    case Kind::kDivided:
    case Kind::kLeased:
      if (bucket_or_window) return "";
      return "`token_bucket` and `fixed_window`";
  }
  __builtin_unreachable();
}

}  // namespace

std::optional<Coordination> ReadCoordination(const Node& node, Source& source) {
  if (node.IsScalar()) return ReadBareWord(node, source);
  if (!node.IsMap() || node.children.size() != 1) {
    source.Error(node.mark, "`coordination` is " + Shown(node) + "; it must be one word, as " +
                                "`local`, or a map with one key, as `{replicated: debt}`");
    return std::nullopt;
  }
  const Fields fields(node, "`coordination`", kMapKeys, source);
  if (const Node* n = fields.Find("replicated")) {
    return ReadVariant(Kind::kReplicated, *n, kReplicated, source);
  }
  if (const Node* n = fields.Find("divided")) {
    return ReadVariant(Kind::kDivided, *n, kDivided, source);
  }
  if (const Node* n = fields.Find("synced")) return ReadSynced(*n, source);
  return std::nullopt;
}

std::string CoordinationProblem(const Coordination& coordination, const Limit& limit,
                                const ParseOptions& options) {
  if (coordination.kind == Kind::kLocal) return "";
  const std::string written = "`coordination: " + PrintCoordination(coordination) + "`";
  if (const std::string right = AlgorithmProblem(coordination, limit); !right.empty()) {
    return written + " does not go with `" + std::string(AlgorithmName(limit)) +
           "`: it goes with " + right + "; `local` and `shared` go with everything";
  }
  const Kind kind = coordination.kind;
  const auto* window = std::get_if<FixedWindow>(&limit);
  if (kind == Kind::kReplicated && window != nullptr &&
      window->anchor == FixedWindow::Anchor::kFirstRequest) {
    return written + " does not go with `anchor: first_request`: the nodes do not agree on which " +
           "request was the first; use `anchor: epoch` or `calendar`";
  }
  const bool needs_redis = kind == Kind::kShared || kind == Kind::kSynced;
  if (needs_redis && !options.redis) {
    return written + " needs the server to be started with `--redis`";
  }
  if (!needs_redis && !options.cluster) {
    return written + " needs the server to be started with `--cluster`";
  }
  if ((kind == Kind::kDivided || kind == Kind::kLeased) && !options.divide) {
    return written + " is not there yet: this version knows `local` and `replicated`";
  }
  return "";
}

std::string PrintCoordination(const Coordination& coordination) {
  const std::string kind(kKinds[static_cast<size_t>(coordination.kind)]);
  if (coordination.kind == Kind::kSynced) {
    return "{synced: " + PrintDuration(coordination.interval) + "}";
  }
  return coordination.variant.empty() ? kind : "{" + kind + ": " + coordination.variant + "}";
}

}  // namespace weir
