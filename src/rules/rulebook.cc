#include "rules/rulebook.h"

#include <utility>

namespace weir {
namespace {

uint64_t HashPair(std::string_view ns, std::string_view resource) {
  return HashName(ns) + name_hash::kOdd1 * HashName(resource);
}

}  // namespace

Rulebook::Rulebook(std::vector<Namespace> namespaces) : namespaces_(std::move(namespaces)) {
  size_t resources = 0;
  for (Namespace& ns : namespaces_) {
    NumberAll(ns);
    for (Resource& resource : ns.resources) resource.index = static_cast<uint32_t>(resources++);
  }
  domains_.reserve(namespaces_.size());
  entries_.reserve(resources);
  domain_table_ = NameTable(namespaces_.size());
  entry_table_ = NameTable(resources);
  for (const Namespace& ns : namespaces_) {
    domain_table_.Add(HashName(ns.name), static_cast<uint32_t>(domains_.size()));
    domains_.push_back(IndexDomain(ns));
    for (const Resource& resource : ns.resources) {
      entry_table_.Add(HashPair(ns.name, resource.name), resource.index);
      entries_.push_back(IndexResource(domains_.back(), resource));
    }
  }
}

void Rulebook::Number(RuleLimit& limit) {
  limit.index = static_cast<uint32_t>(all_.size());
  all_.push_back(&limit);
}

void Rulebook::NumberAll(Namespace& ns) {
  for (Resource& resource : ns.resources) {
    for (RuleLimit& limit : resource.limits) Number(limit);
    if (resource.copies) {
      Number(resource.copies->per_subject);
      if (resource.copies->total) Number(*resource.copies->total);
      for (Group& group : resource.copies->groups) Number(group.limit);
    }
    for (Override& override_ : resource.overrides) {
      for (RuleLimit& limit : override_.limits) Number(limit);
    }
  }
  for (Contract& contract : ns.contracts) {
    for (RuleLimit& limit : contract.limits) Number(limit);
  }
  NumberDescriptors(ns.descriptors);
}

void Rulebook::NumberDescriptors(std::vector<DescriptorRule>& rules) {
  for (DescriptorRule& rule : rules) {
    if (rule.limit) Number(*rule.limit);
    NumberDescriptors(rule.descriptors);
  }
}

Rulebook::Domain Rulebook::IndexDomain(const Namespace& ns) {
  Domain domain{&ns, ns.enforcement, {}, {}, {}, DescriptorIndex(ns.descriptors)};
  for (const Contract& contract : ns.contracts) {
    if (contract.name == ns.default_contract) domain.default_contract = contract.limits;
    for (const std::string& subject : contract.subjects) {
      domain.clients.push_back({subject, &contract});
    }
  }
  domain.by_subject = NameTable(domain.clients.size());
  for (uint32_t i = 0; i < domain.clients.size(); ++i) {
    domain.by_subject.Add(HashName(domain.clients[i].subject), i);
  }
  return domain;
}

Rulebook::Entry Rulebook::IndexResource(const Domain& domain, const Resource& resource) {
  Entry entry{resource.name,
              domain.ns->name,
              resource.limits,
              &domain,
              &resource,
              resource.kind == Resource::Kind::kCopies,
              NameTable(resource.overrides.size()),
              {},
              {},
              {}};
  for (uint32_t i = 0; i < resource.overrides.size(); ++i) {
    entry.overrides.Add(HashName(resource.overrides[i].subject), i);
  }
  if (resource.copies) IndexGroups(*resource.copies, entry);
  return entry;
}

void Rulebook::IndexGroups(const CopyRules& copies, Entry& entry) {
  size_t most = 0;
  for (const Group& group : copies.groups) most += group.subjects.size();
  entry.by_subject = NameTable(most);
  for (const Group& group : copies.groups) {
    if (group.others) entry.others.push_back(&group.limit);
    for (const std::string& subject : group.subjects) {
      const uint64_t hash = HashName(subject);
      uint32_t at = entry.by_subject.Find(
          hash, [&](uint32_t i) { return SameName(entry.members[i].subject, subject); });
      if (at == NameTable::kNone) {
        at = static_cast<uint32_t>(entry.members.size());
        entry.members.push_back({subject, {}});
        entry.by_subject.Add(hash, at);
      }
      entry.members[at].groups.push_back(&group.limit);
    }
  }
}

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
  match.ns = domain.ns;
  match.resource = entry->resource;
  if (entry->is_copies) {
    match.error = Code::kWrongKind;
    return;
  }
  const Override* override_ = entry->overrides.empty() ? nullptr : OverrideOf(*entry, subject);
  match.limits = override_ == nullptr ? entry->limits : override_->limits;
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
  match.ns = domain->ns;
  if (domain->ns->allow_unconfigured) {
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
  match.ns = domain->ns;
  match.enforcement = domain->ns->enforcement;
  if (entry == nullptr) {
    if (!domain->ns->allow_unconfigured) match.error = Code::kUnknownResource;
    return match;
  }
  match.resource = entry->resource;
  if (!entry->resource->copies) {
    match.error = Code::kWrongKind;
    return match;
  }
  const CopyRules& copies = *entry->resource->copies;
  const Override* override_ = OverrideOf(*entry, subject);
  match.per_subject = override_ == nullptr ? &copies.per_subject : &override_->limits.front();
  if (copies.total) match.total = &*copies.total;
  const uint32_t member = entry->by_subject.Find(
      HashName(subject), [&](uint32_t i) { return SameName(entry->members[i].subject, subject); });
  match.groups = member == NameTable::kNone ? std::span<const RuleLimit* const>(entry->others)
                                            : entry->members[member].groups;
  return match;
}

DescriptorMatch Rulebook::MatchDescriptor(std::string_view ns,
                                          std::span<const DescriptorEntry> entries) const {
  DescriptorMatch match;
  const Domain* domain = FindDomain(ns);
  if (domain == nullptr) return match;
  match.ns = domain->ns;
  match.rule = entries.empty() ? nullptr : domain->descriptors.Find(entries);
  if (match.rule == nullptr || !match.rule->limit) return match;
  match.limit = &*match.rule->limit;
  match.keyed = match.rule->keyed;
  return match;
}

const Namespace* Rulebook::FindNamespace(std::string_view ns) const {
  const Domain* domain = FindDomain(ns);
  return domain == nullptr ? nullptr : domain->ns;
}

const Resource* Rulebook::FindResource(std::string_view ns, std::string_view resource) const {
  const Entry* entry = FindEntry(ns, resource);
  return entry == nullptr ? nullptr : entry->resource;
}

const Rulebook::Domain* Rulebook::FindDomain(std::string_view ns) const {
  const uint32_t at = domain_table_.Find(
      HashName(ns), [&](uint32_t i) { return SameName(domains_[i].ns->name, ns); });
  return at == NameTable::kNone ? nullptr : &domains_[at];
}

std::span<const RuleLimit> Rulebook::ContractOf(const Domain& domain, std::string_view subject) {
  const uint32_t at = domain.by_subject.Find(
      HashName(subject), [&](uint32_t i) { return SameName(domain.clients[i].subject, subject); });
  return at == NameTable::kNone ? domain.default_contract : domain.clients[at].contract->limits;
}

const Override* Rulebook::OverrideOf(const Entry& entry, std::string_view subject) {
  const uint32_t at = entry.overrides.Find(HashName(subject), [&](uint32_t i) {
    return SameName(entry.resource->overrides[i].subject, subject);
  });
  return at == NameTable::kNone ? nullptr : &entry.resource->overrides[at];
}

}  // namespace weir
