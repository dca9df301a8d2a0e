#include "config/config_path.h"

#include <deque>

namespace weir {
namespace {

// As part of a path: what would not stay one word in an address is %XX.
std::string Encoded(std::string_view word) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || std::string_view("%/?#").find(c) != std::string::npos) {
      text += {'%', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

Result<ConfigPath> ConfigPath::Parse(const std::vector<std::string>& words) {
  ConfigPath path;
  std::deque<std::string> left(words.begin(), words.end());
  for (const std::string& word : words) {
    path.text_ += (path.text_.empty() ? "" : "/") + Encoded(word);
  }
  const auto next = [&](std::string_view word) {
    if (left.empty() || left.front() != word) return false;
    left.pop_front();
    return true;
  };
  const auto member = [&](std::string name, bool collection, Json empty, Code missing) {
    path.steps_.push_back({std::move(name), "", collection, std::move(empty), missing});
  };
  // A collection, and if one is named, its element.
  const auto map = [&](const char* name, Code missing) {
    member(name, true, Json::object(), Code::kNotFound);
    if (left.empty()) return false;
    member(left.front(), false, {}, missing);
    left.pop_front();
    return true;
  };
  const auto list = [&](const char* name, const char* field) {
    member(name, true, Json::array(), Code::kNotFound);
    if (left.empty()) return;
    path.steps_.push_back({left.front(), field});
    left.pop_front();
  };
  const auto below_resource = [&] {
    if (next("limits")) return list("limits", "name");
    if (next("overrides")) return list("overrides", "subject");
    if (next("tiers")) return member("tiers", false, {}, Code::kNotFound);
    if (next("copies")) return member("copies", false, {}, Code::kNotFound);
    if (!next("groups")) return;
    member("copies", false, {}, Code::kNotFound);
    list("groups", "name");
  };

  const Error unknown{Code::kNotFound, "the configuration has no path " + path.text_, "path"};
  if (!next("namespaces")) return unknown;
  if (left.empty()) return path;
  path.namespace_ = left.front();
  left.pop_front();
  if (path.namespace_.empty()) return unknown;
  if (next("resources")) {
    if (map("resources", Code::kUnknownResource)) below_resource();
  } else if (next("contracts")) {
    if (map("contracts", Code::kNotFound) && next("limits")) list("limits", "name");
  } else if (next("descriptors")) {
    member("descriptors", false, {}, Code::kNotFound);
  }
  if (!left.empty()) return unknown;
  return path;
}

const std::string* ConfigPath::resource() const {
  if (steps_.size() < 2 || steps_[0].name != "resources" || !steps_[0].field.empty()) {
    return nullptr;
  }
  return &steps_[1].name;
}

Json* ConfigPath::Follow(Json& node, const Step& step) {
  if (step.field.empty()) {
    if (!node.is_object()) return nullptr;
    const auto found = node.find(step.name);
    return found == node.end() ? nullptr : &*found;
  }
  if (!node.is_array()) return nullptr;
  for (Json& element : node) {
    if (!element.is_object()) continue;
    const auto name = element.find(step.field);
    if (name == element.end()) continue;
    // A name that looks like a number may be written without quotes.
    if (*name == Json(step.name) || (name->is_number() && name->dump() == step.name)) {
      return &element;
    }
  }
  return nullptr;
}

const Json* ConfigPath::Find(const Json& ns) const {
  Json* node = const_cast<Json*>(&ns);  // only read
  for (const Step& step : steps_) {
    node = Follow(*node, step);
    if (node == nullptr) return nullptr;
  }
  return node;
}

bool ConfigPath::Put(Json& ns, Json value, Error& error) const {
  Json* node = &ns;
  for (const Step& step : steps_) {
    const bool last = &step == &steps_.back();
    Json* below = Follow(*node, step);
    if (below == nullptr || (step.collection && below->is_null())) {
      if (!last && !step.collection) {
        error = {step.missing, "there is no \"" + step.name + "\" to hold " + text_, "path"};
        return false;
      }
      if (node->is_null()) *node = Json::object();
      if (step.field.empty()) {
        below = &((*node)[step.name] = step.empty);
      } else {
        node->push_back(Json::object());
        below = &node->back();
      }
    }
    node = below;
  }
  *node = std::move(value);
  return true;
}

bool ConfigPath::Erase(Json& ns) const {
  Json* node = &ns;
  for (const Step& step : steps_) {
    Json* below = Follow(*node, step);
    if (below == nullptr) return false;
    if (&step != &steps_.back()) {
      node = below;
    } else if (step.field.empty()) {
      node->erase(step.name);
    } else {
      node->erase(static_cast<size_t>(below - &node->front()));
    }
  }
  return true;
}

bool ConfigPath::CheckName(Json& value, Error& error) const {
  if (steps_.empty() || steps_.back().field.empty()) return true;
  const Step& step = steps_.back();
  if (!value.is_object()) {
    error = {Code::kBadRequest, "the body must be a map", ""};
    return false;
  }
  const auto [name, is_new] = value.emplace(step.field, step.name);
  const bool same = *name == Json(step.name) || (name->is_number() && name->dump() == step.name);
  if (is_new || same) return true;
  error = {Code::kBadRequest,
           "`" + step.field + "` is " + PrintJson(*name) + ", but the path says \"" + step.name +
               "\"; leave it out, or write another path",
           step.field};
  return false;
}

}  // namespace weir
