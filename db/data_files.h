// The files of db/data, which became part of the program when it was built.
#pragma once

#include <string_view>

namespace infimum {

std::string_view DevicesCsv();

}  // namespace infimum
