// The files of db/schema, which became part of the program when it was built.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "db/connection/sql_connection.h"

namespace infimum {

struct SchemaFile {
  Dialect dialect;
  std::int64_t version;  // the number that the file's name begins with
  std::string_view text;
};

// Ascending by version.
const std::vector<SchemaFile>& SchemaFiles();

}  // namespace infimum
