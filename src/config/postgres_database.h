// PostgreSQL. Every answer is waited for, but not for ever: a server that is stopped, paused or cut
// off costs a few seconds, then an error, and the connection is made anew for the next question.
#pragma once

#include <map>
#include <string>

#include "config/database.h"

struct pg_conn;
struct pg_result;

namespace weir {

class PostgresDatabase : public Database {
 public:
  explicit PostgresDatabase(std::string url) : url_(std::move(url)) {}
  ~PostgresDatabase() override;

  using Database::Query;
  Result<DatabaseRows> Query(Sql sql, const std::vector<DatabaseValue>& values) override;
  Result<DatabaseRows> BeginRead() override;
  Result<DatabaseRows> BeginWrite() override;
  Result<DatabaseRows> Commit() override;
  void Rollback() override;
  bool shared() const override { return true; }

 private:
  std::optional<Error> Connect();
  void Disconnect();
  // Its name on this connection, where it is prepared if it is new.
  Result<std::string> Prepare(Sql sql);
  // The result of what was sent, to be freed; disconnects if none comes in time.
  Result<pg_result*> Receive();
  bool WaitForSocket(short events);
  Error Failed(std::string_view what);

  const std::string url_;
  pg_conn* connection_ = nullptr;
  bool in_transaction_ = false;
  std::map<const char*, std::string> prepared_;  // by the statement's own place in the program
};

}  // namespace weir
