#include "config/config_store.h"

namespace weir {
namespace {

Json Parsed(const DatabaseValue& value) {
  return value ? Json::parse(*value, nullptr, false) : Json();
}

Error Conflict(std::string message) { return {Code::kConflict, std::move(message), "If-Match"}; }

}  // namespace

std::optional<Error> ConfigStore::CreateTables() {
  if (has_tables_) return std::nullopt;
  const Result<DatabaseRows> begun = database_->BeginWrite();
  if (!begun) return begun.error();
  Transaction transaction(*database_);
  for (const Sql sql : {Sql("CREATE TABLE IF NOT EXISTS weir_version (id INTEGER PRIMARY KEY, "
                            "version BIGINT NOT NULL, oldest BIGINT NOT NULL)"),
                        Sql("CREATE TABLE IF NOT EXISTS weir_namespaces (name TEXT PRIMARY KEY, "
                            "version BIGINT NOT NULL, json TEXT NOT NULL)"),
                        Sql("INSERT INTO weir_version (id, version, oldest) VALUES (1, 0, 0) "
                            "ON CONFLICT (id) DO NOTHING")}) {
    const Result<DatabaseRows> made = database_->Query(sql);
    if (!made) return made.error();
  }
  if (std::optional<Error> error = history_.CreateTables()) return error;
  const Result<DatabaseRows> committed = transaction.Commit();
  if (!committed) return committed.error();
  has_tables_ = true;
  return std::nullopt;
}

Result<uint64_t> ConfigStore::Refresh() {
  if (std::optional<Error> error = CreateTables()) return *error;
  // Nothing changes most of the time: one small question, outside of a transaction.
  const auto version = database_->Query("SELECT version FROM weir_version WHERE id = 1");
  if (!version) return version.error();
  if (!version->empty() && NumberOf((*version)[0][0]) == state_.version &&
      state_.rules != nullptr) {
    return state_.version;
  }
  const Result<DatabaseRows> begun = database_->BeginRead();
  if (!begun) return begun.error();
  Transaction transaction(*database_);
  if (std::optional<Error> error = TakeUp()) return *error;
  transaction.Commit();
  return state_.version;
}

std::optional<Error> ConfigStore::TakeUp() {
  const auto found = database_->Query("SELECT version, oldest FROM weir_version WHERE id = 1");
  if (!found) return found.error();
  if (found->empty()) return Error{Code::kUnavailable, "the database holds no version", ""};
  State next;
  next.version = NumberOf((*found)[0][0]);
  next.oldest = NumberOf((*found)[0][1]);
  if (next.version == state_.version && state_.rules != nullptr) return std::nullopt;
  const auto names = database_->Query("SELECT name, version FROM weir_namespaces ORDER BY name");
  if (!names) return names.error();
  // A version that went back is another database's, of which nothing is known.
  const bool goes_on = next.version > state_.version && state_.rules != nullptr;
  std::vector<Namespace> namespaces;
  for (const DatabaseRow& row : *names) {
    const std::string& name = *row[0];
    const uint64_t version = NumberOf(row[1]);
    const auto known = state_.trees.find(name);
    if (goes_on && known != state_.trees.end() && known->second->version() == version) {
      next.trees[name] = known->second;
      continue;
    }
    const auto json = database_->Query("SELECT json FROM weir_namespaces WHERE name = $1", {name});
    if (!json) return json.error();
    if (json->empty()) continue;
    next.trees[name] = std::make_shared<NamespaceTree>(name, version, Parsed((*json)[0][0]));
    NamespacesRead read = ReadNamespaces(NamespaceTree::FileOf(name, next.trees[name]->Text()),
                                         "namespaces/" + name, options_.parse);
    if (!read.errors.empty()) {
      return Error{Code::kBadRequest, "in the database: " + ToString(read.errors), ""};
    }
    for (Namespace& ns : read.namespaces) namespaces.push_back(std::move(ns));
  }
  if (goes_on) {
    std::vector<std::string> gone;
    for (const auto& [name, tree] : state_.trees) {
      if (!next.trees.contains(name)) gone.push_back(name);
    }
    next.rules = state_.rules->With(std::move(namespaces), gone);
  } else {
    next.rules = std::make_shared<Rulebook>(std::move(namespaces));
  }
  state_ = std::move(next);
  return std::nullopt;
}

const Json* ConfigStore::TreeOf(const std::string& ns) const {
  const auto found = state_.trees.find(ns);
  return found == state_.trees.end() ? nullptr : &found->second->json();
}

// ---- Reading

Result<ConfigValue> ConfigStore::Read(const ConfigPath& path) const {
  if (path.all()) {
    ConfigValue all{state_.version, Json::object()};
    for (const auto& [name, tree] : state_.trees) all.value[name] = tree->json();
    return all;
  }
  const auto tree = state_.trees.find(path.namespace_name());
  if (tree == state_.trees.end()) {
    return Error{Code::kUnknownNamespace, "there is no such namespace", "path"};
  }
  const Json* node = path.Find(tree->second->json());
  if (node == nullptr) return Error{Code::kNotFound, "there is no " + path.text(), "path"};
  return ConfigValue{tree->second->version(), *node};
}

uint64_t ConfigStore::VersionOf(const ConfigPath& path) const {
  if (path.all()) return state_.version;
  const auto tree = state_.trees.find(path.namespace_name());
  return tree == state_.trees.end() ? 0 : tree->second->version();
}

Result<ConfigStore::Text> ConfigStore::ReadText(const ConfigPath& path, const Shows& shows) const {
  if (!path.all() && !path.is_namespace()) {
    const Result<ConfigValue> found = Read(path);
    if (!found) return found.error();
    return Text{found->version, PrintJson(found->value)};
  }
  if (path.is_namespace()) {
    const auto tree = state_.trees.find(path.namespace_name());
    if (tree != state_.trees.end()) return Text{tree->second->version(), tree->second->Text()};
    return Error{Code::kUnknownNamespace, "there is no such namespace", "path"};
  }
  Text all{state_.version, "{"};
  for (const auto& [name, tree] : state_.trees) {
    if (!shows(name)) continue;
    if (all.json.size() > 1) all.json += ',';
    all.json += PrintJson(name) + ':' + tree->Text();
  }
  all.json += '}';
  return all;
}

Result<std::vector<std::string>> ConfigStore::List(const ConfigPath& path) const {
  std::vector<std::string> names;
  if (path.all()) {
    for (const auto& [name, tree] : state_.trees) names.push_back(name);
    return names;
  }
  const Json* ns = TreeOf(path.namespace_name());
  if (ns == nullptr) return Error{Code::kUnknownNamespace, "there is no such namespace", "path"};
  const Json* found = path.Find(*ns);
  if (found == nullptr) return Error{Code::kNotFound, "there is no " + path.text(), "path"};
  for (const auto& member : found->items()) {
    if (found->is_object()) {
      names.push_back(member.key());
      continue;
    }
    for (const char* field : {"name", "subject", "key"}) {
      if (!member.value().is_object() || !member.value().contains(field)) continue;
      const Json& name = member.value()[field];
      names.push_back(name.is_string() ? name.get<std::string>() : name.dump());
      break;
    }
  }
  return names;
}

Result<ConfigChanges> ConfigStore::Since(uint64_t version, const Shows& shows) {
  ConfigChanges changes{state_.version, false, {}};
  if (version == state_.version && version != 0) return changes;
  changes.full = version == 0 || version < state_.oldest || version > state_.version;
  for (const auto& [name, tree] : state_.trees) {
    if (!changes.full && tree->version() <= version) continue;
    if (!shows || shows(name)) changes.trees.emplace_back(name, tree->Text());
  }
  if (changes.full) return changes;
  const auto changed = history_.ChangedBetween(version, state_.version);
  if (!changed) return changed.error();
  for (const std::string& name : *changed) {
    if (state_.trees.contains(name) || (shows && !shows(name))) continue;
    changes.trees.emplace_back(name, "null");
  }
  return changes;
}

// ---- Changing

std::optional<Error> ConfigStore::CheckGuard(const ConfigPath& path, const Guard& guard) const {
  const Json* ns = path.all() ? nullptr : TreeOf(path.namespace_name());
  const bool found = path.all() || (ns != nullptr && path.Find(*ns) != nullptr);
  if (guard.absent && found && !path.all()) return Conflict(path.text() + " exists already");
  if (guard.exists && !found) return Conflict(path.text() + " does not exist");
  if (!guard.versions) return std::nullopt;
  const uint64_t now = VersionOf(path);
  for (const uint64_t version : *guard.versions) {
    if (version == now) return std::nullopt;
  }
  return Conflict("it has changed since: the version is " + std::to_string(now));
}

template <typename Edit>
Result<Written> ConfigStore::Change(const ConfigPath& path, const Writer& writer, Edit edit) {
  if (std::optional<Error> error = CreateTables()) return *error;
  const Result<DatabaseRows> begun = database_->BeginWrite();
  if (!begun) return begun.error();
  Transaction transaction(*database_);
  if (std::optional<Error> error = TakeUp()) return *error;
  if (std::optional<Error> error = CheckGuard(path, writer.guard)) return *error;

  Draft draft;
  Written written;
  if (std::optional<Error> error = edit(draft, written)) return *error;
  if (!ChangesNothing(draft)) {
    Result<Checked> checked = Check(draft);
    if (!checked) return checked.error();
    written.normalised = std::move(checked->normalised);
    auto rules = RulesWith(std::move(checked->namespaces), draft);
    const Result<uint64_t> oldest = Save(draft, writer);
    if (!oldest) return oldest.error();
    const Result<DatabaseRows> committed = transaction.Commit();
    if (!committed) return committed.error();
    state_.version += 1;
    state_.oldest = *oldest;
    state_.rules = std::move(rules);
    Apply(std::move(draft));
  }
  written.version = state_.version;
  const Result<ConfigValue> value = Read(path);
  if (value) written.value = value->value;
  return written;
}

bool ConfigStore::ChangesNothing(Draft& draft) const {
  std::erase_if(draft.trees, [&](const auto& one) {
    const Json* tree = TreeOf(one.first);
    return tree == nullptr ? one.second.is_null() : *tree == one.second;
  });
  if (draft.edit) {
    const Json* before = state_.trees.at(draft.namespace_name)->FindResource(draft.edit->resource);
    if (before == nullptr ? draft.edit->value.is_null() : *before == draft.edit->value) {
      draft.edit.reset();
    }
  }
  return draft.trees.empty() && !draft.edit;
}

void ConfigStore::Apply(Draft draft) {
  if (draft.edit) {
    state_.trees.at(draft.namespace_name)->Apply(std::move(*draft.edit), state_.version);
  }
  for (auto& [name, json] : draft.trees) {
    if (json.is_null()) {
      state_.trees.erase(name);
    } else {
      state_.trees[name] = std::make_shared<NamespaceTree>(name, state_.version, std::move(json));
    }
  }
}

// What the path is followed in: the whole namespace, or of its resources only the one that is meant.
Json ConfigStore::TreeToEdit(const ConfigPath& path) const {
  const auto found = state_.trees.find(path.namespace_name());
  if (found == state_.trees.end()) return Json::object();
  const NamespaceTree& tree = *found->second;
  if (path.resource() == nullptr || !tree.HasResources()) return tree.json();
  Json small = {{"resources", Json::object()}};
  if (const Json* resource = tree.FindResource(*path.resource())) {
    small["resources"][*path.resource()] = *resource;
  }
  return small;
}

void ConfigStore::Finish(const ConfigPath& path, Json tree, Draft& draft) const {
  draft.path = &path;
  const auto found = state_.trees.find(path.namespace_name());
  const std::string* resource = path.resource();
  if (resource == nullptr || found == state_.trees.end() || !found->second->HasResources()) {
    draft.trees[path.namespace_name()] = std::move(tree);
    return;
  }
  draft.namespace_name = path.namespace_name();
  draft.edit = {*resource, tree["resources"].value(*resource, Json())};
}

template <typename MakeValue>
Result<Written> ConfigStore::Replace(const ConfigPath& path, const Writer& writer, MakeValue make) {
  return Change(path, writer, [&](Draft& draft, Written& written) -> std::optional<Error> {
    if (TreeOf(path.namespace_name()) == nullptr && !path.is_namespace()) {
      return Error{Code::kUnknownNamespace, "there is no such namespace", "path"};
    }
    Json tree = TreeToEdit(path);
    const Json* before = TreeOf(path.namespace_name()) == nullptr ? nullptr : path.Find(tree);
    Result<Json> value = make(before);
    Error error;
    if (!value) return value.error();
    if (!path.CheckName(*value, error)) return error;
    written.created = before == nullptr;
    if (!path.Put(tree, std::move(*value), error)) return error;
    Finish(path, std::move(tree), draft);
    return std::nullopt;
  });
}

Result<Written> ConfigStore::Put(const ConfigPath& path, const Json& body, const Writer& writer) {
  if (!path.all()) {
    return Replace(path, writer, [&](const Json*) -> Result<Json> { return body; });
  }
  return Change(path, writer, [&](Draft& draft, Written&) -> std::optional<Error> {
    if (!body.is_object()) return Error{Code::kBadRequest, "namespaces must be a map", ""};
    for (const auto& [name, tree] : state_.trees) draft.trees[name] = nullptr;
    for (const auto& member : body.items()) {
      draft.trees[member.key()] = member.value().is_null() ? Json::object() : member.value();
    }
    return std::nullopt;
  });
}

Result<Written> ConfigStore::Patch(const ConfigPath& path, const Json& patch,
                                   const Writer& writer) {
  if (path.all()) {
    return Error{Code::kBadRequest, "patch one namespace at a time, or put all of them", ""};
  }
  return Replace(path, writer, [&](const Json* before) -> Result<Json> {
    if (before == nullptr) {
      return Error{Code::kNotFound, "there is no " + path.text() + " to patch", "path"};
    }
    Json value = *before;
    value.merge_patch(patch);
    return value;
  });
}

Result<Written> ConfigStore::Delete(const ConfigPath& path, const Writer& writer) {
  if (path.all()) {
    return Error{Code::kBadRequest, "delete one namespace at a time, or put {}", ""};
  }
  return Change(path, writer, [&](Draft& draft, Written&) -> std::optional<Error> {
    if (TreeOf(path.namespace_name()) == nullptr) {
      return Error{Code::kUnknownNamespace, "there is no such namespace", "path"};
    }
    if (path.is_namespace()) {
      draft.path = &path;
      draft.trees[path.namespace_name()] = nullptr;
      return std::nullopt;
    }
    Json tree = TreeToEdit(path);
    if (!path.Erase(tree)) return Error{Code::kNotFound, "there is no " + path.text(), "path"};
    Finish(path, std::move(tree), draft);
    return std::nullopt;
  });
}

std::optional<Error> ConfigStore::CheckRemembered(uint64_t version, const std::string& ns) {
  const Result<uint64_t> found = ns.empty() ? state_.oldest : history_.OldestOf(ns, state_.oldest);
  if (!found) return found.error();
  if (version >= *found && version <= state_.version) return std::nullopt;
  std::string message =
      "version " + std::to_string(version) + " is not remembered" +
      (ns.empty() ? "" : " for this namespace") + "; the versions from " + std::to_string(*found) +
      " to " + std::to_string(state_.version) +
      " are. The history is bounded: whichever namespace fills it forgets its oldest changes";
  if (ns.empty() && version <= state_.version) {
    message += "; {\"version\": N, \"namespace\": NAME} rolls back one of the others";
  }
  return Error{Code::kNotFound, std::move(message), "version"};
}

Result<Written> ConfigStore::Rollback(uint64_t version, const std::string& ns,
                                      const Writer& writer) {
  const Result<ConfigPath> path =
      ns.empty() ? ConfigPath::Parse({"namespaces"}) : ConfigPath::Parse({"namespaces", ns});
  if (!path) return path.error();
  return Change(*path, writer, [&](Draft& draft, Written&) -> std::optional<Error> {
    if (std::optional<Error> error = CheckRemembered(version, ns)) return error;
    const Result<DatabaseRows> undo = history_.UndoBehind(version, ns);
    if (!undo) return undo.error();
    for (const DatabaseRow& row : *undo) {
      const auto [tree, is_new] = draft.trees.try_emplace(*row[0]);
      const Json* now = TreeOf(*row[0]);
      if (is_new && now != nullptr) tree->second = *now;
      try {
        tree->second.patch_inplace(Parsed(row[1]));
      } catch (const Json::exception& e) {
        return Error{Code::kUnavailable, std::string("the history is damaged: ") + e.what(), ""};
      }
    }
    return std::nullopt;
  });
}

}  // namespace weir
