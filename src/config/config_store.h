// The configuration: a tree of JSON for each namespace in a database, with a version that grows by
// one with every change, and the history of who changed what (config_history.h).
//
//   weir_version      version; oldest: from where on the history is complete
//   weir_namespaces   name, version of its last change, json
//
// A change is one transaction: lock, read what others have changed, check the guard, edit the tree,
// read the rules as the limiter would, and only then write. So nothing that is not a good rulebook
// is ever stored, and two servers on one database never lose an update.
//
// What is read is what was changed: the namespace, or the one resource (namespace_tree.h). The new
// rulebook shares the rest with the last.
//
// What is stored is what was written, except for what normalisation put right. `undo` is a JSON patch
// that leads from the namespace after the change to the one before: a rollback applies them from the
// newest down, and is itself a change.
//
// Time is an argument. Not safe for several threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config_history.h"
#include "config/config_path.h"
#include "config/database.h"
#include "config/namespace_tree.h"
#include "rules/read/parse.h"
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
  bool full = false;  // not only what changed, but all there is
  std::vector<std::pair<std::string, std::string>> trees;  // JSON; "null": the namespace is gone
};

class ConfigStore {
 public:
  struct Options {
    ConfigHistory::Bounds history = {};  // what is remembered
    ParseOptions parse = {};
  };

  ConfigStore(std::unique_ptr<Database> database, const Options& options)
      : database_(std::move(database)), options_(options), history_(*database_, options.history) {}

  // Takes up what others have changed. Needed once before everything else.
  Result<uint64_t> Refresh();

  // Of what was last taken up or written here.
  uint64_t version() const { return state_.version; }
  const std::shared_ptr<const Rulebook>& rules() const { return state_.rules; }
  Result<ConfigValue> Read(const ConfigPath& path) const;
  // The same as text; of all namespaces, those that `shows` lets through.
  struct Text {
    uint64_t version = 0;
    std::string json;
  };
  using Shows = std::function<bool(const std::string& ns)>;
  Result<Text> ReadText(const ConfigPath& path, const Shows& shows) const;
  // Of its namespace; of all, for all.
  uint64_t VersionOf(const ConfigPath& path) const;
  // The names in a collection.
  Result<std::vector<std::string>> List(const ConfigPath& path) const;

  // What has changed behind a version: all, if that is 0, too old or not known.
  Result<ConfigChanges> Since(uint64_t version, const Shows& shows = nullptr);
  Result<AuditPage> Audit(const AuditQuery& query) { return history_.Page(query); }

  // A body that changes nothing makes no version.
  Result<Written> Put(const ConfigPath& path, const Json& body, const Writer& writer);
  Result<Written> Patch(const ConfigPath& path, const Json& patch, const Writer& writer);
  Result<Written> Delete(const ConfigPath& path, const Writer& writer);
  // Of one namespace, or of all if it is empty. kNotFound if the history does not reach so far.
  Result<Written> Rollback(uint64_t version, const std::string& ns, const Writer& writer);

  bool shared() const { return database_->shared(); }

 private:
  struct State {
    uint64_t version = 0;
    uint64_t oldest = 0;
    std::map<std::string, std::shared_ptr<NamespaceTree>> trees;
    std::shared_ptr<const Rulebook> rules;
  };
  // A change that is being made: of whole namespaces, or of one resource.
  struct Draft {
    std::map<std::string, Json> trees;        // null: the namespace is not to be
    const ConfigPath* path = nullptr;         // for the audit; null: whole namespaces
    std::string namespace_name;               // of the edit
    std::optional<NamespaceTree::Edit> edit;  // of a resource of it
  };
  // What a draft comes to.
  struct Checked {
    std::map<std::string, Namespace> namespaces;  // as they are read
    std::vector<Normalisation> normalised;
  };

  std::optional<Error> CreateTables();
  // In a transaction.
  std::optional<Error> TakeUp();
  std::optional<Error> CheckGuard(const ConfigPath& path, const Guard& guard) const;
  template <typename Edit>
  Result<Written> Change(const ConfigPath& path, const Writer& writer, Edit edit);
  template <typename MakeValue>
  Result<Written> Replace(const ConfigPath& path, const Writer& writer, MakeValue make);
  Json TreeToEdit(const ConfigPath& path) const;
  void Finish(const ConfigPath& path, Json tree, Draft& draft) const;
  bool ChangesNothing(Draft& draft) const;
  // Reads the rules that the draft would come to, and puts them right.
  Result<Checked> Check(Draft& draft) const;
  NamespacesRead ReadDraft(const Draft& draft, Checked& checked) const;
  void Widen(Draft& draft) const;
  bool HasTooManyLimits(const Draft& draft, const Checked& checked) const;
  Error Mistake(const Draft& draft, const std::vector<Diagnostic>& errors) const;
  std::shared_ptr<const Rulebook> RulesWith(std::map<std::string, Namespace> changed,
                                            const Draft& draft) const;
  Result<uint64_t> Save(const Draft& draft, const Writer& writer);
  std::optional<Error> SaveNamespace(const std::string& name, const std::string* text,
                                     const ConfigHistory::Change& noted, const Writer& writer);
  void Apply(Draft draft);
  std::optional<Error> CheckRemembered(uint64_t version, const std::string& ns);
  const Json* TreeOf(const std::string& ns) const;

  const std::unique_ptr<Database> database_;
  const Options options_;
  ConfigHistory history_;
  bool has_tables_ = false;
  State state_;
};

}  // namespace weir
