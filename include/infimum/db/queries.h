// Questions to a store by name: each is a file of db/queries, SQL with a head that describes its answer and what may be
// given. They became part of the program when it was built.
//
//   -- The best candidate of a layer on every device.       the first lines: its description
//   -- :layer        the canonical text of a layer           a parameter that must be given
//   -- :cache=warm   warm, cold or cold-weights            one with a value of its own
//   SELECT ... WHERE w.text = :layer AND m.cache = :cache
//
//   const NamedQuery* query = FindQuery("best-candidate");
//   Result<QueryTable> table = store->Ask(*query, {{"layer", "convolution ..."}});
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "infimum/base/result.h"

namespace infimum {

struct QueryParameter {
  std::string name;
  std::optional<std::string> otherwise;  // absent: it must be given
  std::string what;
};

struct NamedQuery {
  std::string name;  // the file's, without ".sql"
  std::string what;
  std::vector<QueryParameter> parameters;
  std::string sql;  // with $1, $2, ... in the order of `parameters`
};

// In the order of their names.
const std::vector<NamedQuery>& NamedQueries();
// nullptr where there is none.
const NamedQuery* FindQuery(std::string_view name);

// A query out of a file's text. An error where its head and its SQL do not agree.
Result<NamedQuery> ParseQuery(std::string_view name, std::string_view text);

// What a statement that the user wrote may take.
struct SqlLimits {
  std::chrono::milliseconds time{60'000};
  std::function<bool()> interrupted = {};  // asked now and then
  // PostgreSQL: a superuser may read the server's files and end its sessions by a SELECT, which no read-only
  // transaction keeps anyone from. Not unless that is wished.
  bool as_superuser = false;
};

using QueryCell = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

struct QueryTable {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryCell>> rows;
};

}  // namespace infimum
