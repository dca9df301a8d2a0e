#include "rules/rulebook_edit.h"

#include <algorithm>
#include <iterator>

namespace weir {
namespace {

// What a limit can tell only beside the others of its resource.
void MarkTiers(std::vector<RuleLimit>& limits) {
  bool of_tiers = false;
  for (RuleLimit& limit : limits) {
    of_tiers = of_tiers || std::holds_alternative<BurstTiers>(limit.limit);
    limit.of_tiers = of_tiers;
  }
}

// A resource's tiers come after its other limits, and the hard and global limits after the tiers.
void MarkLimits(Resource& resource) {
  MarkTiers(resource.limits);
  for (Override& one : resource.overrides) {
    MarkTiers(one.limits);
    for (RuleLimit& limit : one.limits) limit.only_for = one.subject;
  }
}

size_t CountResources(const std::vector<Namespace>& namespaces) {
  size_t count = 0;
  for (const Namespace& ns : namespaces) count += ns.resources.size();
  return count;
}

}  // namespace

// ---- The ways to a rulebook

Rulebook::Rulebook(std::vector<Namespace> namespaces) {
  RulebookEdit edit(*this, CountResources(namespaces));
  for (Namespace& ns : namespaces) edit.PutNamespace(std::move(ns));
  edit.Finish(RulebookEdit::Order::kAsPut);
}

template <typename Change>
std::shared_ptr<const Rulebook> Rulebook::Changed(size_t more_resources, Change change) const {
  const std::shared_ptr<Rulebook> next(new Rulebook(*this));
  RulebookEdit edit(*next, more_resources);
  change(edit);
  edit.Finish(RulebookEdit::Order::kByName);
  return next;
}

std::shared_ptr<const Rulebook> Rulebook::With(std::vector<Namespace> changed,
                                               std::span<const std::string> gone) const {
  return Changed(CountResources(changed), [&](RulebookEdit& edit) {
    for (const std::string& ns : gone) edit.EraseNamespace(ns);
    for (Namespace& ns : changed) edit.PutNamespace(std::move(ns));
  });
}

std::shared_ptr<const Rulebook> Rulebook::WithResource(Resource resource) const {
  return Changed(1, [&](RulebookEdit& edit) { edit.PutResource(std::move(resource)); });
}

std::shared_ptr<const Rulebook> Rulebook::WithoutResource(std::string_view ns,
                                                          std::string_view resource) const {
  return Changed(0, [&](RulebookEdit& edit) { edit.EraseResource(ns, resource); });
}

// ---- Parts of it

void Rulebook::IndexDomain(Domain& domain) {
  domain.enforcement = domain.ns.enforcement;
  domain.descriptors = DescriptorIndex(domain.ns.descriptors);
  for (const Contract& contract : domain.ns.contracts) {
    if (contract.name == domain.ns.default_contract) domain.default_contract = contract.limits;
    for (const std::string& subject : contract.subjects) {
      domain.clients.push_back({subject, &contract});
    }
  }
  domain.by_subject = NameTable(domain.clients.size());
  for (uint32_t i = 0; i < domain.clients.size(); ++i) {
    domain.by_subject.Add(HashName(domain.clients[i].subject), i);
  }
}

void Rulebook::IndexResource(Indexed& indexed) {
  const std::vector<Override>& overrides = indexed.resource.overrides;
  indexed.overrides = NameTable(overrides.size());
  for (uint32_t i = 0; i < overrides.size(); ++i) {
    indexed.overrides.Add(HashName(overrides[i].subject), i);
  }
  if (!indexed.resource.copies) return;
  const std::vector<Group>& groups = indexed.resource.copies->groups;
  size_t most = 0;
  for (const Group& group : groups) most += group.subjects.size();
  indexed.by_subject = NameTable(most);
  for (const Group& group : groups) IndexGroup(group, indexed);
}

void Rulebook::IndexGroup(const Group& group, Indexed& indexed) {
  if (group.others) indexed.others.push_back(&group.limit);
  for (const std::string& subject : group.subjects) {
    const uint64_t hash = HashName(subject);
    uint32_t at = indexed.by_subject.Find(
        hash, [&](uint32_t i) { return SameName(indexed.members[i].subject, subject); });
    if (at == NameTable::kNone) {
      at = static_cast<uint32_t>(indexed.members.size());
      indexed.members.push_back({subject, {}});
      indexed.by_subject.Add(hash, at);
    }
    indexed.members[at].groups.push_back(&group.limit);
  }
}

// ---- The edit

RulebookEdit::RulebookEdit(Rulebook& book, size_t more_resources)
    : book_(book), resources_(book.resources_) {
  if (!book_.entries_.empty()) return;
  book_.entry_table_ = NameTable(more_resources);
  book_.entries_.reserve(more_resources);
}

template <typename Part>
size_t RulebookEdit::Number(Part& part) {
  size_t count = 0;
  ForEachLimit(part, [&](RuleLimit& limit) {
    ++count;
    if (book_.free_limits_.empty()) {
      limit.index = static_cast<uint32_t>(book_.all_.size());
      book_.all_.push_back(&limit);
      return;
    }
    limit.index = book_.free_limits_.back();
    book_.free_limits_.pop_back();
    book_.all_[limit.index] = &limit;
  });
  return count;
}

template <typename Part>
size_t RulebookEdit::Free(const Part& part) {
  const size_t before = book_.free_limits_.size();
  ForEachLimit(part, [&](const RuleLimit& limit) {
    book_.all_[limit.index] = nullptr;
    book_.free_limits_.push_back(limit.index);
  });
  // The first is taken first: what only changes its numbers keeps its place.
  const auto freed = book_.free_limits_.begin() + static_cast<std::ptrdiff_t>(before);
  std::reverse(freed, book_.free_limits_.end());
  return book_.free_limits_.size() - before;
}

// Takes the number of the one of its name, if there is one.
const Resource* RulebookEdit::AddResource(Resource resource, const Domain& domain,
                                          Section& section) {
  const auto indexed = std::make_shared<Indexed>();
  indexed->resource = std::move(resource);
  Resource& own = indexed->resource;
  MarkLimits(own);
  const Entry* before = book_.FindEntry(domain.ns.name, own.name);
  if (before != nullptr) {
    own.index = before->indexed->resource.index;
    section.limits -= Free(before->indexed->resource);
  } else if (!book_.free_resources_.empty()) {
    own.index = book_.free_resources_.back();
    book_.free_resources_.pop_back();
  } else {
    own.index = static_cast<uint32_t>(book_.entries_.size());
    book_.entries_.emplace_back();
    resources_.Grow(book_.entries_.size());
  }
  section.limits += Number(own);
  Rulebook::IndexResource(*indexed);
  book_.entries_[own.index] = {own.name,
                               domain.ns.name,
                               own.limits.data(),
                               static_cast<uint32_t>(own.limits.size()),
                               own.kind == Resource::Kind::kCopies,
                               !own.overrides.empty(),
                               &domain,
                               indexed.get()};
  if (before == nullptr) AddToTable(HashPair(domain.ns.name, own.name), own.index);
  resources_.At(own.index) = indexed;
  return &own;
}

void RulebookEdit::FreeResource(const Resource& resource, Section& section) {
  const uint32_t number = resource.index;
  const auto hash_of = [&](uint32_t i) {
    return HashPair(book_.entries_[i].namespace_name, book_.entries_[i].name);
  };
  book_.entry_table_.Erase(hash_of(number), number, hash_of);
  section.limits -= Free(resource);
  book_.free_resources_.push_back(number);
  book_.entries_[number] = {};
  resources_.At(number).reset();
}

void RulebookEdit::AddToTable(uint64_t hash, uint32_t number) {
  NameTable& table = book_.entry_table_;
  const size_t in_use = book_.entries_.size() - book_.free_resources_.size();
  if (in_use <= table.capacity()) return table.Add(hash, number);
  table = NameTable(2 * in_use);
  for (uint32_t i = 0; i < book_.entries_.size(); ++i) {
    const Entry& entry = book_.entries_[i];
    if (entry.indexed != nullptr) table.Add(HashPair(entry.namespace_name, entry.name), i);
  }
}

void RulebookEdit::PutNamespace(Namespace ns) {
  const uint32_t at = book_.FindSection(ns.name);
  const std::shared_ptr<const Section> before =
      at == NameTable::kNone ? nullptr : book_.sections_[at];
  const auto section = std::make_shared<Section>();
  if (before != nullptr) {
    section->limits = before->limits;
    section->limits -= Free(before->domain->ns);
  }
  std::vector<Resource> resources = std::move(ns.resources);
  const auto domain = std::make_shared<Domain>();
  domain->ns = std::move(ns);
  section->domain = domain;
  section->resources.reserve(resources.size());
  for (Resource& resource : resources) {
    section->resources.push_back(AddResource(std::move(resource), *domain, *section));
  }
  section->limits += Number(domain->ns);
  Rulebook::IndexDomain(*domain);
  if (before == nullptr) {
    added_.push_back(section);
    return;
  }
  for (const Resource* old : before->resources) {
    const Indexed* stands = book_.entries_[old->index].indexed;
    if (stands != nullptr && &stands->resource == old) FreeResource(*old, *section);
  }
  book_.sections_[at] = section;
}

void RulebookEdit::EraseNamespace(std::string_view ns) {
  const uint32_t at = book_.FindSection(ns);
  if (at == NameTable::kNone) return;
  Section section = *book_.sections_[at];
  Free(section.domain->ns);
  for (const Resource* resource : section.resources) FreeResource(*resource, section);
  const auto hash_of = [&](uint32_t i) { return HashName(book_.sections_[i]->domain->ns.name); };
  book_.domain_table_.Erase(hash_of(at), at, hash_of);
  book_.sections_[at].reset();
  moved_ = true;
}

void RulebookEdit::PutResource(Resource resource) {
  const uint32_t at = book_.FindSection(resource.namespace_name);
  const auto section = std::make_shared<Section>(*book_.sections_[at]);
  const Resource* before = book_.FindResource(resource.namespace_name, resource.name);
  const Resource* added = AddResource(std::move(resource), *section->domain, *section);
  std::vector<const Resource*>& list = section->resources;
  if (before != nullptr) {
    *std::find(list.begin(), list.end(), before) = added;
  } else {
    list.insert(std::find_if(list.begin(), list.end(),
                             [&](const Resource* one) { return one->name > added->name; }),
                added);
  }
  book_.sections_[at] = section;
}

void RulebookEdit::EraseResource(std::string_view ns, std::string_view resource) {
  const Resource* before = book_.FindResource(ns, resource);
  if (before == nullptr) return;
  const uint32_t at = book_.FindSection(ns);
  const auto section = std::make_shared<Section>(*book_.sections_[at]);
  std::erase(section->resources, before);
  FreeResource(*before, *section);
  book_.sections_[at] = section;
}

// Every section where it belongs.
void RulebookEdit::Place(Order order) {
  Sections all;
  all.reserve(book_.sections_.size() + added_.size());
  const auto name = [](const auto& section) -> const std::string& {
    return section->domain->ns.name;
  };
  auto next = added_.begin();
  if (order == Order::kByName) {
    std::sort(added_.begin(), added_.end(),
              [&](const auto& a, const auto& b) { return name(a) < name(b); });
  }
  for (auto& section : book_.sections_) {
    if (section == nullptr) continue;
    while (order == Order::kByName && next != added_.end() && name(*next) < name(section)) {
      all.push_back(std::move(*next++));
    }
    all.push_back(std::move(section));
  }
  std::move(next, added_.end(), std::back_inserter(all));
  book_.sections_ = std::move(all);
  book_.domain_table_ = NameTable(book_.sections_.size());
  for (uint32_t i = 0; i < book_.sections_.size(); ++i) {
    book_.domain_table_.Add(HashName(name(book_.sections_[i])), i);
  }
}

void RulebookEdit::Finish(Order order) {
  if (moved_ || !added_.empty()) Place(order);
  book_.resources_ = std::move(resources_).Finish();
}

}  // namespace weir
