// The configuration: a tree of JSON for each namespace in a database, with a version that grows by
// one with every change, and the history of who changed what.
//
//   weir_version      version; oldest: from where on the history is complete
//   weir_namespaces   name, version of its last change, json
//   weir_audit        version, namespace, at, who, path, before, after, undo
//
// A change is one transaction: lock, read what others have changed, check the guard, edit the tree,
// read all rules as the limiter would, and only then write. So nothing that is not a good rulebook
// is ever stored, and two servers on one database never lose an update.
//
// What is stored is what was written, except for what normalisation put right. `undo` is a JSON patch
// that leads from the namespace after the change to the one before: a rollback applies them from the
// newest down, and is itself a change.
//
// Time is an argument. Not safe for several threads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config_path.h"
#include "config/database.h"
#include "rules/parse.h"
#include "weir/instant.h"

namespace weir {

// On which condition a change is made.
struct Guard {
  std::optional<std::vector<uint64_t>> versions;  // of the namespace; of all, where all are changed
  bool exists = false;
  bool absent = false;
};

struct Writer {
  std::string who;
  Instant now;
  Guard guard = {};
};

// What a change came to.
struct Written {
  uint64_t version = 0;
  bool created = false;
  Json value;  // as it is stored
  std::vector<Normalisation> normalised;
};

struct ConfigValue {
  uint64_t version = 0;  // of its namespace; of all, for all
  Json value;
};

struct ConfigChanges {
  uint64_t version = 0;
  bool full = false;                                // not only what changed, but all there is
  std::vector<std::pair<std::string, Json>> trees;  // null: the namespace is gone
};

struct AuditEntry {
  uint64_t version = 0;
  Instant at{};
  std::string who, namespace_name, path;
  Json before, after;  // null: nothing
};

class ConfigStore {
 public:
  struct Options {
    uint64_t history = 10'000;  // changes that are remembered
    ParseOptions parse = {};
  };

  ConfigStore(std::unique_ptr<Database> database, const Options& options)
      : database_(std::move(database)), options_(options) {}

  // Takes up what others have changed. Needed once before everything else.
  Result<uint64_t> Refresh();

  // Of what was last taken up or written here.
  uint64_t version() const { return state_.version; }
  const std::shared_ptr<const Rulebook>& rules() const { return state_.rules; }
  Result<ConfigValue> Read(const ConfigPath& path) const;
  // The names in a collection.
  Result<std::vector<std::string>> List(const ConfigPath& path) const;

  // What has changed behind a version: all, if that is 0, too old or not known.
  Result<ConfigChanges> Since(uint64_t version);
  // The latest first, those before `before` (0: all); of one namespace, or all if it is empty.
  Result<std::vector<AuditEntry>> Audit(const std::string& ns, uint64_t before, size_t most);

  // A body that changes nothing makes no version.
  Result<Written> Put(const ConfigPath& path, const Json& body, const Writer& writer);
  Result<Written> Patch(const ConfigPath& path, const Json& patch, const Writer& writer);
  Result<Written> Delete(const ConfigPath& path, const Writer& writer);
  Result<Written> Rollback(uint64_t version, const Writer& writer);

  bool shared() const { return database_->shared(); }

 private:
  struct Tree {
    uint64_t version = 0;
    Json json;
    std::string text;
  };
  struct State {
    uint64_t version = 0;
    uint64_t oldest = 0;
    std::map<std::string, Tree> trees;
    std::shared_ptr<const Rulebook> rules;
  };
  // A change that is being made. Null: the namespace is not to be.
  struct Draft {
    std::map<std::string, Json> trees;
    const ConfigPath* path = nullptr;  // for the audit; null: whole namespaces
  };

  std::optional<Error> CreateTables();
  // In a transaction.
  std::optional<Error> TakeUp();
  std::optional<Error> CheckGuard(const ConfigPath& path, const Guard& guard) const;
  template <typename Edit>
  Result<Written> Change(const ConfigPath& path, const Writer& writer, Edit edit);
  template <typename MakeValue>
  Result<Written> Replace(const ConfigPath& path, const Writer& writer, MakeValue make);
  // Reads the rules that the draft would come to, and puts them right.
  Result<State> Validate(Draft& draft, std::vector<Normalisation>& normalised) const;
  Error Mistake(const Draft& draft, const ParseResult& parsed) const;
  std::optional<Error> Save(const Draft& draft, const State& next, const Writer& writer);
  const Json* TreeOf(const std::string& ns) const;
  Json AllTrees() const;

  const std::unique_ptr<Database> database_;
  const Options options_;
  bool has_tables_ = false;
  State state_;
};

}  // namespace weir
