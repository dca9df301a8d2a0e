// What a change comes to before it is stored: its rules, and its rows.
#include "config/config_store.h"

#include <algorithm>

#include "rules/text/source.h"

namespace weir {
namespace {

DatabaseValue Stored(const Json* json) {
  return json == nullptr || json->is_null() ? DatabaseValue() : DatabaseValue(PrintJson(*json));
}

std::string Escaped(std::string name) {
  for (size_t at = 0; (at = name.find_first_of("~/", at)) != std::string::npos; at += 2) {
    name.replace(at, 1, name[at] == '~' ? "~0" : "~1");
  }
  return name;
}

// From the namespace with this resource to the one with that.
Json UndoOf(const std::string& resource, const Json* before, const Json& after) {
  const std::string place = "/resources/" + Escaped(resource);
  if (before == nullptr) return Json::array({{{"op", "remove"}, {"path", place}}});
  if (after.is_null()) {
    return Json::array({{{"op", "add"}, {"path", place}, {"value", *before}}});
  }
  Json undo = Json::diff(after, *before);
  for (Json& step : undo) {
    for (const char* field : {"path", "from"}) {
      if (step.contains(field)) step[field] = place + step[field].get<std::string>();
    }
  }
  return undo;
}

bool IsOf(const Normalisation& change, const std::string& prefix) {
  return change.path.starts_with(prefix + ".") || change.path.starts_with(prefix + "[");
}

}  // namespace

Error ConfigStore::Mistake(const Draft& draft, const std::vector<Diagnostic>& errors) const {
  // Written with one member a line, so that the line tells which one is meant.
  std::vector<std::pair<std::string, Json>> trees(draft.trees.begin(), draft.trees.end());
  if (draft.edit) {
    trees.emplace_back(draft.namespace_name,
                       state_.trees.at(draft.namespace_name)->Around(*draft.edit));
  }
  for (const auto& [name, json] : trees) {
    if (json.is_null()) continue;
    const Json file = {{"namespaces", {{name, json}}}};
    const NamespacesRead again = ReadNamespaces(PrintJsonLines(file), "", options_.parse);
    if (again.errors.empty()) continue;
    const Diagnostic& first = again.errors.front();
    const std::string path = PathOfLine(file, first.line);
    std::string message = path + ": " + first.message;
    if (again.errors.size() > 1) {
      message += " (and " + std::to_string(again.errors.size() - 1) + " more mistakes)";
    }
    return {Code::kBadRequest, std::move(message), path};
  }
  return {Code::kBadRequest, ToString(errors), ""};
}

NamespacesRead ConfigStore::ReadDraft(const Draft& draft, Checked& checked) const {
  NamespacesRead all;
  const auto take = [&](const std::string& name, std::string file) {
    NamespacesRead read = ReadNamespaces(std::move(file), "namespaces/" + name, options_.parse);
    all.errors.insert(all.errors.end(), read.errors.begin(), read.errors.end());
    all.changes.insert(all.changes.end(), read.changes.begin(), read.changes.end());
    for (Namespace& ns : read.namespaces) checked.namespaces[name] = std::move(ns);
  };
  for (const auto& [name, json] : draft.trees) {
    if (!json.is_null()) take(name, NamespaceTree::FileOf(name, PrintJson(json)));
  }
  if (draft.edit) {
    const Json small = state_.trees.at(draft.namespace_name)->Around(*draft.edit);
    take(draft.namespace_name, NamespaceTree::FileOf(draft.namespace_name, PrintJson(small)));
  }
  return all;
}

// The change of a resource as one of its whole namespace.
void ConfigStore::Widen(Draft& draft) const {
  Json whole = *TreeOf(draft.namespace_name);
  Json& resources = whole["resources"];
  if (draft.edit->value.is_null()) {
    resources.erase(draft.edit->resource);
  } else {
    resources[draft.edit->resource] = std::move(draft.edit->value);
  }
  draft.trees[draft.namespace_name] = std::move(whole);
  draft.edit.reset();
}

// Of an edit the rest of the namespace was not read: it counts, too.
bool ConfigStore::HasTooManyLimits(const Draft& draft, const Checked& checked) const {
  if (!draft.edit) return false;
  size_t limits = state_.rules->LimitCountOf(draft.namespace_name);
  const auto less = [&](const RuleLimit&) { --limits; };
  const auto more = [&](const RuleLimit&) { ++limits; };
  if (const Resource* before =
          state_.rules->FindResource(draft.namespace_name, draft.edit->resource)) {
    ForEachLimit(*before, less);
  }
  for (const Resource& one : checked.namespaces.at(draft.namespace_name).resources) {
    ForEachLimit(one, more);
  }
  return limits > Source::kMostLimits;
}

Result<ConfigStore::Checked> ConfigStore::Check(Draft& draft) const {
  Checked checked;
  // Bounds are on whole namespaces; what goes beyond them is told by who reads it whole.
  if (draft.edit && !state_.trees.at(draft.namespace_name)->IsWithinBounds(*draft.edit)) {
    Widen(draft);
  }
  // Once more after something was put right, which must then be good.
  for (int round = 0; round < 3; ++round) {
    const NamespacesRead read = ReadDraft(draft, checked);
    if (!read.errors.empty()) return Mistake(draft, read.errors);
    if (read.changes.empty()) {
      if (!HasTooManyLimits(draft, checked)) return checked;
      return Error{Code::kBadRequest, "the namespace would have more than a million limits", ""};
    }
    // Something else than what was written is to be put right.
    if (draft.edit) {
      const std::string own =
          "namespaces." + draft.namespace_name + ".resources." + draft.edit->resource;
      if (!std::all_of(read.changes.begin(), read.changes.end(),
                       [&](const Normalisation& change) { return IsOf(change, own); })) {
        Widen(draft);
        continue;
      }
    }
    checked.normalised.insert(checked.normalised.end(), read.changes.begin(), read.changes.end());
    Json file = {{"namespaces", draft.trees}};
    if (draft.edit) {
      file["namespaces"][draft.namespace_name]["resources"][draft.edit->resource] =
          draft.edit->value;
    }
    if (!ApplyNormalisations(read.changes, file)) break;
    if (draft.edit) {
      draft.edit->value =
          file["namespaces"][draft.namespace_name]["resources"][draft.edit->resource];
    } else {
      draft.trees = file["namespaces"].get<std::map<std::string, Json>>();
    }
  }
  return Error{Code::kBadRequest, "the rules cannot be normalised", ""};
}

std::shared_ptr<const Rulebook> ConfigStore::RulesWith(std::map<std::string, Namespace> changed,
                                                       const Draft& draft) const {
  if (draft.edit) {
    std::vector<Resource>& read = changed.at(draft.namespace_name).resources;
    if (!read.empty()) return state_.rules->WithResource(std::move(read.front()));
    return state_.rules->WithoutResource(draft.namespace_name, draft.edit->resource);
  }
  std::vector<Namespace> namespaces;
  std::vector<std::string> gone;
  for (auto& [name, ns] : changed) namespaces.push_back(std::move(ns));
  for (const auto& [name, json] : draft.trees) {
    if (json.is_null()) gone.push_back(name);
  }
  return state_.rules->With(std::move(namespaces), gone);
}

std::optional<Error> ConfigStore::SaveNamespace(const std::string& name, const std::string* text,
                                                const ConfigHistory::Change& noted,
                                                const Writer& writer) {
  const uint64_t version = state_.version + 1;
  const auto stored =
      text == nullptr ? database_->Query("DELETE FROM weir_namespaces WHERE name = $1", {name})
                      : database_->Query(
                            "INSERT INTO weir_namespaces (name, version, json) VALUES ($1, $2, $3) "
                            "ON CONFLICT (name) DO UPDATE SET version = $2, json = $3",
                            {name, std::to_string(version), *text});
  if (!stored) return stored.error();
  return history_.Add(noted, version, state_.oldest, writer.now, writer.who);
}

Result<uint64_t> ConfigStore::Save(const Draft& draft, const Writer& writer) {
  for (const auto& [name, json] : draft.trees) {
    const Json* before = TreeOf(name);
    const auto part = [&](const Json* whole) -> DatabaseValue {
      if (draft.path == nullptr || whole == nullptr || whole->is_null()) return Stored(whole);
      return Stored(draft.path->Find(*whole));
    };
    const std::string text = PrintJson(json);
    const ConfigHistory::Change noted{
        name, draft.path == nullptr ? "namespaces/" + name : draft.path->text(), part(before),
        part(&json), PrintJson(Json::diff(json, before == nullptr ? Json() : *before))};
    if (auto error = SaveNamespace(name, json.is_null() ? nullptr : &text, noted, writer)) {
      return *error;
    }
  }
  if (draft.edit) {
    const NamespaceTree& tree = *state_.trees.at(draft.namespace_name);
    const std::string& resource = draft.edit->resource;
    const Json& value = draft.edit->value;
    const Json* before = tree.FindResource(resource);
    const auto part = [&](const Json* whole) -> DatabaseValue {
      if (whole == nullptr || whole->is_null()) return DatabaseValue();
      return Stored(draft.path->Find({{"resources", {{resource, *whole}}}}));
    };
    const ConfigHistory::Change noted{draft.namespace_name, draft.path->text(), part(before),
                                      part(&value), PrintJson(UndoOf(resource, before, value))};
    const std::string text = tree.TextWith(*draft.edit);
    if (auto error = SaveNamespace(draft.namespace_name, &text, noted, writer)) return *error;
  }
  const Result<uint64_t> oldest = history_.Trim(state_.oldest);
  if (!oldest) return oldest.error();
  const auto set =
      database_->Query("UPDATE weir_version SET version = $1, oldest = $2 WHERE id = 1",
                       {std::to_string(state_.version + 1), std::to_string(*oldest)});
  if (!set) return set.error();
  return *oldest;
}

}  // namespace weir
