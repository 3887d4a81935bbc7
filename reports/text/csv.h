// RFC 4180: CRLF line ends, cells quoted where they must be, quotes doubled. Always valid UTF-8.
//
//   FormatCsvRow({"a", "b,c", "say \"x\""})  ->  a,"b,c","say ""x"""\r\n
#pragma once

#include <optional>
#include <span>
#include <string>

#include "infimum/base/units.h"
#include "infimum/measurement/statistics.h"
#include "reports/text/section.h"

namespace infimum {

std::string FormatCsvRow(std::span<const std::string> cells);

// Cells of times, in microseconds; empty where they are absent.
std::string CsvTime(const std::optional<Latency>& latency);
std::string CsvLow(const std::optional<Interval>& interval);
std::string CsvHigh(const std::optional<Interval>& interval);

// The columns' titles, then the rows. Names come from model files: control characters are shown as \x1b, and
// what a spreadsheet would run as a formula gets a quote before it.
std::string SectionCsv(const Section& section);

}  // namespace infimum
