#include "config/sqlite_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace weir {
namespace {

constexpr int kBusyMillis = 2000;  // while another process writes

DatabaseRow ReadRow(sqlite3_stmt* statement) {
  DatabaseRow row;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
    if (text == nullptr) {
      row.emplace_back();
    } else {
      row.emplace_back(std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, i))));
    }
  }
  return row;
}

// As PostgreSQL calls it; SQLite has it since 3.43.
void OctetLength(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return sqlite3_result_null(context);
  sqlite3_result_int64(context, sqlite3_value_bytes(values[0]));
}

}  // namespace

Result<std::unique_ptr<Database>> SqliteDatabase::Open(const std::string& path) {
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(path));
  // Made for this user alone; SQLite gives what it makes beside it the same rights.
  if (path != ":memory:") {
    const int made = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (made >= 0) close(made);
  }
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path.c_str(), &database->db_, flags, nullptr) != SQLITE_OK) {
    return database->Failed();
  }
  sqlite3_extended_result_codes(database->db_, 1);
  sqlite3_busy_timeout(database->db_, kBusyMillis);
  sqlite3_create_function_v2(database->db_, "octet_length", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                             nullptr, OctetLength, nullptr, nullptr, nullptr);
  // A change is on the disk before it is answered; readers do not wait for writers.
  for (const Result<DatabaseRows>& set :
       {database->Query("PRAGMA journal_mode = WAL"), database->Query("PRAGMA synchronous = FULL"),
        database->Query("PRAGMA trusted_schema = OFF")}) {
    if (!set) return set.error();
  }
  return std::unique_ptr<Database>(std::move(database));
}

SqliteDatabase::~SqliteDatabase() {
  for (const auto& [text, statement] : prepared_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

// An error of input or output has a cause that SQLite's own words do not tell: a full disk, for one.
Error SqliteDatabase::Failed() const {
  std::string why = db_ == nullptr ? "no memory" : sqlite3_errmsg(db_);
  const int code = db_ == nullptr ? SQLITE_OK : sqlite3_errcode(db_) & 0xff;
  const bool of_system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  const int cause = of_system ? sqlite3_system_errno(db_) : 0;
  if (cause != 0) why += std::string(": ") + std::strerror(cause);
  return {Code::kUnavailable, path_ + ": " + why, ""};
}

Result<sqlite3_stmt*> SqliteDatabase::Prepare(Sql sql) {
  sqlite3_stmt*& statement = prepared_[sql.text()];
  if (statement == nullptr && sqlite3_prepare_v3(db_, sql.text(), -1, SQLITE_PREPARE_PERSISTENT,
                                                 &statement, nullptr) != SQLITE_OK) {
    return Failed();
  }
  return statement;
}

Result<DatabaseRows> SqliteDatabase::Query(Sql sql, const std::vector<DatabaseValue>& values) {
  const Result<sqlite3_stmt*> prepared = Prepare(sql);
  if (!prepared) return prepared.error();
  sqlite3_stmt* statement = *prepared;
  for (size_t i = 0; i < values.size(); ++i) {
    const int place =
        sqlite3_bind_parameter_index(statement, ("$" + std::to_string(i + 1)).c_str());
    if (values[i]) {
      sqlite3_bind_text64(statement, place, values[i]->data(), values[i]->size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
    } else {
      sqlite3_bind_null(statement, place);
    }
  }
  DatabaseRows rows;
  int step = sqlite3_step(statement);
  for (; step == SQLITE_ROW; step = sqlite3_step(statement)) rows.push_back(ReadRow(statement));
  Result<DatabaseRows> result(std::move(rows));
  if (step != SQLITE_DONE) result = Failed();
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return result;
}

void SqliteDatabase::Rollback() {
  if (sqlite3_get_autocommit(db_) == 0) Query("ROLLBACK");
}

}  // namespace weir
