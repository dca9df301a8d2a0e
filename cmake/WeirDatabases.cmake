# SQLite and PostgreSQL's client library: where the configuration is kept.
find_package(SQLite3 REQUIRED)

# Not FindPostgreSQL, which asks for the server's headers too.
find_path(LIBPQ_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)
find_library(LIBPQ_LIBRARY pq REQUIRED)
add_library(libpq::libpq UNKNOWN IMPORTED)
set_target_properties(libpq::libpq PROPERTIES IMPORTED_LOCATION "${LIBPQ_LIBRARY}"
                      INTERFACE_INCLUDE_DIRECTORIES "${LIBPQ_INCLUDE_DIR}")
