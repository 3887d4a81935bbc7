// The files of db/data and db/roles.sql, which became part of the program when it was built.
#pragma once

#include <string_view>

namespace infimum {

std::string_view DevicesCsv();
std::string_view RolesSql();

}  // namespace infimum
