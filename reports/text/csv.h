// RFC 4180: CRLF line ends, cells quoted where they must be, quotes doubled. Always valid UTF-8.
//
//   FormatCsvRow({"a", "b,c", "say \"x\""})  ->  a,"b,c","say ""x"""\r\n
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "reports/text/table.h"

namespace infimum {

std::string FormatCsvRow(std::span<const std::string> cells);

// A table with plain columns.
Table CsvTable(std::initializer_list<const char*> titles);

// The columns' titles, then the rows. Names come from model files: control characters are shown as \x1b, and
// what a spreadsheet would run as a formula gets a quote before it.
std::string FormatCsv(const Table& table);

}  // namespace infimum
