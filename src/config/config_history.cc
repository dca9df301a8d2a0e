#include "config/config_history.h"

#include <algorithm>

namespace weir {
namespace {

constexpr uint64_t kAroundEntry = 100;  // bytes of the row itself

std::optional<Error> Failed(const Result<DatabaseRows>& done) {
  return done ? std::nullopt : std::optional<Error>(done.error());
}

}  // namespace

std::optional<Error> ConfigHistory::CreateTables() {
  for (const Sql sql :
       {Sql("CREATE TABLE IF NOT EXISTS weir_audit (version BIGINT NOT NULL, "
            "namespace TEXT NOT NULL, at_ns BIGINT NOT NULL, who TEXT NOT NULL, "
            "path TEXT NOT NULL, before_json TEXT, after_json TEXT, undo TEXT NOT NULL, "
            "PRIMARY KEY (version, namespace))"),
        Sql("CREATE INDEX IF NOT EXISTS weir_audit_of ON weir_audit (namespace, version)"),
        Sql("CREATE TABLE IF NOT EXISTS weir_history (namespace TEXT PRIMARY KEY, "
            "entries BIGINT NOT NULL, bytes BIGINT NOT NULL, oldest BIGINT NOT NULL)"),
        // Entries of a version of Weir that did not count them.
        Sql("INSERT INTO weir_history (namespace, entries, bytes, oldest) "
            "SELECT namespace, COUNT(*), SUM(100 + OCTET_LENGTH(undo) + "
            "COALESCE(OCTET_LENGTH(before_json), 0) + "
            "COALESCE(OCTET_LENGTH(after_json), 0)), (SELECT oldest FROM weir_version WHERE id = "
            "1) "
            "FROM weir_audit WHERE namespace NOT IN (SELECT namespace FROM weir_history) "
            "GROUP BY namespace")}) {
    if (auto error = Failed(database_.Query(sql))) return error;
  }
  return std::nullopt;
}

std::optional<Error> ConfigHistory::Add(const Change& change, uint64_t version, uint64_t oldest,
                                        Instant at, const std::string& who) {
  const std::string number = std::to_string(version);
  if (auto error = Failed(database_.Query(
          "INSERT INTO weir_audit (version, namespace, at_ns, who, path, before_json, after_json, "
          "undo) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
          {number, change.namespace_name, std::to_string(ToNanos(at)), who, change.path,
           change.before, change.after, change.undo}))) {
    return error;
  }
  const auto size = [](const DatabaseValue& value) { return value ? value->size() : 0; };
  const uint64_t bytes =
      kAroundEntry + size(change.before) + size(change.after) + change.undo.size();
  return Failed(database_.Query(
      "INSERT INTO weir_history (namespace, entries, bytes, oldest) VALUES ($1, 1, $2, $3) "
      "ON CONFLICT (namespace) DO UPDATE SET entries = weir_history.entries + 1, "
      "bytes = weir_history.bytes + excluded.bytes",
      {change.namespace_name, std::to_string(bytes), std::to_string(oldest)}));
}

Result<uint64_t> ConfigHistory::Trim(uint64_t oldest) {
  const auto sums = database_.Query("SELECT SUM(entries), SUM(bytes) FROM weir_history");
  if (!sums) return sums.error();
  uint64_t entries = NumberOf(sums->front()[0]), bytes = NumberOf(sums->front()[1]);
  while (entries > 0 && (entries > bounds_.entries || bytes > bounds_.bytes)) {
    const auto most = bytes > bounds_.bytes
                          ? database_.Query(
                                "SELECT namespace FROM weir_history WHERE entries > 0 "
                                "ORDER BY bytes DESC, namespace LIMIT 1")
                          : database_.Query(
                                "SELECT namespace FROM weir_history WHERE entries > 0 "
                                "ORDER BY entries DESC, namespace LIMIT 1");
    if (!most) return most.error();
    if (most->empty()) break;
    if (auto error = ForgetOldestOf(*most->front()[0], entries, bytes, oldest)) return *error;
  }
  return oldest;
}

std::optional<Error> ConfigHistory::ForgetOldestOf(const std::string& ns, uint64_t& entries,
                                                   uint64_t& bytes, uint64_t& oldest) {
  const auto row = database_.Query(
      "SELECT version, OCTET_LENGTH(undo) + COALESCE(OCTET_LENGTH(before_json), 0) + "
      "COALESCE(OCTET_LENGTH(after_json), 0) FROM weir_audit WHERE namespace = $1 "
      "ORDER BY version LIMIT 1",
      {ns});
  if (!row) return row.error();
  if (row->empty()) {  // counted, but not there
    entries = 0;
    return Failed(
        database_.Query("UPDATE weir_history SET entries = 0, bytes = 0 "
                        "WHERE namespace = $1",
                        {ns}));
  }
  const uint64_t version = NumberOf(row->front()[0]);
  const uint64_t size = NumberOf(row->front()[1]) + kAroundEntry;
  const std::string number = std::to_string(version);
  if (auto error = Failed(database_.Query(
          "DELETE FROM weir_audit WHERE namespace = $1 AND version = $2", {ns, number}))) {
    return error;
  }
  entries -= 1;
  bytes -= std::min(bytes, size);
  oldest = std::max(oldest, version);
  return Failed(
      database_.Query("UPDATE weir_history SET entries = entries - 1, "
                      "bytes = bytes - $2, oldest = $3 WHERE namespace = $1",
                      {ns, std::to_string(size), number}));
}

Result<AuditPage> ConfigHistory::Page(const AuditQuery& query) {
  const std::string before = std::to_string(
      query.before == 0 || query.before > uint64_t{INT64_MAX} ? uint64_t{INT64_MAX} : query.before);
  const std::string most = std::to_string(query.most + 1);
  // How large they are comes first: what does not fit is not fetched.
  const auto sizes = database_.Query(
      "SELECT OCTET_LENGTH(who) + OCTET_LENGTH(path) + COALESCE(OCTET_LENGTH(before_json), 0) + "
      "COALESCE(OCTET_LENGTH(after_json), 0) FROM weir_audit "
      "WHERE (version < $1 OR (version = $1 AND namespace > $2 AND $2 <> '')) "
      "AND (namespace = $3 OR $3 = '') "
      "ORDER BY version DESC, namespace LIMIT CAST($4 AS INTEGER)",
      {before, query.after, query.namespace_name, most});
  if (!sizes) return sizes.error();
  AuditPage page;
  size_t count = 0;
  uint64_t bytes = 0;
  for (const DatabaseRow& row : *sizes) {
    bytes += kAroundEntry + NumberOf(row[0]);
    if (count == query.most || (count > 0 && bytes > query.most_bytes)) {
      page.more = true;
      break;
    }
    ++count;
  }
  const auto rows = database_.Query(
      "SELECT version, at_ns, who, namespace, path, before_json, after_json FROM weir_audit "
      "WHERE (version < $1 OR (version = $1 AND namespace > $2 AND $2 <> '')) "
      "AND (namespace = $3 OR $3 = '') "
      "ORDER BY version DESC, namespace LIMIT CAST($4 AS INTEGER)",
      {before, query.after, query.namespace_name, std::to_string(count)});
  if (!rows) return rows.error();
  // Another server may have forgotten them in between.
  page.more = page.more && !rows->empty();
  for (const DatabaseRow& row : *rows) {
    page.entries.push_back({.version = NumberOf(row[0]),
                            .at = FromNanos(static_cast<int64_t>(NumberOf(row[1]))),
                            .who = *row[2],
                            .namespace_name = *row[3],
                            .path = *row[4],
                            .before = row[5].value_or(""),
                            .after = row[6].value_or("")});
  }
  return page;
}

Result<uint64_t> ConfigHistory::OldestOf(const std::string& ns, uint64_t otherwise) {
  const auto row = database_.Query("SELECT oldest FROM weir_history WHERE namespace = $1", {ns});
  if (!row) return row.error();
  return row->empty() ? otherwise : NumberOf(row->front()[0]);
}

Result<DatabaseRows> ConfigHistory::UndoBehind(uint64_t version, const std::string& ns) {
  return database_.Query(
      "SELECT namespace, undo FROM weir_audit WHERE version > $1 AND (namespace = $2 OR $2 = '') "
      "ORDER BY version DESC",
      {std::to_string(version), ns});
}

Result<std::vector<std::string>> ConfigHistory::ChangedBetween(uint64_t from, uint64_t to) {
  const auto rows = database_.Query(
      "SELECT DISTINCT namespace FROM weir_audit WHERE version > $1 AND version <= $2",
      {std::to_string(from), std::to_string(to)});
  if (!rows) return rows.error();
  std::vector<std::string> names;
  for (const DatabaseRow& row : *rows) names.push_back(*row[0]);
  return names;
}

}  // namespace weir
