#include "rules/read/namespace_reader.h"

#include <unordered_map>

#include "rules/read/coordination.h"
#include "rules/read/descriptor_reader.h"
#include "rules/read/fields.h"
#include "rules/read/limit_list.h"
#include "rules/read/resource_reader.h"
#include "rules/read/subjects.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

class NamespaceReader {
 public:
  NamespaceReader(std::string name, Source& source) : source_(source) {
    ns_.name = std::move(name);
  }

  Namespace Read(const Node& node) {
    const Fields fields(node, "a namespace", kNamespaceKeys, source_);
    if (const Node* at = fields.Find("unconfigured")) {
      const auto word = ReadWord(*at, "unconfigured", kUnconfiguredWords, source_);
      ns_.allow_unconfigured = word == size_t{1};
    }
    if (const Node* at = fields.Find("enforcement")) {
      const auto word = ReadEnum<Enforcement>(*at, "enforcement", kEnforcementWords, source_);
      ns_.enforcement = word.value_or(Enforcement::kOn);
    }
    if (const Node* map = fields.FindMap("resources")) ReadResources(*map);
    if (const Node* map = fields.FindMap("contracts")) ReadContracts(*map);
    if (const Node* at = fields.Find("default_contract")) ReadDefaultContract(*at);
    if (const Node* list = fields.FindList("descriptors")) {
      ns_.descriptors = ReadDescriptors(*list, ns_.name, source_);
    }
    if (const Node* at = fields.Find("coordination")) {
      ns_.coordination = ReadNamespaceCoordination(*at, source_);
    }
    GiveCoordination(source_.options(), ns_);
    return std::move(ns_);
  }

 private:
  void ReadResources(const Node& map) {
    ns_.resources.reserve(map.children.size());
    for (const Child& child : map.children) {
      const auto name = ReadName(*child.key, "a resource's name", source_);
      Resource resource = ReadResource(*child.node, ns_.name, name.value_or("?"), source_);
      if (name) ns_.resources.push_back(std::move(resource));
    }
  }

  void ReadContracts(const Node& map) {
    for (const Child& child : map.children) {
      Contract contract;
      contract.name = ReadName(*child.key, "a contract's name", source_).value_or("?");
      const Fields fields(*child.node, "a contract", kContractKeys, source_);
      if (const Node* list = fields.FindList("subjects")) {
        contract.subjects = ReadSubjects(*list, source_);
        NoteTakenSubjects(*list, contract.name);
      }
      if (const Node* list = fields.FindList("limits")) {
        contract.limits = BuildLimits(ReadLimitList(*list, source_), source_);
      }
      SetIdentities(contract.limits, ns_.name, "contract", contract.name);
      ns_.contracts.push_back(std::move(contract));
    }
  }

  // A subject has one contract.
  void NoteTakenSubjects(const Node& list, const std::string& contract) {
    for (const Child& child : list.children) {
      if (!child.node->IsScalar()) continue;
      const auto [first, is_new] = contract_of_.try_emplace(child.node->text, contract);
      if (is_new || first->second == contract) continue;
      source_.Error(child.node->mark, "subject " + Ticked(child.node->text) + " is in contract `" +
                                          first->second + "` already; it can have only one");
    }
  }

  void ReadDefaultContract(const Node& node) {
    const auto name = ReadName(node, "`default_contract`", source_);
    if (!name) return;
    ns_.default_contract = *name;
    std::vector<std::string_view> names;
    for (const Contract& contract : ns_.contracts) {
      if (contract.name == *name) return;
      names.push_back(contract.name);
    }
    source_.Error(node.mark, "there is no contract " + Ticked(*name) + " in this namespace" +
                                 Choice(*name, names));
  }

  Source& source_;
  Namespace ns_;
  std::unordered_map<std::string_view, std::string> contract_of_;
};

bool NoteIfRatelimitFile(const Node& root, Source& source) {
  if (!root.IsMap()) return false;
  for (const Child& child : root.children) {
    if (child.key->text != "domain") continue;
    source.Error(child.key->mark,
                 "this is a file of envoyproxy/ratelimit: put it into a directory "
                 "of its own and name that with `--ratelimit-config`");
    return true;
  }
  return false;
}

}  // namespace

std::vector<ReadNamespace> ReadRulesFile(const Node& root, Source& source) {
  std::vector<ReadNamespace> read;
  if (NoteIfRatelimitFile(root, source)) return read;
  const Fields fields(root, "a rules file", kFileKeys, source);
  fields.Require("namespaces", "namespaces: {shop: {resources: {…}}}");
  const Node* map = fields.FindMap("namespaces");
  if (map == nullptr) return read;
  read.reserve(map->children.size());
  for (const Child& child : map->children) {
    const auto name = ReadName(*child.key, "a namespace's name", source);
    Namespace ns = NamespaceReader(name.value_or("?"), source).Read(*child.node);
    if (name) read.push_back({std::move(ns), child.key->mark});
  }
  return read;
}

std::vector<ReadNamespace> ReadRatelimitFile(const Node& root, Source& source) {
  const Fields fields(root, "a file of envoyproxy/ratelimit", kRatelimitKeys, source);
  const Node* domain = fields.Require("domain", "domain: edge");
  if (domain == nullptr) return {};
  const auto name = ReadName(*domain, "`domain`", source);
  ReadNamespace read;
  read.ns.name = name.value_or("?");
  read.mark = domain->mark;
  if (const Node* list = fields.FindList("descriptors")) {
    read.ns.descriptors = ReadDescriptors(*list, read.ns.name, source);
  }
  read.ns.coordination = source.options().ratelimit;
  GiveCoordination(source.options(), read.ns);
  std::vector<ReadNamespace> all;
  all.push_back(std::move(read));
  return all;
}

}  // namespace weir
