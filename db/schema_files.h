// The files of db/schema, in order, as they were when this program was built.
#pragma once

#include <string_view>
#include <vector>

namespace infimum {

const std::vector<std::string_view>& SchemaFiles();

}  // namespace infimum
