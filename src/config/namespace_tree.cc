#include "config/namespace_tree.h"

#include "rules/text/document.h"

namespace weir {
namespace {

constexpr const char* kResources = "resources";

void AppendPiece(std::string& text, std::string_view piece) {
  if (text.back() != '{') text += ',';
  text += piece;
}

// As the reader of rules counts: keys are nodes, too.
uint64_t CountNodes(const Json& value) {
  uint64_t nodes = 1;
  if (!value.is_structured()) return nodes;
  for (const Json& member : value) nodes += CountNodes(member) + (value.is_object() ? 1 : 0);
  return nodes;
}

}  // namespace

NamespaceTree::Size& NamespaceTree::Size::operator+=(const Size& other) {
  bytes += other.bytes;
  nodes += other.nodes;
  return *this;
}

NamespaceTree::Size& NamespaceTree::Size::operator-=(const Size& other) {
  bytes -= other.bytes;
  nodes -= other.nodes;
  return *this;
}

NamespaceTree::Piece NamespaceTree::PieceOf(const std::string& name, const Json& value) {
  Piece piece{PrintJson(name) + ':' + PrintJson(value), {}};
  piece.size = {piece.text.size() + 1, 1 + CountNodes(value)};  // a comma, too
  return piece;
}

NamespaceTree::NamespaceTree(std::string name, uint64_t version, Json json)
    : version_(version), json_(std::move(json)) {
  size_ = PieceOf("namespaces", {{name, Json::object()}}).size;
  const bool split = HasResources();
  for (const auto& member : json_.items()) {
    if (split && member.key() == kResources) continue;
    size_ += PieceOf(member.key(), member.value()).size;
  }
  if (!split) return;
  size_ += PieceOf(kResources, Json::object()).size;
  for (const auto& one : json_[kResources].items()) {
    size_ += (pieces_[one.key()] = PieceOf(one.key(), one.value())).size;
  }
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

std::string NamespaceTree::TextWith(const std::string& resource, const Piece* piece) const {
  if (!json_.is_object()) return PrintJson(json_);
  std::string text = "{";
  text.reserve(size_.bytes + (piece == nullptr ? 0 : piece->size.bytes));
  for (const auto& member : json_.items()) {
    if (member.key() != kResources || !member.value().is_object()) {
      AppendPiece(text, PieceOf(member.key(), member.value()).text);
      continue;
    }
    AppendPiece(text, "\"resources\":{");
    bool placed = piece == nullptr;
    const auto place = [&] {
      placed = true;
      AppendPiece(text, piece->text);
    };
    for (const auto& [name, own] : pieces_) {
      if (!placed && resource <= name) place();
      if (name != resource) AppendPiece(text, own.text);
    }
    if (!placed) place();
    text += '}';
  }
  text += '}';
  return text;
}

std::string NamespaceTree::TextWith(const Edit& edit) const {
  if (edit.value.is_null()) return TextWith(edit.resource, nullptr);
  const Piece piece = PieceOf(edit.resource, edit.value);
  return TextWith(edit.resource, &piece);
}

Json NamespaceTree::Around(const Edit& edit) const {
  Json small = Json::object();
  // A limit that says nothing has its namespace's coordination.
  if (const auto said = json_.find("coordination"); said != json_.end()) {
    small["coordination"] = *said;
  }
  small[kResources] = Json::object();
  if (!edit.value.is_null()) small[kResources][edit.resource] = edit.value;
  return small;
}

bool NamespaceTree::IsWithinBounds(const Edit& edit) const {
  Size size = size_;
  if (const auto before = pieces_.find(edit.resource); before != pieces_.end()) {
    size -= before->second.size;
  }
  if (!edit.value.is_null()) size += PieceOf(edit.resource, edit.value).size;
  return size.bytes <= Document::kMostBytes && size.nodes <= Document::kMostNodes;
}

void NamespaceTree::Apply(Edit edit, uint64_t version) {
  version_ = version;
  if (const auto before = pieces_.find(edit.resource); before != pieces_.end()) {
    size_ -= before->second.size;
  }
  if (edit.value.is_null()) {
    pieces_.erase(edit.resource);
    json_[kResources].erase(edit.resource);
    return;
  }
  size_ += (pieces_[edit.resource] = PieceOf(edit.resource, edit.value)).size;
  json_[kResources][edit.resource] = std::move(edit.value);
}

std::string NamespaceTree::FileOf(const std::string& name, std::string_view text) {
  std::string file = "{\"namespaces\":{" + PrintJson(name) + ':';
  file += text;
  return file + "}}";
}

}  // namespace weir
