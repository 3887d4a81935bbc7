// The files of db/queries, which became part of the program when it was built.
#pragma once

#include <string_view>
#include <vector>

namespace infimum {

struct QueryFile {
  std::string_view name;  // without ".sql"
  std::string_view text;
};

// In the order of their names.
const std::vector<QueryFile>& QueryFiles();

}  // namespace infimum
