// All that a store holds as sorted lines of text, for comparing two: rows joined by what they mean, without the ids
// that each database gives, and without the time of the import.
#pragma once

#include <string>
#include <vector>

#include "db/connection/sql_connection.h"
#include "infimum/base/result.h"

namespace infimum::testing {

Result<std::vector<std::string>> DumpStore(Connection& connection);

// One line a row, cells separated by tabs, in the query's order. Numbers as hexadecimal floats, so that none is
// rounded.
Result<std::vector<std::string>> Ask(Connection& connection, const std::string& sql);

}  // namespace infimum::testing
