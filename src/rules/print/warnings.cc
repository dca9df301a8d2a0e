#include "rules/print/warnings.h"

#include <set>

#include "rules/read/coordination.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

constexpr ParseOptions kEverythingThere = {.cluster = true};

std::string Of(const RuleLimit& limit) {
  // namespace, kind of rule, rule, limit
  return "limit " + Ticked(limit.name) + " of " + limit.identity[1] + " " +
         Ticked(limit.identity[2]) + " in namespace " + Ticked(limit.identity[0]);
}

class Warnings {
 public:
  explicit Warnings(const Rulebook* before) : before_(before) {}

  std::vector<std::string> Take(const Rulebook& rules) {
    for (const auto& ns : rules.namespaces()) {
      for (const Resource& resource : ns.resources()) {
        if (IsNew(resource, ns.terms)) NoteStars(resource, ns.terms);
      }
      if (!IsNew(ns.terms)) continue;
      for (const Contract& one : ns.terms.contracts) NoteSubjects(one.subjects, ns.terms);
    }
    for (const auto& ns : rules.namespaces()) {
      const std::optional<Coordination>& said = ns.terms.coordination;
      if (!said || said->kind == Coordination::Kind::kLocal) continue;
      const auto note = [&](const RuleLimit& limit) { NoteLeftLocal(limit, *said); };
      for (const Resource& resource : ns.resources()) {
        if (IsNew(resource, ns.terms)) ForEachLimit(resource, note);
      }
      if (IsNew(ns.terms)) ForEachLimit(ns.terms, note);
    }
    if (count_ > kMostWarnings) {
      all_.back() = "and " + std::to_string(count_ - kMostWarnings + 1) + " warnings more";
    }
    return std::move(all_);
  }

 private:
  void Add(std::string warning) {
    if (++count_ <= kMostWarnings) all_.push_back(std::move(warning));
  }

  bool IsNew(const NamespaceTerms& ns) const {
    return before_ == nullptr || before_->FindNamespace(ns.name) != &ns;
  }
  bool IsNew(const Resource& resource, const NamespaceTerms& ns) const {
    return before_ == nullptr || resource.index >= before_->resource_bound() ||
           before_->ResourceAt(resource.index) != Rulebook::Numbered{&resource, &ns};
  }

  void NoteStar(std::string_view what, const std::string& name, const NamespaceTerms& ns) {
    if (name.find('*') == std::string::npos) return;
    Add(std::string(what) + " " + Ticked(name) + " in namespace " + Ticked(ns.name) +
        ": the `*` is no wildcard, only a name with a star in it fits");
  }

  void NoteStars(const Resource& resource, const NamespaceTerms& ns) {
    NoteStar("resource", resource.name, ns);
    for (const Override& one : resource.overrides) NoteStar("subject", one.subject, ns);
    if (!resource.copies) return;
    for (const Group& group : resource.copies->groups) NoteSubjects(group.subjects, ns);
  }

  void NoteSubjects(const std::vector<std::string>& subjects, const NamespaceTerms& ns) {
    for (const std::string& subject : subjects) NoteStar("subject", subject, ns);
  }

  static bool IsLeftLocal(const RuleLimit& limit) {
    return !limit.own_coordination && !limit.unlimited &&
           limit.coordination.kind == Coordination::Kind::kLocal;
  }

  void NoteLeftLocal(const RuleLimit& limit, const Coordination& of_namespace) {
    if (!IsLeftLocal(limit)) return;
    if (!named_.insert(limit.identity).second) return;  // said of what it overrides
    Add(Of(limit) + " is counted by each node alone: " +
        CoordinationProblem(of_namespace, limit.limit, kEverythingThere));
  }

  const Rulebook* const before_;  // null: all is new
  std::vector<std::string> all_;
  size_t count_ = 0;
  std::set<std::vector<std::string>> named_;
};

}  // namespace

std::vector<std::string> RuleWarnings(const Rulebook& rules) {
  return Warnings(nullptr).Take(rules);
}

std::vector<std::string> NewRuleWarnings(const Rulebook& rules, const Rulebook& before) {
  return Warnings(&before).Take(rules);
}

}  // namespace weir
