// Runs a query of the user's, which the database holds to reading.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection/sql_connection.h"
#include "infimum/db/queries.h"

namespace infimum {

// More rows than this are an error that names LIMIT.
inline constexpr std::size_t kMostQueryRows = 1'000'000;

// And more than this in texts: an answer is gathered in memory.
inline constexpr std::size_t kMostQueryBytes = std::size_t{1} << 28;

// `values` are those of $1, $2, ... `limits`: of a statement that is not ours.
Result<QueryTable> RunQuery(Connection& connection, const std::string& sql, const std::vector<std::string>& values,
                            const SqlLimits* limits = nullptr);

// A named query's values in the order of its parameters. An error names a parameter that is missing or unknown.
Result<std::vector<std::string>> ValuesOf(const NamedQuery& query, const std::map<std::string, std::string>& given);

// The files of db/queries, which became part of the program when it was built.

struct QueryFile {
  std::string_view name;  // without ".sql"
  std::string_view text;
};

// In the order of their names.
const std::vector<QueryFile>& QueryFiles();

}  // namespace infimum
