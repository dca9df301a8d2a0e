// A file of SQLite, or a private one in memory.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "config/database.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weir {

class SqliteDatabase : public Database {
 public:
  static Result<std::unique_ptr<Database>> Open(const std::string& path);
  ~SqliteDatabase() override;

  using Database::Query;
  Result<DatabaseRows> Query(Sql sql, const std::vector<DatabaseValue>& values) override;
  Result<DatabaseRows> BeginRead() override { return Query("BEGIN"); }
  Result<DatabaseRows> BeginWrite() override { return Query("BEGIN IMMEDIATE"); }
  Result<DatabaseRows> Commit() override { return Query("COMMIT"); }
  void Rollback() override;
  bool shared() const override { return path_ != ":memory:"; }

 private:
  explicit SqliteDatabase(std::string path) : path_(std::move(path)) {}
  Result<sqlite3_stmt*> Prepare(Sql sql);
  Error Failed() const;

  const std::string path_;
  sqlite3* db_ = nullptr;
  std::map<const char*, sqlite3_stmt*> prepared_;  // by the statement's own place in the program
};

}  // namespace weir
