// RFC 4180: CRLF line ends, cells quoted where they must be, quotes doubled. Always valid UTF-8.
//
//   FormatCsvRow({"a", "b,c", "say \"x\""})  ->  a,"b,c","say ""x"""\r\n
#pragma once

#include <span>
#include <string>

#include "infimum/reports/table.h"

namespace infimum {

std::string FormatCsvRow(std::span<const std::string> cells);

// The columns' titles, then the rows; the text cells of `table` as they are.
std::string FormatCsv(const Table& table);

}  // namespace infimum
