// Who changed what in the configuration, and how it can be undone.
//
//   weir_audit     version, namespace, at, who, path, before, after, undo
//   weir_history   of each namespace: how many entries, how many bytes, and from which version on they
//                  are complete
//
// Bounded in number and in bytes, over all namespaces. When it is full the namespace that holds the most
// loses its oldest entry: whoever writes much and large forgets his own past, and nobody else's.
//
// A page of it is bounded too, in entries and bytes; it is told as it is stored, without being parsed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/database.h"
#include "weir/instant.h"

namespace weir {

struct AuditEntry {
  uint64_t version = 0;
  Instant at{};
  std::string who, namespace_name, path;
  std::string before, after;  // JSON; empty: nothing
};

// Which entries: the latest first.
struct AuditQuery {
  std::string namespace_name = {};  // empty: of all
  // Behind which: version `before` (0: from the latest on) and, of that version, namespace `after`.
  uint64_t before = 0;
  std::string after = {};
  size_t most = 100;                    // from 1: a page that has none has no next
  size_t most_bytes = size_t{1} << 20;  // one entry comes, however large
};

struct AuditPage {
  std::vector<AuditEntry> entries;
  bool more = false;  // behind the last of them
};

class ConfigHistory {
 public:
  struct Bounds {
    uint64_t entries = 10'000;
    uint64_t bytes = uint64_t{64} << 20;
  };
  ConfigHistory(Database& database, const Bounds& bounds) : database_(database), bounds_(bounds) {}

  // All of these in a transaction.
  std::optional<Error> CreateTables();
  struct Change {
    std::string namespace_name, path;
    DatabaseValue before, after;
    std::string undo;
  };
  // `oldest`: from which version on the history was complete.
  std::optional<Error> Add(const Change& change, uint64_t version, uint64_t oldest, Instant at,
                           const std::string& who);
  // Forgets what is too much. From which version on the history of all is complete, then.
  Result<uint64_t> Trim(uint64_t oldest);

  Result<AuditPage> Page(const AuditQuery& query);
  // From which version on the history of a namespace is complete; `otherwise`, if it has none.
  Result<uint64_t> OldestOf(const std::string& ns, uint64_t otherwise);
  // (namespace, undo) of what came behind a version, the latest first; of one namespace, or of all if
  // it is empty.
  Result<DatabaseRows> UndoBehind(uint64_t version, const std::string& ns);
  // Namespaces that changed behind `from`, up to `to`.
  Result<std::vector<std::string>> ChangedBetween(uint64_t from, uint64_t to);

 private:
  std::optional<Error> ForgetOldestOf(const std::string& ns, uint64_t& entries, uint64_t& bytes,
                                      uint64_t& oldest);

  Database& database_;
  const Bounds bounds_;
};

}  // namespace weir
