// A database, as small as the configuration needs it: statements with parameters, transactions.
//
//   database.Query("SELECT json FROM weir_namespaces WHERE name = $1", {name});
//
// A statement is a constant of the program: its type takes nothing that is put together at run time,
// and what comes from outside is bound as a parameter. There is no way to write an injection.
//
// Values are text or null; the columns' types make numbers of them. Not safe for several threads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/error.h"

namespace weir {

using DatabaseValue = std::optional<std::string>;
using DatabaseRow = std::vector<DatabaseValue>;
using DatabaseRows = std::vector<DatabaseRow>;

// 0 if it is none.
uint64_t NumberOf(const DatabaseValue& value);

// The text of a statement, which is known when the program is compiled. Parameters are $1, $2, ….
class Sql {
 public:
  template <size_t n>
  consteval Sql(const char (&text)[n]) : text_(text) {}  // NOLINT: converts
  constexpr const char* text() const { return text_; }

 private:
  const char* text_;
};

class Database {
 public:
  virtual ~Database() = default;

  // kUnavailable if the database does not answer. What it has lost it opens again when it is next
  // asked outside of a transaction.
  virtual Result<DatabaseRows> Query(Sql sql, const std::vector<DatabaseValue>& values) = 0;
  Result<DatabaseRows> Query(Sql sql) { return Query(sql, std::vector<DatabaseValue>{}); }

  // Between these and the end all that is read is of one state. While one writes, nobody else does.
  virtual Result<DatabaseRows> BeginRead() = 0;
  virtual Result<DatabaseRows> BeginWrite() = 0;
  virtual Result<DatabaseRows> Commit() = 0;
  virtual void Rollback() = 0;

  // May others write to it?
  virtual bool shared() const = 0;
};

// Rolls back unless it was committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(&database) {}
  ~Transaction() {
    if (database_ != nullptr) database_->Rollback();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Result<DatabaseRows> Commit() {
    Result<DatabaseRows> committed = database_->Commit();
    if (committed) database_ = nullptr;
    return committed;
  }

 private:
  Database* database_;
};

// postgresql://… (or postgres://…), ":memory:", or the path of a file of SQLite, which is made if
// there is none. A PostgreSQL that is away is no error here: it is connected to when it is asked.
Result<std::unique_ptr<Database>> OpenDatabase(const std::string& url);

}  // namespace weir
