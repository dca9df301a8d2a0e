// The rulebook: every rule in force, read-only after it was built (rules/parse.h), so that any
// number of threads may match against it. A reload builds another one.
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

#include "rules/descriptors.h"
#include "rules/name_table.h"
#include "rules/rule_limit.h"
#include "weir/error.h"

namespace weir {

// What a resource's limits are for one subject.
struct Override {
  std::string subject;
  std::vector<RuleLimit> limits;  // merged; of a copy-limited resource: per_subject alone
};

// Copies for some subjects together. Its limit is named "group:NAME".
struct Group {
  std::string name;
  bool others = false;  // the subjects that are in no other group
  std::vector<std::string> subjects;
  RuleLimit limit;
};

struct CopyRules {
  RuleLimit per_subject;
  std::optional<RuleLimit> total;
  std::vector<Group> groups;
};

struct Resource {
  enum class Kind { kRate, kCopies };
  std::string name;
  std::string namespace_name;
  Kind kind = Kind::kRate;
  // kRate: in the order of the file, then "tiers", "hard_limit" and "global_limit" if it has them.
  std::vector<RuleLimit> limits;
  std::optional<CopyRules> copies;  // kCopies
  std::vector<Override> overrides;
  uint32_t index = 0;  // among the resources of the rulebook
};

struct Contract {
  std::string name;
  std::vector<std::string> subjects;
  std::vector<RuleLimit> limits;
};

struct Namespace {
  std::string name;
  bool allow_unconfigured = false;  // unconfigured: allow
  Enforcement enforcement = Enforcement::kOn;
  std::string default_contract;  // empty: none
  // Of limits that say nothing themselves, and of those that requests carry; none: not said here.
  std::optional<Coordination> coordination;
  std::vector<Resource> resources;
  std::vector<Contract> contracts;
  std::vector<DescriptorRule> descriptors;
};

// What applies to a request.
struct Match {
  Code error = Code::kOk;  // or kUnknownNamespace, kUnknownResource, kWrongKind
  Enforcement enforcement = Enforcement::kOn;
  const Namespace* ns = nullptr;
  const Resource* resource = nullptr;  // null: not configured, where the namespace allows that
  std::span<const RuleLimit> limits;
  std::span<const RuleLimit> contract;
};

// What applies to a reservation.
struct CopiesMatch {
  Code error = Code::kOk;  // as above
  Enforcement enforcement = Enforcement::kOn;
  const Namespace* ns = nullptr;
  const Resource* resource = nullptr;      // null: not configured, where the namespace allows that
  const RuleLimit* per_subject = nullptr;  // null only if resource is
  const RuleLimit* total = nullptr;        // null: no such limit
  std::span<const RuleLimit* const> groups;  // to which the subject belongs
};

// What applies to a descriptor.
struct DescriptorMatch {
  const Namespace* ns = nullptr;         // null: the domain is unknown
  const DescriptorRule* rule = nullptr;  // null: nothing matches
  const RuleLimit* limit = nullptr;      // null: nothing matches, or the rule is free
  uint64_t keyed = 0;                    // bit i: the value of the i-th entry belongs to the key
};

class Rulebook {
 public:
  // Takes what was read and found right; numbers the limits and the resources.
  explicit Rulebook(std::vector<Namespace> namespaces);
  Rulebook(const Rulebook&) = delete;
  Rulebook& operator=(const Rulebook&) = delete;

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

  std::span<const Namespace> namespaces() const { return namespaces_; }
  // Every limit, those of overrides included; all()[i]->index == i.
  std::span<const RuleLimit* const> all() const { return all_; }
  // Null if there is none.
  const Namespace* FindNamespace(std::string_view ns) const;
  const Resource* FindResource(std::string_view ns, std::string_view resource) const;

 private:
  struct Client {
    std::string_view subject;
    const Contract* contract;
  };
  struct Domain {
    const Namespace* ns;
    Enforcement enforcement;
    std::span<const RuleLimit> default_contract;
    NameTable by_subject;  // -> clients
    std::vector<Client> clients;
    DescriptorIndex descriptors;
  };
  struct Member {
    std::string_view subject;
    std::vector<const RuleLimit*> groups;
  };
  // A resource, with what every match reads in front.
  struct alignas(64) Entry {
    std::string_view name;
    std::string_view namespace_name;
    std::span<const RuleLimit> limits;
    const Domain* domain;
    const Resource* resource;
    bool is_copies;
    NameTable overrides;   // subject -> resource->overrides
    NameTable by_subject;  // -> members
    std::vector<Member> members;
    std::vector<const RuleLimit*> others;  // the groups of everybody else
  };

  void Number(RuleLimit& limit);
  void NumberAll(Namespace& ns);
  void NumberDescriptors(std::vector<DescriptorRule>& rules);
  static Domain IndexDomain(const Namespace& ns);
  static Entry IndexResource(const Domain& domain, const Resource& resource);
  static void IndexGroups(const CopyRules& copies, Entry& entry);

  const Entry* FindEntry(std::string_view ns, std::string_view resource) const;
  void MatchUnconfigured(std::string_view ns, std::string_view subject, weir::Match& match) const;
  const Domain* FindDomain(std::string_view ns) const;
  static std::span<const RuleLimit> ContractOf(const Domain& domain, std::string_view subject);
  static const Override* OverrideOf(const Entry& entry, std::string_view subject);

  std::vector<Namespace> namespaces_;
  std::vector<const RuleLimit*> all_;
  std::vector<Domain> domains_;
  std::vector<Entry> entries_;
  NameTable domain_table_;  // namespace -> domains_
  NameTable entry_table_;   // (namespace, resource) -> entries_
};

}  // namespace weir
