#include "rules/print/print.h"

#include <algorithm>

#include "rules/print/descriptor_text.h"
#include "rules/print/limit_text.h"
#include "rules/read/coordination.h"
#include "rules/text/lines.h"
#include "rules/text/period.h"
#include "rules/text/scalar_text.h"

namespace weir {
namespace {

const RuleLimit& Usual() {
  static const RuleLimit usual;
  return usual;
}

FieldTexts Joined(FieldTexts fields, const FieldTexts& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

std::string PrintLimit(const RuleLimit& limit) {
  const FieldTexts name = {{"name", PrintScalar(limit.name)}};
  return PrintFlow(Joined(Joined(name, NumberFields(limit)), BesideFields(limit, Usual())));
}

std::string PrintCopies(const RuleLimit& limit) {
  return limit.unlimited ? "unlimited" : std::to_string(std::get<Copies>(limit.limit).limit);
}

std::string PrintSubjects(const std::vector<std::string>& subjects) {
  std::string text;
  for (const std::string& subject : subjects) {
    text += (text.empty() ? "" : ", ") + PrintScalar(subject);
  }
  return "[" + text + "]";
}

std::string PrintTier(const BurstTiers::Tier& tier) {
  FieldTexts fields = {{"limit", std::to_string(tier.limit)},
                       {"window", PrintDuration(tier.window)},
                       {"active", PrintDuration(tier.active)},
                       {"cooldown", PrintDuration(tier.cooldown)}};
  if (tier.skippable) fields.emplace_back("skippable", "true");
  return PrintFlow(fields);
}

// The limits that `tiers` has made: they stand together at the end.
struct TierLimits {
  const RuleLimit* tiers = nullptr;
  const RuleLimit* hard_limit = nullptr;
  const RuleLimit* global_limit = nullptr;
  size_t before = 0;  // how many other limits there are
};

TierLimits FindTiers(const std::vector<RuleLimit>& limits) {
  TierLimits found;
  found.before = limits.size();
  for (const RuleLimit& limit : limits) {
    if (std::holds_alternative<BurstTiers>(limit.limit)) {
      found.tiers = &limit;
      found.before = static_cast<size_t>(&limit - limits.data());
    } else if (found.tiers != nullptr) {
      (limit.name == "hard_limit" ? found.hard_limit : found.global_limit) = &limit;
    }
  }
  return found;
}

std::string PrintPerSecond(const RuleLimit* limit) {
  return limit == nullptr ? "unlimited" : std::to_string(Numbers(limit->limit).most);
}

class Printer {
 public:
  std::string Print(const Rulebook& rules) {
    if (rules.namespaces().empty()) return "namespaces: {}\n";
    lines_.Add("namespaces:");
    for (const auto& one : rules.namespaces()) {
      lines_.Below([&] { PrintNamespace(one.terms, one.resources()); });
    }
    return std::move(lines_).Take();
  }

 private:
  template <typename Resources>
  void PrintNamespace(const NamespaceTerms& ns, const Resources& resources) {
    lines_.Add(PrintScalar(ns.name) + ":");
    lines_.Below([&] {
      lines_.Add(std::string("unconfigured: ") + (ns.allow_unconfigured ? "allow" : "refuse"));
      lines_.Add("enforcement: " +
                 std::string(kEnforcementWords[static_cast<size_t>(ns.enforcement)]));
      if (ns.coordination) lines_.Add("coordination: " + PrintCoordination(*ns.coordination));
      if (!ns.default_contract.empty()) {
        lines_.Add("default_contract: " + PrintScalar(ns.default_contract));
      }
      if (!resources.empty()) lines_.Add("resources:");
      for (const Resource& resource : resources) lines_.Below([&] { PrintResource(resource); });
      if (!ns.contracts.empty()) lines_.Add("contracts:");
      for (const Contract& contract : ns.contracts) lines_.Below([&] { PrintContract(contract); });
      PrintDescriptors(ns.descriptors, lines_);
    });
  }

  void PrintContract(const Contract& contract) {
    lines_.Add(PrintScalar(contract.name) + ":");
    lines_.Below([&] {
      lines_.Add("subjects: " + PrintSubjects(contract.subjects));
      PrintLimits(contract.limits, contract.limits.size());
    });
  }

  void PrintResource(const Resource& resource) {
    lines_.Add(PrintScalar(resource.name) + ":");
    lines_.Below([&] {
      if (resource.copies) return PrintCopyRules(resource);
      const TierLimits tiers = FindTiers(resource.limits);
      if (tiers.before > 0 || tiers.tiers == nullptr) PrintLimits(resource.limits, tiers.before);
      if (tiers.tiers != nullptr) PrintTiers(tiers, nullptr);
      PrintOverrides(resource, [&](const Override& one) { PrintRateOverride(resource, one); });
    });
  }

  void PrintLimits(const std::vector<RuleLimit>& limits, size_t count) {
    lines_.Add(count == 0 ? "limits: []" : "limits:");
    lines_.Below([&] {
      for (size_t i = 0; i < count; ++i) lines_.Add("- " + PrintLimit(limits[i]));
    });
  }

  // `base`: of which these are the override.
  void PrintTiers(const TierLimits& limits, const TierLimits* base) {
    lines_.Add("tiers:");
    lines_.Below([&] {
      if (base != nullptr || limits.hard_limit != nullptr) {
        lines_.Add("hard_limit: " + PrintPerSecond(limits.hard_limit));
      }
      if (base == nullptr) {
        if (limits.global_limit) {
          lines_.Add("global_limit: " + PrintPerSecond(limits.global_limit));
        }
        for (const auto& [name, text] : BesideFields(*limits.tiers, Usual())) {
          lines_.Add(std::string(name) + ": " + text);
        }
      }
      const auto& tiers = std::get<BurstTiers>(limits.tiers->limit).tiers;
      lines_.Add(tiers.empty() ? "tiers: []" : "tiers:");
      lines_.Below([&] {
        for (const BurstTiers::Tier& tier : tiers) lines_.Add("- " + PrintTier(tier));
      });
    });
  }

  void PrintCopyRules(const Resource& resource) {
    const CopyRules& copies = *resource.copies;
    lines_.Add("copies:");
    lines_.Below([&] {
      lines_.Add("per_subject: " + PrintCopies(copies.per_subject));
      if (copies.total) lines_.Add("total: " + PrintCopies(*copies.total));
      for (const auto& [name, text] : BesideFields(copies.per_subject, Usual())) {
        lines_.Add(std::string(name) + ": " + text);
      }
      if (!copies.groups.empty()) lines_.Add("groups:");
      lines_.Below([&] {
        for (const Group& group : copies.groups) lines_.Add("- " + PrintGroup(group));
      });
    });
    PrintOverrides(resource, [&](const Override& one) {
      lines_.Add("- {subject: " + PrintScalar(one.subject) +
                 ", copies: {per_subject: " + PrintCopies(one.limits.front()) + "}}");
    });
  }

  static std::string PrintGroup(const Group& group) {
    FieldTexts fields = {{"name", PrintScalar(group.name)}, {"limit", PrintCopies(group.limit)}};
    if (group.others) {
      fields.emplace_back("others", "true");
    } else {
      fields.emplace_back("subjects", PrintSubjects(group.subjects));
    }
    return PrintFlow(fields);
  }

  template <typename PrintOne>
  void PrintOverrides(const Resource& resource, PrintOne print_one) {
    if (resource.overrides.empty()) return;
    lines_.Add("overrides:");
    lines_.Below([&] {
      for (const Override& one : resource.overrides) print_one(one);
    });
  }

  // Only what differs from the resource's own.
  void PrintRateOverride(const Resource& resource, const Override& one) {
    const TierLimits tiers = FindTiers(one.limits), base = FindTiers(resource.limits);
    lines_.Add("- subject: " + PrintScalar(one.subject));
    lines_.Below([&] {
      std::vector<std::string> limits;
      for (size_t i = 0; i < tiers.before; ++i) {
        const std::string text = PrintLimitOverride(resource.limits[i], one.limits[i]);
        if (!text.empty()) limits.push_back(text);
      }
      if (!limits.empty()) lines_.Add("limits:");
      lines_.Below([&] {
        for (const std::string& text : limits) lines_.Add("- " + text);
      });
      const bool same_tiers = tiers.tiers == nullptr ||
                              (SameNumbers(tiers.tiers->limit, base.tiers->limit) &&
                               PrintPerSecond(tiers.hard_limit) == PrintPerSecond(base.hard_limit));
      if (!same_tiers) PrintTiers(tiers, &base);
    });
  }

  static std::string PrintLimitOverride(const RuleLimit& base, const RuleLimit& limit) {
    FieldTexts fields = {{"name", PrintScalar(limit.name)}};
    const FieldTexts numbers = NumberFields(limit), base_numbers = NumberFields(base);
    if (numbers != base_numbers) {
      // A limit that is freed keeps its algorithm, and a shared one can only be freed.
      const bool freed = limit.unlimited && numbers.front() == base_numbers.front();
      fields = Joined(fields, freed ? FieldTexts{numbers.back()} : numbers);
    }
    fields = Joined(fields, BesideFields(limit, base));
    return fields.size() == 1 ? "" : PrintFlow(fields);
  }

  Lines lines_;
};

}  // namespace

std::string PrintRules(const Rulebook& rules) { return Printer().Print(rules); }

}  // namespace weir
