#include "rules/warnings.h"

#include <set>

#include "rules/coordination.h"
#include "rules/scalars.h"

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
  std::vector<std::string> Take(const Rulebook& rules) {
    for (const Namespace& ns : rules.namespaces()) NoteStars(ns);
    for (const RuleLimit* limit : rules.all()) {
      if (IsLeftLocal(*limit)) NoteLeftLocal(*limit, *rules.FindNamespace(limit->identity[0]));
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

  void NoteStar(std::string_view what, const std::string& name, const Namespace& ns) {
    if (name.find('*') == std::string::npos) return;
    Add(std::string(what) + " " + Ticked(name) + " in namespace " + Ticked(ns.name) +
        ": the `*` is no wildcard, only a name with a star in it fits");
  }

  void NoteStars(const Namespace& ns) {
    for (const Resource& resource : ns.resources) {
      NoteStar("resource", resource.name, ns);
      for (const Override& one : resource.overrides) NoteStar("subject", one.subject, ns);
      if (!resource.copies) continue;
      for (const Group& group : resource.copies->groups) NoteSubjects(group.subjects, ns);
    }
    for (const Contract& contract : ns.contracts) NoteSubjects(contract.subjects, ns);
  }

  void NoteSubjects(const std::vector<std::string>& subjects, const Namespace& ns) {
    for (const std::string& subject : subjects) NoteStar("subject", subject, ns);
  }

  static bool IsLeftLocal(const RuleLimit& limit) {
    return !limit.own_coordination && !limit.unlimited &&
           limit.coordination.kind == Coordination::Kind::kLocal;
  }

  void NoteLeftLocal(const RuleLimit& limit, const Namespace& ns) {
    if (!ns.coordination || ns.coordination->kind == Coordination::Kind::kLocal) return;
    if (!named_.insert(limit.identity).second) return;  // said of what it overrides
    Add(Of(limit) + " is counted by each node alone: " +
        CoordinationProblem(*ns.coordination, limit.limit, kEverythingThere));
  }

  std::vector<std::string> all_;
  size_t count_ = 0;
  std::set<std::vector<std::string>> named_;
};

}  // namespace

std::vector<std::string> RuleWarnings(const Rulebook& rules) { return Warnings().Take(rules); }

}  // namespace weir
