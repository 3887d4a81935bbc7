// Which schema a database has, and how it gets to the newest. A schema's number is that of its file in db/schema.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection/sql_connection.h"

namespace infimum {

// The files of db/schema, which became part of the program when it was built.

struct SchemaFile {
  Dialect dialect;
  std::int64_t version;  // the number that the file's name begins with
  std::string_view text;
};

// Ascending by version.
const std::vector<SchemaFile>& SchemaFiles();

std::int64_t NewestSchema();

// 0 for an empty database. An error for other programs' databases and for schemas newer than ours.
Result<std::int64_t> SchemaOf(Connection& connection);

// Brings the database to the newest schema in one transaction. `say` gets the place of the backup.
Status Migrate(Connection& connection, const std::function<void(const std::string&)>& say);

}  // namespace infimum
