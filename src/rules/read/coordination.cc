#include "rules/read/coordination.h"

#include <array>
#include <span>

#include "rules/read/fields.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

using Kind = Coordination::Kind;

// In the order of Kind.
constexpr auto& kKinds = kCoordinationWords;
constexpr auto& kReplicated = kReplicatedWords;
constexpr auto& kDivided = kDividedWords;
constexpr std::string_view kNeedsCluster = " needs the server to be started with `--cluster`";
constexpr Duration kLeastInterval = std::chrono::milliseconds(1), kMostInterval = kOneDay;

// Whether this version can do it at all, with whatever flags.
bool IsThere(Kind kind, const ParseOptions& options) {
  switch (kind) {
    case Kind::kLocal:
    case Kind::kReplicated: return true;
    case Kind::kDivided:
    case Kind::kLeased: return options.divide;
    case Kind::kShared:
    case Kind::kSynced: return options.redis;
  }
  __builtin_unreachable();
}

constexpr std::string_view kNotThereYet =
    " is not there yet: this version knows `local` and, on a server started with `--cluster`, "
    "`replicated`";

// A word that means something, whether this version can do it or not: who mistypes is only offered
// what it can.
std::optional<Kind> ReadKind(const Node& node, Source& source) {
  std::vector<std::string_view> offered;
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (node.text == kKinds[i]) return static_cast<Kind>(i);
    if (IsThere(static_cast<Kind>(i), source.options())) offered.push_back(kKinds[i]);
  }
  ReadWord(node, "coordination", offered, source);
  return std::nullopt;
}

std::optional<Coordination> ReadBareWord(const Node& node, Source& source) {
  const auto kind = ReadKind(node, source);
  if (!kind) return std::nullopt;
  const bool needs_more = *kind == Kind::kDivided || *kind == Kind::kSynced;
  if (needs_more && !IsThere(*kind, source.options())) {
    source.Error(node.mark,
                 "`coordination: " + std::string(node.text) + "`" + std::string(kNotThereYet));
    return std::nullopt;
  }
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
  const Fields fields(node, "`coordination`", kCoordinationKeys, source);
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
  if (!IsThere(coordination.kind, options)) return written + std::string(kNotThereYet);
  if (const std::string right = AlgorithmProblem(coordination, limit); !right.empty()) {
    return written + " does not go with `" + std::string(AlgorithmName(limit)) +
           "`: it goes with " + right +
           (options.redis ? "; `local` and `shared` go with everything"
                          : "; `local` goes with everything");
  }
  const Kind kind = coordination.kind;
  const auto* window = std::get_if<FixedWindow>(&limit);
  if (kind == Kind::kReplicated && window != nullptr &&
      window->anchor == FixedWindow::Anchor::kFirstRequest) {
    return written + " does not go with `anchor: first_request`: the nodes do not agree on which " +
           "request was the first; use `anchor: epoch` or `calendar`";
  }
  const bool needs_redis = kind == Kind::kShared || kind == Kind::kSynced;
  return needs_redis || options.cluster ? "" : written + std::string(kNeedsCluster);
}

std::optional<Coordination> CoordinationOfFlag(std::string_view text) {
  if (text == kKinds[0]) return Coordination{};
  constexpr std::string_view kName = "replicated";
  if (text == kName) return Coordination{Kind::kReplicated, "debt", {}};
  if (!text.starts_with(kName) || text.substr(kName.size(), 1) != ":") return std::nullopt;
  const std::string_view variant = text.substr(kName.size() + 1);
  for (const std::string_view known : kReplicated) {
    if (variant == known) return Coordination{Kind::kReplicated, std::string(variant), {}};
  }
  return std::nullopt;
}

std::optional<Coordination> ReadNamespaceCoordination(const Node& node, Source& source) {
  std::optional<Coordination> read = ReadCoordination(node, source);
  if (!read || read->kind == Kind::kLocal) return read;
  const std::string written = "`coordination: " + PrintCoordination(*read) + "`";
  if (!IsThere(read->kind, source.options())) {
    source.Error(node.mark, written + std::string(kNotThereYet));
  } else if (read->kind != Kind::kReplicated) {
    source.Error(node.mark, written + " is said beside each limit: for a whole namespace it is " +
                                "`local`, `replicated` or `{replicated: …}`");
  } else if (!source.options().cluster) {
    source.Error(node.mark, written + std::string(kNeedsCluster));
  } else {
    return read;
  }
  return std::nullopt;
}

namespace {

// Every limit of a namespace, those of overrides and descriptors included.
template <typename See>
void ForEachLimitOf(Namespace& ns, const See& see) {
  for (Resource& resource : ns.resources) ForEachLimit(resource, see);
  ForEachLimit(static_cast<NamespaceTerms&>(ns), see);
}

}  // namespace

void GiveCoordination(const ParseOptions& options, Namespace& ns) {
  const Coordination given = ns.coordination.value_or(Coordination{});
  ForEachLimitOf(ns, [&](RuleLimit& limit) {
    if (limit.own_coordination) {
      limit.own_coordination = limit.coordination != given;
    } else if (CoordinationProblem(given, limit.limit, options).empty()) {
      limit.coordination = given;
    }
  });
}

std::string PrintCoordination(const Coordination& coordination) {
  const std::string kind(kKinds[static_cast<size_t>(coordination.kind)]);
  if (coordination.kind == Kind::kSynced) {
    return "{synced: " + PrintDuration(coordination.interval) + "}";
  }
  return coordination.variant.empty() ? kind : "{" + kind + ": " + coordination.variant + "}";
}

}  // namespace weir
