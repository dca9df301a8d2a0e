#include "config/database.h"

#include <charconv>

#include "config/postgres_database.h"
#include "config/sqlite_database.h"

namespace weir {

uint64_t NumberOf(const DatabaseValue& value) {
  uint64_t number = 0;
  if (value) std::from_chars(value->data(), value->data() + value->size(), number);
  return number;
}

Result<std::unique_ptr<Database>> OpenDatabase(const std::string& url) {
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) {
    return std::unique_ptr<Database>(std::make_unique<PostgresDatabase>(url));
  }
  return SqliteDatabase::Open(url);
}

}  // namespace weir
