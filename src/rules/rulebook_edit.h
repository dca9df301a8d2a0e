// Makes a rulebook out of another, or of nothing.
//
// What is new gets numbers: those of what it takes the place of where there are some, else new ones at the
// end. What is shared keeps its own, so whoever has arrays by these numbers (the limiter) finds what
// changed by comparing, number by number, what stands there.
#pragma once

#include "rules/rulebook.h"

namespace weir {

inline uint64_t HashPair(std::string_view ns, std::string_view resource) {
  return HashName(ns) + name_hash::kOdd1 * HashName(resource);
}

class RulebookEdit {
 public:
  // Of a copy that nobody else has seen yet. Room for so many resources more, if it is known.
  explicit RulebookEdit(Rulebook& book, size_t more_resources = 0);

  // In place of the one of its name, if there is one.
  void PutNamespace(Namespace ns);
  void EraseNamespace(std::string_view ns);
  // Of a namespace that there is.
  void PutResource(Resource resource);
  void EraseResource(std::string_view ns, std::string_view resource);
  // New namespaces come behind all others, or each before the first whose name is greater.
  enum class Order { kAsPut, kByName };
  void Finish(Order order);

 private:
  using Domain = Rulebook::Domain;
  using Entry = Rulebook::Entry;
  using Indexed = Rulebook::Indexed;
  using Section = Rulebook::Section;
  using Sections = std::vector<std::shared_ptr<const Section>>;

  // These number all limits of a part, and give the numbers back.
  template <typename Part>
  size_t Number(Part& part);
  template <typename Part>
  size_t Free(const Part& part);

  const Resource* AddResource(Resource resource, const Domain& domain, Section& section);
  void FreeResource(const Resource& resource, Section& section);
  void AddToTable(uint64_t hash, uint32_t number);
  void Place(Order order);

  Rulebook& book_;
  SharedArray<std::shared_ptr<const Indexed>>::Edit resources_;
  Sections added_;
  bool moved_ = false;  // the sections are no longer where the table has them
};

}  // namespace weir
