// The rulebook: every rule in force, read-only after it was built (rules/read/parse.h), so that any
// number of threads may match against it. A reload builds another one; a change of one namespace or one
// resource makes another one that shares the rest with the last (rulebook_edit.cc).
//
// Matching allocates nothing and copies nothing: what applies to a request is at most two spans of
// limits that were laid out when the rules were read, one of the resource (an override for a
// subject has its own, merged) and one of the subject's contract.
//
//   (namespace, resource) --one hash--> Resource --if it has overrides--> subject's limits
//                                          |
//                                      Namespace --if it has contracts--> subject's contract
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_array.h"
#include "rules/mapped.h"
#include "rules/name_table.h"
#include "rules/namespace.h"
#include "weir/error.h"

namespace weir {

// What applies to a request.
struct Match {
  Code error = Code::kOk;  // or kUnknownNamespace, kUnknownResource, kWrongKind
  Enforcement enforcement = Enforcement::kOn;
  const NamespaceTerms* ns = nullptr;
  const Resource* resource = nullptr;  // null: not configured, where the namespace allows that
  std::span<const RuleLimit> limits;
  std::span<const RuleLimit> contract;
};

// What applies to a reservation.
struct CopiesMatch {
  Code error = Code::kOk;  // as above
  Enforcement enforcement = Enforcement::kOn;
  const NamespaceTerms* ns = nullptr;
  const Resource* resource = nullptr;      // null: not configured, where the namespace allows that
  const RuleLimit* per_subject = nullptr;  // null only if resource is
  const RuleLimit* total = nullptr;        // null: no such limit
  std::span<const RuleLimit* const> groups;  // to which the subject belongs
};

// What applies to a descriptor.
struct DescriptorMatch {
  const NamespaceTerms* ns = nullptr;    // null: the domain is unknown
  const DescriptorRule* rule = nullptr;  // null: nothing matches
  const RuleLimit* limit = nullptr;      // null: nothing matches, or the rule is free
  uint64_t keyed = 0;                    // bit i: the value of the i-th entry belongs to the key
};

class Rulebook {
 public:
  // Takes what was read and found right; numbers the limits and the resources.
  explicit Rulebook(std::vector<Namespace> namespaces);
  Rulebook& operator=(const Rulebook&) = delete;

  // This one with `changed` in place of the namespaces of their names, and without those in `gone`.
  // New ones come before the first whose name is greater.
  std::shared_ptr<const Rulebook> With(std::vector<Namespace> changed,
                                       std::span<const std::string> gone) const;
  // This one with a resource in place of the one of its name.
  std::shared_ptr<const Rulebook> WithResource(Resource resource) const;
  std::shared_ptr<const Rulebook> WithoutResource(std::string_view ns,
                                                  std::string_view resource) const;

  weir::Match Match(std::string_view ns, std::string_view resource,
                    std::string_view subject) const {
    weir::Match match;
    Match(ns, resource, subject, match);
    return match;
  }
  // The same into a `match` that is as new: to copy one costs as much as to find it.
  void Match(std::string_view ns, std::string_view resource, std::string_view subject,
             weir::Match& match) const;
  CopiesMatch MatchCopies(std::string_view ns, std::string_view resource,
                          std::string_view subject) const;
  DescriptorMatch MatchDescriptor(std::string_view ns,
                                  std::span<const DescriptorEntry> entries) const;

  // The namespaces in order, each with its resources in order: (terms, resources).
  auto namespaces() const { return Mapped<std::shared_ptr<const Section>, ViewOf>(sections_); }
  size_t resource_count() const { return resources_.size() - free_resources_.size(); }
  size_t limit_count() const { return all_.size() - free_limits_.size(); }
  // Of a namespace that there is, those of overrides included.
  size_t LimitCountOf(std::string_view ns) const;

  // Every limit by its number, those of overrides included: all()[i]->index == i. Null: a number that
  // is free, for rules were taken away.
  std::span<const RuleLimit* const> all() const { return all_; }
  // The same of resources, and what the namespace says beside them.
  struct Numbered {
    const Resource* resource;  // null: the number is free
    const NamespaceTerms* ns;
    bool operator==(const Numbered&) const = default;
  };
  uint32_t resource_bound() const { return static_cast<uint32_t>(entries_.size()); }
  Numbered ResourceAt(uint32_t number) const;

  // Null if there is none.
  const NamespaceTerms* FindNamespace(std::string_view ns) const;
  const Resource* FindResource(std::string_view ns, std::string_view resource) const;

 private:
  struct Client {
    std::string_view subject;
    const Contract* contract;
  };
  // What a namespace says beside its resources, and where to find it. Does not move.
  struct Domain {
    NamespaceTerms ns;
    Enforcement enforcement;
    std::span<const RuleLimit> default_contract;
    NameTable by_subject;  // -> clients
    std::vector<Client> clients;
    DescriptorIndex descriptors;
  };
  // A namespace.
  struct Section {
    std::shared_ptr<const Domain> domain;
    std::vector<const Resource*> resources;  // in order
    size_t limits = 0;                       // of these and of the domain
  };
  struct Member {
    std::string_view subject;
    std::vector<const RuleLimit*> groups;
  };
  // A resource, and where to find what it says. Does not move.
  struct Indexed {
    Resource resource;
    NameTable overrides;   // subject -> resource.overrides
    NameTable by_subject;  // -> members
    std::vector<Member> members;
    std::vector<const RuleLimit*> others;  // the groups of everybody else
  };
  // What every match reads, in a line of the cache.
  struct alignas(64) Entry {
    std::string_view name;
    std::string_view namespace_name;
    const RuleLimit* limits;
    uint32_t limit_count;
    bool is_copies;
    bool has_overrides;
    const Domain* domain;
    const Indexed* indexed;  // null: the number is free
  };
  static_assert(sizeof(Entry) == 64);

  struct ViewOf {
    struct View {
      const NamespaceTerms& terms;
      std::span<const Resource* const> resource_list;
      struct Behind {
        const Resource& operator()(const Resource* resource) const { return *resource; }
      };
      auto resources() const { return Mapped<const Resource*, Behind>(resource_list); }
    };
    View operator()(const std::shared_ptr<const Section>& section) const {
      return {section->domain->ns, section->resources};
    }
  };

  // A copy that is going to be changed.
  Rulebook(const Rulebook&) = default;
  template <typename Change>
  std::shared_ptr<const Rulebook> Changed(size_t more_resources, Change change) const;
  static void IndexDomain(Domain& domain);
  static void IndexResource(Indexed& indexed);
  static void IndexGroup(const Group& group, Indexed& indexed);

  const Entry* FindEntry(std::string_view ns, std::string_view resource) const;
  void MatchUnconfigured(std::string_view ns, std::string_view subject, weir::Match& match) const;
  uint32_t FindSection(std::string_view ns) const;
  const Domain* FindDomain(std::string_view ns) const;
  static std::span<const RuleLimit> ContractOf(const Domain& domain, std::string_view subject);
  static const Override* OverrideOf(const Entry& entry, std::string_view subject);

  friend class RulebookEdit;

  // By number, of what is in use.
  std::vector<Entry> entries_;
  std::vector<const RuleLimit*> all_;
  NameTable entry_table_;   // (namespace, resource) -> entries_
  NameTable domain_table_;  // namespace -> sections_
  std::vector<std::shared_ptr<const Section>> sections_;
  SharedArray<std::shared_ptr<const Indexed>> resources_;  // who owns what entries_ point to
  std::vector<uint32_t> free_resources_, free_limits_;
};

}  // namespace weir
