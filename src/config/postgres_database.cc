#include "config/postgres_database.h"

#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <cerrno>

namespace weir {
namespace {

constexpr int kAnswerMillis = 3000;
constexpr const char* kPatienceSeconds = "3";
// Whoever writes holds this lock until the end of the transaction: "weir" in ASCII.
constexpr Sql kTakeLock = "SELECT pg_advisory_xact_lock(2003134834)";

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using OwnedResult = std::unique_ptr<PGresult, Clear>;

DatabaseRows ReadRows(const PGresult* result) {
  DatabaseRows rows(static_cast<size_t>(PQntuples(result)));
  for (int i = 0; i < PQntuples(result); ++i) {
    for (int j = 0; j < PQnfields(result); ++j) {
      DatabaseValue value;
      if (PQgetisnull(result, i, j) == 0) {
        value.emplace(PQgetvalue(result, i, j), static_cast<size_t>(PQgetlength(result, i, j)));
      }
      rows[static_cast<size_t>(i)].push_back(std::move(value));
    }
  }
  return rows;
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

PostgresDatabase::~PostgresDatabase() { Disconnect(); }

void PostgresDatabase::Disconnect() {
  if (connection_ != nullptr) PQfinish(connection_);
  connection_ = nullptr;
  prepared_.clear();
}

// Not the URL, which may hold a password.
Error PostgresDatabase::Failed(std::string_view what) {
  return {Code::kUnavailable, "PostgreSQL: " + FirstLine(what), ""};
}

std::optional<Error> PostgresDatabase::Connect() {
  if (connection_ != nullptr && PQstatus(connection_) == CONNECTION_OK) return std::nullopt;
  Disconnect();
  // What the URL says comes last, and stands.
  const std::array<const char*, 6> names = {
      "connect_timeout", "application_name", "client_encoding", "options", "dbname", nullptr};
  const std::array<const char*, 6> values = {
      kPatienceSeconds, "weir", "UTF8",
      // A lock, and a transaction that a dead server left behind, are not waited for for ever.
      "-c lock_timeout=2500 -c statement_timeout=10000 "
      "-c idle_in_transaction_session_timeout=10000",
      url_.c_str(), nullptr};
  connection_ = PQconnectdbParams(names.data(), values.data(), 1);
  if (connection_ == nullptr) return Failed("no memory");
  if (PQstatus(connection_) == CONNECTION_OK && PQsetnonblocking(connection_, 1) == 0) {
    PQsetNoticeProcessor(
        connection_, [](void*, const char*) {}, nullptr);  // not to stderr
    return std::nullopt;
  }
  const Error error = Failed(PQerrorMessage(connection_));
  Disconnect();
  return error;
}

bool PostgresDatabase::WaitForSocket(short events) {
  pollfd waiting{PQsocket(connection_), events, 0};
  int ready = 0;
  do {
    ready = poll(&waiting, 1, kAnswerMillis);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

Result<PGresult*> PostgresDatabase::Receive() {
  const auto lost = [&](std::string_view why) {
    const Error error = Failed(why);
    Disconnect();
    return error;
  };
  while (PQflush(connection_) == 1) {
    if (!WaitForSocket(POLLOUT)) return lost("takes no question");
  }
  OwnedResult last;
  while (true) {
    while (PQisBusy(connection_) == 1) {
      if (!WaitForSocket(POLLIN)) return lost("does not answer");
      if (PQconsumeInput(connection_) == 0) return lost(PQerrorMessage(connection_));
    }
    PGresult* result = PQgetResult(connection_);
    if (result == nullptr) break;
    last.reset(result);
  }
  if (last == nullptr) return lost("did not answer");
  return last.release();
}

Result<std::string> PostgresDatabase::Prepare(Sql sql) {
  const auto found = prepared_.find(sql.text());
  if (found != prepared_.end()) return found->second;
  const std::string name = "weir_" + std::to_string(prepared_.size());
  if (PQsendPrepare(connection_, name.c_str(), sql.text(), 0, nullptr) == 0) {
    return Failed(PQerrorMessage(connection_));
  }
  const Result<PGresult*> received = Receive();
  if (!received) return received.error();
  const OwnedResult result(*received);
  if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) {
    return Failed(PQresultErrorMessage(result.get()));
  }
  prepared_[sql.text()] = name;
  return name;
}

Result<DatabaseRows> PostgresDatabase::Query(Sql sql, const std::vector<DatabaseValue>& values) {
  if (in_transaction_ && connection_ == nullptr) return Failed("the connection is lost");
  if (std::optional<Error> error = Connect()) return *error;
  const Result<std::string> name = Prepare(sql);
  if (!name) return name.error();
  std::vector<const char*> texts;
  for (const DatabaseValue& value : values) {
    // The text ends at a zero: what holds one is not stored in part.
    if (value && value->find('\0') != std::string::npos) {
      return Error{Code::kBadRequest, "text with a zero byte cannot be kept", ""};
    }
    texts.push_back(value ? value->c_str() : nullptr);
  }
  if (PQsendQueryPrepared(connection_, name->c_str(), static_cast<int>(texts.size()), texts.data(),
                          nullptr, nullptr, 0) == 0) {
    return Failed(PQerrorMessage(connection_));
  }
  const Result<PGresult*> received = Receive();
  if (!received) return received.error();
  const OwnedResult result(*received);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    return Failed(PQresultErrorMessage(result.get()));
  }
  return ReadRows(result.get());
}

Result<DatabaseRows> PostgresDatabase::BeginRead() {
  Result<DatabaseRows> begun = Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  in_transaction_ = begun.ok();
  return begun;
}

// Each statement behind the lock sees what was committed before the lock was given.
Result<DatabaseRows> PostgresDatabase::BeginWrite() {
  Result<DatabaseRows> begun = Query("BEGIN ISOLATION LEVEL READ COMMITTED");
  if (!begun) return begun;
  in_transaction_ = true;
  Result<DatabaseRows> locked = Query(kTakeLock);
  if (!locked) Rollback();
  return locked;
}

Result<DatabaseRows> PostgresDatabase::Commit() {
  Result<DatabaseRows> committed = Query("COMMIT");
  if (committed) in_transaction_ = false;
  return committed;
}

void PostgresDatabase::Rollback() {
  if (in_transaction_ && connection_ != nullptr && !Query("ROLLBACK")) Disconnect();
  in_transaction_ = false;
}

}  // namespace weir
