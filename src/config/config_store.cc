#include "config/config_store.h"

#include <charconv>

namespace weir {
namespace {

uint64_t Number(const DatabaseValue& value) {
  uint64_t number = 0;
  if (value) std::from_chars(value->data(), value->data() + value->size(), number);
  return number;
}

DatabaseValue Text(const Json& json) {
  return json.is_null() ? DatabaseValue() : DatabaseValue(PrintJson(json));
}

Json Parsed(const DatabaseValue& value) {
  return value ? Json::parse(*value, nullptr, false) : Json();
}

Error Conflict(std::string message) { return {Code::kConflict, std::move(message), "If-Match"}; }

std::string FileOf(const std::string& ns) { return "namespaces/" + ns; }

// As a file of rules.
std::string FileText(const std::string& ns, const Json& tree) {
  return PrintJson({{"namespaces", {{ns, tree}}}});
}

}  // namespace

std::optional<Error> ConfigStore::CreateTables() {
  if (has_tables_) return std::nullopt;
  const Result<DatabaseRows> begun = database_->BeginWrite();
  if (!begun) return begun.error();
  Transaction transaction(*database_);
  for (const Sql sql :
       {Sql("CREATE TABLE IF NOT EXISTS weir_version (id INTEGER PRIMARY KEY, "
            "version BIGINT NOT NULL, oldest BIGINT NOT NULL)"),
        Sql("CREATE TABLE IF NOT EXISTS weir_namespaces (name TEXT PRIMARY KEY, "
            "version BIGINT NOT NULL, json TEXT NOT NULL)"),
        Sql("CREATE TABLE IF NOT EXISTS weir_audit (version BIGINT NOT NULL, "
            "namespace TEXT NOT NULL, at_ns BIGINT NOT NULL, who TEXT NOT NULL, "
            "path TEXT NOT NULL, before_json TEXT, after_json TEXT, undo TEXT NOT NULL, "
            "PRIMARY KEY (version, namespace))"),
        Sql("INSERT INTO weir_version (id, version, oldest) VALUES (1, 0, 0) "
            "ON CONFLICT (id) DO NOTHING")}) {
    const Result<DatabaseRows> made = database_->Query(sql);
    if (!made) return made.error();
  }
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
  if (!version->empty() && Number((*version)[0][0]) == state_.version && state_.rules != nullptr) {
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
  next.version = Number((*found)[0][0]);
  next.oldest = Number((*found)[0][1]);
  if (next.version == state_.version && state_.rules != nullptr) return std::nullopt;
  const auto names = database_->Query("SELECT name, version FROM weir_namespaces");
  if (!names) return names.error();
  std::vector<RulesText> texts;
  for (const DatabaseRow& row : *names) {
    const std::string& name = *row[0];
    const uint64_t version = Number(row[1]);
    const auto known = state_.trees.find(name);
    // A version that went back is another database's, of which nothing is known.
    if (known != state_.trees.end() && known->second.version == version &&
        next.version > state_.version) {
      next.trees[name] = known->second;
    } else {
      const auto json =
          database_->Query("SELECT json FROM weir_namespaces WHERE name = $1", {name});
      if (!json) return json.error();
      if (json->empty()) continue;
      Tree& tree = next.trees[name] = {version, Parsed((*json)[0][0]), ""};
      tree.text = FileText(name, tree.json);
    }
    texts.push_back({FileOf(name), next.trees[name].text});
  }
  ParseResult parsed = ParseRulesTexts(std::move(texts), options_.parse);
  if (!parsed.ok()) {
    return Error{Code::kBadRequest, "in the database: " + ToString(parsed.errors), ""};
  }
  next.rules = std::move(parsed.rules);
  state_ = std::move(next);
  return std::nullopt;
}

const Json* ConfigStore::TreeOf(const std::string& ns) const {
  const auto found = state_.trees.find(ns);
  return found == state_.trees.end() ? nullptr : &found->second.json;
}

Json ConfigStore::AllTrees() const {
  Json all = Json::object();
  for (const auto& [name, tree] : state_.trees) all[name] = tree.json;
  return all;
}

Result<ConfigValue> ConfigStore::Read(const ConfigPath& path) const {
  if (path.all()) return ConfigValue{state_.version, AllTrees()};
  const auto tree = state_.trees.find(path.namespace_name());
  if (tree == state_.trees.end()) {
    return Error{Code::kUnknownNamespace, "there is no such namespace", "path"};
  }
  const Json* node = path.Find(tree->second.json);
  if (node == nullptr) return Error{Code::kNotFound, "there is no " + path.text(), "path"};
  return ConfigValue{tree->second.version, *node};
}

Result<std::vector<std::string>> ConfigStore::List(const ConfigPath& path) const {
  const Result<ConfigValue> found = Read(path);
  if (!found) return found.error();
  std::vector<std::string> names;
  for (const auto& member : found->value.items()) {
    if (found->value.is_object()) {
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

Result<ConfigChanges> ConfigStore::Since(uint64_t version) {
  ConfigChanges changes{state_.version, false, {}};
  if (version == state_.version && version != 0) return changes;
  changes.full = version == 0 || version < state_.oldest || version > state_.version;
  for (const auto& [name, tree] : state_.trees) {
    if (changes.full || tree.version > version) changes.trees.emplace_back(name, tree.json);
  }
  if (changes.full) return changes;
  const auto changed = database_->Query(
      "SELECT DISTINCT namespace FROM weir_audit WHERE version > $1 AND version <= $2",
      {std::to_string(version), std::to_string(state_.version)});
  if (!changed) return changed.error();
  for (const DatabaseRow& row : *changed) {
    if (state_.trees.count(*row[0]) == 0) changes.trees.emplace_back(*row[0], nullptr);
  }
  return changes;
}

Result<std::vector<AuditEntry>> ConfigStore::Audit(const std::string& ns, uint64_t before,
                                                   size_t most) {
  const std::string limit = std::to_string(most);
  const std::string last = std::to_string(before == 0 ? uint64_t{INT64_MAX} : before);
  const auto rows = database_->Query(
      "SELECT version, at_ns, who, namespace, path, before_json, after_json FROM weir_audit "
      "WHERE version < $1 AND (namespace = $2 OR $2 = '') "
      "ORDER BY version DESC, namespace LIMIT CAST($3 AS INTEGER)",
      {last, ns, limit});
  if (!rows) return rows.error();
  std::vector<AuditEntry> entries;
  for (const DatabaseRow& row : *rows) {
    entries.push_back({.version = Number(row[0]),
                       .at = FromNanos(static_cast<int64_t>(Number(row[1]))),
                       .who = *row[2],
                       .namespace_name = *row[3],
                       .path = *row[4],
                       .before = Parsed(row[5]),
                       .after = Parsed(row[6])});
  }
  return entries;
}

std::optional<Error> ConfigStore::CheckGuard(const ConfigPath& path, const Guard& guard) const {
  const Result<ConfigValue> found = Read(path);
  if (guard.absent && found && !path.all()) return Conflict(path.text() + " exists already");
  if (guard.exists && !found) return Conflict(path.text() + " does not exist");
  if (!guard.versions) return std::nullopt;
  const auto tree = state_.trees.find(path.namespace_name());
  const uint64_t now = path.all()                   ? state_.version
                       : tree != state_.trees.end() ? tree->second.version
                                                    : 0;
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
  std::erase_if(draft.trees, [&](const auto& one) {
    const Json* tree = TreeOf(one.first);
    return tree == nullptr ? one.second.is_null() : *tree == one.second;
  });
  if (!draft.trees.empty()) {
    Result<State> next = Validate(draft, written.normalised);
    if (!next) return next.error();
    if (std::optional<Error> error = Save(draft, *next, writer)) return *error;
    const Result<DatabaseRows> committed = transaction.Commit();
    if (!committed) return committed.error();
    state_ = std::move(*next);
  }
  written.version = state_.version;
  const Result<ConfigValue> value = Read(path);
  if (value) written.value = value->value;
  return written;
}

Error ConfigStore::Mistake(const Draft& draft, const ParseResult& parsed) const {
  // Written with one member a line, so that the line tells which one is meant.
  for (const auto& [name, json] : draft.trees) {
    if (json.is_null()) continue;
    const Json file = {{"namespaces", {{name, json}}}};
    const ParseResult again = ParseRulesText(PrintJsonLines(file), "", options_.parse);
    if (again.ok()) continue;
    const Diagnostic& first = again.errors.front();
    const std::string path = PathOfLine(file, first.line);
    std::string message = path + ": " + first.message;
    if (again.errors.size() > 1) {
      message += " (and " + std::to_string(again.errors.size() - 1) + " more mistakes)";
    }
    return {Code::kBadRequest, std::move(message), path};
  }
  return {Code::kBadRequest, ToString(parsed.errors), ""};
}

Result<ConfigStore::State> ConfigStore::Validate(Draft& draft,
                                                 std::vector<Normalisation>& normalised) const {
  // Once more after something was put right, which must then be good.
  for (int round = 0; round < 3; ++round) {
    State next = state_;
    ++next.version;
    for (const auto& [name, json] : draft.trees) {
      if (json.is_null()) {
        next.trees.erase(name);
      } else {
        next.trees[name] = {next.version, json, FileText(name, json)};
      }
    }
    if (next.version > options_.history) next.oldest = next.version - options_.history;
    std::vector<RulesText> texts;
    for (const auto& [name, tree] : next.trees) texts.push_back({FileOf(name), tree.text});
    ParseResult parsed = ParseRulesTexts(std::move(texts), options_.parse);
    if (!parsed.ok()) return Mistake(draft, parsed);
    next.rules = std::move(parsed.rules);
    if (parsed.changes.empty()) return next;
    Json file = {{"namespaces", draft.trees}};
    if (!ApplyNormalisations(parsed.changes, file)) break;
    draft.trees = file["namespaces"].get<std::map<std::string, Json>>();
    normalised.insert(normalised.end(), parsed.changes.begin(), parsed.changes.end());
  }
  return Error{Code::kBadRequest, "the rules cannot be normalised", ""};
}

std::optional<Error> ConfigStore::Save(const Draft& draft, const State& next,
                                       const Writer& writer) {
  const std::string version = std::to_string(next.version);
  const auto failed = [](const Result<DatabaseRows>& done) {
    return done ? std::nullopt : std::optional<Error>(done.error());
  };
  for (const auto& [name, json] : draft.trees) {
    const Json* tree = TreeOf(name);
    const Json before = tree == nullptr ? Json() : *tree;
    const auto stored =
        json.is_null()
            ? database_->Query("DELETE FROM weir_namespaces WHERE name = $1", {name})
            : database_->Query(
                  "INSERT INTO weir_namespaces (name, version, json) VALUES ($1, $2, $3) "
                  "ON CONFLICT (name) DO UPDATE SET version = $2, json = $3",
                  {name, version, PrintJson(json)});
    if (auto error = failed(stored)) return error;
    const auto part = [&](const Json& whole) -> DatabaseValue {
      if (draft.path == nullptr || whole.is_null()) return Text(whole);
      const Json* node = draft.path->Find(whole);
      return node == nullptr ? DatabaseValue() : Text(*node);
    };
    const auto noted = database_->Query(
        "INSERT INTO weir_audit (version, namespace, at_ns, who, path, before_json, after_json, "
        "undo) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        {version, name, std::to_string(ToNanos(writer.now)), writer.who,
         draft.path == nullptr ? FileOf(name) : draft.path->text(), part(before), part(json),
         PrintJson(Json::diff(json, before))});
    if (auto error = failed(noted)) return error;
  }
  const std::string oldest = std::to_string(next.oldest);
  const auto set = database_->Query(
      "UPDATE weir_version SET version = $1, oldest = $2 WHERE id = 1", {version, oldest});
  if (auto error = failed(set)) return error;
  return failed(database_->Query("DELETE FROM weir_audit WHERE version <= $1", {oldest}));
}

template <typename MakeValue>
Result<Written> ConfigStore::Replace(const ConfigPath& path, const Writer& writer, MakeValue make) {
  return Change(path, writer, [&](Draft& draft, Written& written) -> std::optional<Error> {
    const Json* tree = TreeOf(path.namespace_name());
    if (tree == nullptr && !path.is_namespace()) {
      return Error{Code::kUnknownNamespace, "there is no such namespace", "path"};
    }
    const Json* before = tree == nullptr ? nullptr : path.Find(*tree);
    Result<Json> value = make(before);
    Error error;
    if (!value) return value.error();
    if (!path.CheckName(*value, error)) return error;
    written.created = before == nullptr;
    draft.path = &path;
    Json& next = draft.trees[path.namespace_name()];
    next = tree == nullptr ? Json::object() : *tree;
    return path.Put(next, std::move(*value), error) ? std::nullopt : std::optional(error);
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
    const Json* tree = TreeOf(path.namespace_name());
    if (tree == nullptr) {
      return Error{Code::kUnknownNamespace, "there is no such namespace", "path"};
    }
    draft.path = &path;
    Json& next = draft.trees[path.namespace_name()];
    if (path.is_namespace()) return std::nullopt;
    next = *tree;
    if (path.Erase(next)) return std::nullopt;
    return Error{Code::kNotFound, "there is no " + path.text(), "path"};
  });
}

Result<Written> ConfigStore::Rollback(uint64_t version, const Writer& writer) {
  const ConfigPath everything = *ConfigPath::Parse({"namespaces"});
  return Change(everything, writer, [&](Draft& draft, Written&) -> std::optional<Error> {
    if (version > state_.version || version < state_.oldest) {
      return Error{Code::kNotFound,
                   "version " + std::to_string(version) + " is not remembered; the versions from " +
                       std::to_string(state_.oldest) + " to " + std::to_string(state_.version) +
                       " are",
                   "version"};
    }
    const auto undo = database_->Query(
        "SELECT namespace, undo FROM weir_audit WHERE version > $1 ORDER BY version DESC",
        {std::to_string(version)});
    if (!undo) return undo.error();
    for (const DatabaseRow& row : *undo) {
      const auto [tree, is_new] = draft.trees.try_emplace(*row[0]);
      const Json* now = TreeOf(*row[0]);
      if (is_new && now != nullptr) tree->second = *now;
      try {
        tree->second = tree->second.patch(Parsed(row[1]));
      } catch (const Json::exception& e) {
        return Error{Code::kUnavailable, std::string("the history is damaged: ") + e.what(), ""};
      }
    }
    return std::nullopt;
  });
}

}  // namespace weir
