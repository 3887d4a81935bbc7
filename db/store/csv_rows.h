// Reads RFC 4180: cells in double quotes may hold commas, line ends and doubled quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace infimum {

std::vector<std::vector<std::string>> ReadCsv(std::string_view text);

}  // namespace infimum
