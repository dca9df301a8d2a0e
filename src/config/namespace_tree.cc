#include "config/namespace_tree.h"

#include <algorithm>

namespace weir {
namespace {

constexpr const char* kResources = "resources";

void AppendMember(std::string& text, std::string_view key, std::string_view value) {
  if (text.back() != '{') text += ',';
  text += PrintJson(std::string(key));
  text += ':';
  text += value;
}

}  // namespace

NamespaceTree::NamespaceTree(std::string name, uint64_t version, Json json)
    : name_(std::move(name)), version_(version), json_(std::move(json)) {
  if (!HasResources()) return;
  for (const auto& one : json_[kResources].items()) pieces_[one.key()] = PrintJson(one.value());
}

bool NamespaceTree::HasResources() const {
  if (!json_.is_object()) return false;
  const auto resources = json_.find(kResources);
  return resources != json_.end() && resources->is_object();
}

const Json* NamespaceTree::FindResource(const std::string& name) const {
  if (!HasResources()) return nullptr;
  const auto found = json_[kResources].find(name);
  return found == json_[kResources].end() ? nullptr : &*found;
}

std::string NamespaceTree::TextWith(const std::string& resource, const std::string* piece,
                                    bool alone) const {
  if (!json_.is_object()) return PrintJson(json_);
  std::string text = "{";
  for (const auto& member : json_.items()) {
    if (member.key() != kResources || !member.value().is_object()) {
      AppendMember(text, member.key(), PrintJson(member.value()));
      continue;
    }
    AppendMember(text, kResources, "{");
    bool placed = piece == nullptr;
    const auto place = [&] {
      placed = true;
      AppendMember(text, resource, *piece);
    };
    for (const auto& [name, own] : pieces_) {
      if (!placed && resource <= name) place();
      if (!alone && name != resource) AppendMember(text, name, own);
    }
    if (!placed) place();
    text += '}';
  }
  text += '}';
  return text;
}

std::string NamespaceTree::TextWith(const Edit& edit) const {
  if (edit.value.is_null()) return TextWith(edit.resource, nullptr);
  const std::string piece = PrintJson(edit.value);
  return TextWith(edit.resource, &piece);
}

std::string NamespaceTree::FileWith(const Edit& edit) const {
  const std::string piece = PrintJson(edit.value);
  return FileOf(name_, TextWith(edit.resource, edit.value.is_null() ? nullptr : &piece, true));
}

void NamespaceTree::Apply(Edit edit, uint64_t version) {
  version_ = version;
  if (edit.value.is_null()) {
    pieces_.erase(edit.resource);
    json_[kResources].erase(edit.resource);
    return;
  }
  pieces_[edit.resource] = PrintJson(edit.value);
  json_[kResources][edit.resource] = std::move(edit.value);
}

std::string NamespaceTree::FileOf(const std::string& name, std::string_view text) {
  std::string file = "{\"namespaces\":{";
  AppendMember(file, name, text);
  return file + "}}";
}

Namespace WithResource(const Namespace& before, Namespace read, const std::string& resource) {
  std::vector<Resource> changed = std::move(read.resources);
  read.resources.clear();
  read.resources.reserve(before.resources.size() + 1);
  // In the order of names, as they are written.
  bool placed = changed.empty();
  for (const Resource& one : before.resources) {
    if (!placed && resource <= one.name) {
      read.resources.push_back(std::move(changed.front()));
      placed = true;
    }
    if (one.name != resource) read.resources.push_back(one);
  }
  if (!placed) read.resources.push_back(std::move(changed.front()));
  return read;
}

}  // namespace weir
