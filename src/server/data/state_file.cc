#include "server/data/state_file.h"

#include <fmt/format.h>

#include <charconv>

#include <absl/strings/escaping.h>

#include "base/keyed_hash.h"
#include "base/random.h"

namespace weir {
namespace {

std::optional<uint64_t> ReadWord(std::string_view text, int base) {
  uint64_t word = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return word;
}

constexpr size_t kWordDigits = 16;

std::string TwoWords(uint64_t high, uint64_t low) {
  return fmt::format("{:016x}{:016x}", high, low);
}

bool ReadTwoWords(std::string_view text, uint64_t& high, uint64_t& low) {
  if (text.size() != 2 * kWordDigits) return false;
  const auto first = ReadWord(text.substr(0, kWordDigits), 16);
  const auto second = ReadWord(text.substr(kWordDigits), 16);
  if (!first || !second) return false;
  high = *first;
  low = *second;
  return true;
}

int64_t Millis(Instant instant) { return ToNanos(instant) / 1'000'000; }

}  // namespace

std::string StateFile::KeyText(const SavedState& saved) {
  return TwoWords(saved.key_high, saved.key_low);
}

Result<std::unique_ptr<StateFile>> StateFile::Open(const std::string& path) {
  Result<std::unique_ptr<Database>> database = OpenDatabase(path);
  if (!database) return database.error();
  std::unique_ptr<StateFile> file(new StateFile(std::move(*database)));
  if (std::optional<Error> error = file->CreateTables()) return *error;
  if (std::optional<Error> error = file->TakeSecret()) return *error;
  if (std::optional<Error> error = file->AddChecksums()) return *error;
  return file;
}

std::optional<Error> StateFile::CreateTables() {
  for (const Result<DatabaseRows>& made :
       {database_->Query("CREATE TABLE IF NOT EXISTS weir_node (secret TEXT NOT NULL)"),
        database_->Query("CREATE TABLE IF NOT EXISTS weir_states (key TEXT PRIMARY KEY, "
                         "limit_name TEXT NOT NULL, numbers TEXT NOT NULL, state TEXT NOT NULL, "
                         "used TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID")}) {
    if (!made) return made.error();
  }
  return std::nullopt;
}

std::optional<Error> StateFile::TakeSecret() {
  if (const auto begun = database_->BeginWrite(); !begun) return begun.error();
  Transaction transaction(*database_);
  const Result<DatabaseRows> rows = database_->Query("SELECT secret FROM weir_node");
  if (!rows) return rows.error();
  if (!rows->empty()) {
    if (!ReadTwoWords(rows->front()[0].value_or(""), secret_[0], secret_[1])) {
      return Error{Code::kUnavailable, "weir_node: the secret is not 32 hexadecimal digits", ""};
    }
    return std::nullopt;
  }
  secret_ = {UnguessableWord(), UnguessableWord()};
  const Result<DatabaseRows> kept =
      database_->Query("INSERT INTO weir_node VALUES ($1)", {TwoWords(secret_[0], secret_[1])});
  if (!kept) return kept.error();
  if (const auto done = transaction.Commit(); !done) return done.error();
  return std::nullopt;
}

// Of key, limit, numbers, state, used, at.
std::string StateFile::ChecksumOf(const DatabaseRow& row) const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < 6; ++i) parts.push_back(row[i].value_or(""));
  const Key sum = KeyedHash(secret_).OfAll(parts);
  return TwoWords(sum.high, sum.low);
}

std::optional<Error> StateFile::AddChecksums() {
  const Result<DatabaseRows> column =
      database_->Query("SELECT name FROM pragma_table_info('weir_states') WHERE name = 'checksum'");
  if (!column) return column.error();
  if (!column->empty()) return std::nullopt;
  if (const auto begun = database_->BeginWrite(); !begun) return begun.error();
  Transaction transaction(*database_);
  const Result<DatabaseRows> added =
      database_->Query("ALTER TABLE weir_states ADD COLUMN checksum TEXT NOT NULL DEFAULT ''");
  if (!added) return added.error();
  for (std::string last; true;) {
    const Result<DatabaseRows> rows = database_->Query(
        "SELECT key, limit_name, numbers, state, used, at FROM weir_states WHERE key > $1 "
        "ORDER BY key LIMIT 1000",
        {last});
    if (!rows) return rows.error();
    if (rows->empty()) break;
    for (const DatabaseRow& row : *rows) {
      const auto set = database_->Query("UPDATE weir_states SET checksum = $2 WHERE key = $1",
                                        {row[0], ChecksumOf(row)});
      if (!set) return set.error();
    }
    last = rows->back()[0].value_or("");
  }
  if (const auto done = transaction.Commit(); !done) return done.error();
  return std::nullopt;
}

std::optional<StateFile::Row> StateFile::ReadRow(const DatabaseRow& row) const {
  Row read;
  SavedState& saved = read.saved;
  for (const DatabaseValue& value : row) {
    if (!value) return std::nullopt;
  }
  if (*row[6] != ChecksumOf(row)) return std::nullopt;
  const auto use = ReadWord(*row[4], 10), at = ReadWord(*row[5], 10);
  const std::string& digits = *row[3];
  const bool hexadecimal = digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!ReadTwoWords(*row[0], saved.key_high, saved.key_low) || !use || !at || !hexadecimal ||
      digits.size() % 2 != 0) {
    return std::nullopt;
  }
  saved.limit = *row[1];
  saved.numbers = *row[2];
  saved.state = absl::HexStringToBytes(digits);
  saved.use = *use;
  read.at = Instant(std::chrono::milliseconds(*at));
  return read;
}

Result<StateFile::RowPage> StateFile::Page(const std::string& key, size_t most) {
  const Result<DatabaseRows> rows = database_->Query(
      "SELECT key, limit_name, numbers, state, used, at, checksum FROM weir_states WHERE key > $1 "
      "ORDER BY key LIMIT $2",
      {key, std::to_string(most)});
  if (!rows) return rows.error();
  RowPage page;
  if (rows->size() == most) page.last = rows->back()[0].value_or("");
  for (const DatabaseRow& row : *rows) {
    if (std::optional<Row> read = ReadRow(row)) {
      page.rows.push_back(std::move(*read));
      continue;
    }
    const auto gone = database_->Query("DELETE FROM weir_states WHERE key = $1", {row[0]});
    if (!gone) return gone.error();
    page.damaged += 1;
  }
  return page;
}

std::optional<Error> StateFile::Save(std::span<const SavedState> changed, Instant now) {
  if (const auto begun = database_->BeginWrite(); !begun) return begun.error();
  Transaction transaction(*database_);
  const std::string at = std::to_string(Millis(now));
  for (const SavedState& one : changed) {
    DatabaseRow row = {KeyText(one),
                       one.limit,
                       one.numbers,
                       absl::BytesToHexString(one.state),
                       std::to_string(one.use),
                       at};
    row.push_back(ChecksumOf(row));
    const Result<DatabaseRows> written =
        one.gone ? database_->Query("DELETE FROM weir_states WHERE key = $1", {row[0]})
                 : database_->Query(
                       "INSERT OR REPLACE INTO weir_states (key, limit_name, numbers, "
                       "state, used, at, checksum) "
                       "VALUES ($1, $2, $3, $4, $5, $6, $7)",
                       row);
    if (!written) return written.error();
  }
  if (const auto done = transaction.Commit(); !done) return done.error();
  return std::nullopt;
}

}  // namespace weir
