// The schema's versions. A store carries its version in SQLite's user_version; each file in db/schema leads from the
// one before it, forwards only. `application_id` tells a store from any other SQLite file.
#pragma once

#include <cstdint>

#include "db/sqlite_connection.h"

namespace infimum {

// The version that this program reads and writes.
std::int64_t NewestSchema();

// 0 for an empty file. An error for a SQLite file that is not a store and for a store of a newer infimum.
Result<std::int64_t> SchemaOf(const Connection& connection);

// From whatever version it has to the newest, in one transaction; safe with several programs at once.
Status Migrate(const Connection& connection);

}  // namespace infimum
