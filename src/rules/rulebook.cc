#include "rules/rulebook.h"

#include "rules/rulebook_edit.h"

namespace weir {
[[gnu::always_inline]] inline const Rulebook::Entry* Rulebook::FindEntry(
    std::string_view ns, std::string_view resource) const {
  const uint32_t at = entry_table_.Find(HashPair(ns, resource), [&](uint32_t i) {
    return SameName(entries_[i].name, resource) && SameName(entries_[i].namespace_name, ns);
  });
  return at == NameTable::kNone ? nullptr : &entries_[at];
}

void Rulebook::Match(std::string_view ns, std::string_view resource, std::string_view subject,
                     weir::Match& match) const {
  const Entry* entry = FindEntry(ns, resource);
  if (entry == nullptr) {
    MatchUnconfigured(ns, subject, match);
    return;
  }
  const Domain& domain = *entry->domain;
  match.enforcement = domain.enforcement;
  match.ns = &domain.ns;
  match.resource = &entry->indexed->resource;
  if (entry->is_copies) {
    match.error = Code::kWrongKind;
    return;
  }
  const Override* override_ = entry->has_overrides ? OverrideOf(*entry, subject) : nullptr;
  match.limits = override_ == nullptr ? std::span(entry->limits, entry->limit_count)
                                      : std::span<const RuleLimit>(override_->limits);
  match.contract =
      domain.by_subject.empty() ? domain.default_contract : ContractOf(domain, subject);
}

void Rulebook::MatchUnconfigured(std::string_view ns, std::string_view subject,
                                 weir::Match& match) const {
  const Domain* domain = FindDomain(ns);
  if (domain == nullptr) {
    match.error = Code::kUnknownNamespace;
    return;
  }
  match.enforcement = domain->enforcement;
  match.ns = &domain->ns;
  if (domain->ns.allow_unconfigured) {
    match.contract = ContractOf(*domain, subject);
  } else {
    match.error = Code::kUnknownResource;
  }
}

CopiesMatch Rulebook::MatchCopies(std::string_view ns, std::string_view resource,
                                  std::string_view subject) const {
  CopiesMatch match;
  const Entry* entry = FindEntry(ns, resource);
  const Domain* domain = entry == nullptr ? FindDomain(ns) : entry->domain;
  if (domain == nullptr) {
    match.error = Code::kUnknownNamespace;
    return match;
  }
  match.ns = &domain->ns;
  match.enforcement = domain->enforcement;
  if (entry == nullptr) {
    if (!domain->ns.allow_unconfigured) match.error = Code::kUnknownResource;
    return match;
  }
  const Indexed& indexed = *entry->indexed;
  match.resource = &indexed.resource;
  if (!entry->is_copies) {
    match.error = Code::kWrongKind;
    return match;
  }
  const CopyRules& copies = *indexed.resource.copies;
  const Override* override_ = OverrideOf(*entry, subject);
  match.per_subject = override_ == nullptr ? &copies.per_subject : &override_->limits.front();
  if (copies.total) match.total = &*copies.total;
  const uint32_t member = indexed.by_subject.Find(
      HashName(subject), [&](uint32_t i) { return SameName(indexed.members[i].subject, subject); });
  match.groups = member == NameTable::kNone ? std::span<const RuleLimit* const>(indexed.others)
                                            : indexed.members[member].groups;
  return match;
}

DescriptorMatch Rulebook::MatchDescriptor(std::string_view ns,
                                          std::span<const DescriptorEntry> entries) const {
  DescriptorMatch match;
  const Domain* domain = FindDomain(ns);
  if (domain == nullptr) return match;
  match.ns = &domain->ns;
  match.rule = entries.empty() ? nullptr : domain->descriptors.Find(entries);
  if (match.rule == nullptr || !match.rule->limit) return match;
  match.limit = &*match.rule->limit;
  match.keyed = match.rule->keyed;
  return match;
}

const NamespaceTerms* Rulebook::FindNamespace(std::string_view ns) const {
  const Domain* domain = FindDomain(ns);
  return domain == nullptr ? nullptr : &domain->ns;
}

size_t Rulebook::LimitCountOf(std::string_view ns) const {
  const uint32_t at = FindSection(ns);
  return at == NameTable::kNone ? 0 : sections_[at]->limits;
}

Rulebook::Numbered Rulebook::ResourceAt(uint32_t number) const {
  const Entry& entry = entries_[number];
  if (entry.indexed == nullptr) return {nullptr, nullptr};
  return {&entry.indexed->resource, &entry.domain->ns};
}

const Resource* Rulebook::FindResource(std::string_view ns, std::string_view resource) const {
  const Entry* entry = FindEntry(ns, resource);
  return entry == nullptr ? nullptr : &entry->indexed->resource;
}

uint32_t Rulebook::FindSection(std::string_view ns) const {
  return domain_table_.Find(
      HashName(ns), [&](uint32_t i) { return SameName(sections_[i]->domain->ns.name, ns); });
}

const Rulebook::Domain* Rulebook::FindDomain(std::string_view ns) const {
  const uint32_t at = FindSection(ns);
  return at == NameTable::kNone ? nullptr : sections_[at]->domain.get();
}

std::span<const RuleLimit> Rulebook::ContractOf(const Domain& domain, std::string_view subject) {
  const uint32_t at = domain.by_subject.Find(
      HashName(subject), [&](uint32_t i) { return SameName(domain.clients[i].subject, subject); });
  return at == NameTable::kNone ? domain.default_contract : domain.clients[at].contract->limits;
}

const Override* Rulebook::OverrideOf(const Entry& entry, std::string_view subject) {
  const std::vector<Override>& overrides = entry.indexed->resource.overrides;
  const uint32_t at = entry.indexed->overrides.Find(
      HashName(subject), [&](uint32_t i) { return SameName(overrides[i].subject, subject); });
  return at == NameTable::kNone ? nullptr : &overrides[at];
}

}  // namespace weir
