#include "config/database.h"

#include "config/postgres_database.h"
#include "config/sqlite_database.h"

namespace weir {

Result<std::unique_ptr<Database>> OpenDatabase(const std::string& url) {
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) {
    return std::unique_ptr<Database>(std::make_unique<PostgresDatabase>(url));
  }
  return SqliteDatabase::Open(url);
}

}  // namespace weir
