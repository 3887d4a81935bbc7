#include "reports/text/csv.h"

#include "infimum/base/text.h"
#include "infimum/base/utf8.h"

namespace infimum {
namespace {

// As every other writer shows it, and no formula to a spreadsheet: names come from model files.
std::string Harmless(const std::string& text) {
  std::string cell = Printable(text);
  const bool formula = !cell.empty() && std::string_view("=+-@").find(cell[0]) != std::string_view::npos;
  return formula && !ParseNumber(cell) ? "'" + cell : cell;
}

}  // namespace

std::string FormatCsvRow(std::span<const std::string> cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    std::string cell = ValidUtf8(cells[i]);
    // A line of one empty cell would read as no line at all.
    bool quote = cell.find_first_of(",\"\r\n") != std::string::npos || (cells.size() == 1 && cell.empty());
    if (!quote) {
      out += cell;
      continue;
    }
    out += '"';
    for (char c : cell) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
  return out += "\r\n";
}

std::string CsvTime(const std::optional<Latency>& latency) { return latency ? FormatNumber(latency->count()) : ""; }

std::string CsvLow(const std::optional<Interval>& interval) { return interval ? CsvTime(interval->low) : ""; }

std::string CsvHigh(const std::optional<Interval>& interval) { return interval ? CsvTime(interval->high) : ""; }

std::string SectionCsv(const Section& section) {
  std::vector<std::string> cells;
  for (const TableColumn& column : section.columns) cells.push_back(column.title);
  std::string out = FormatCsvRow(cells);
  for (const TableRow& row : section.rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = i < row.size() ? Harmless(row[i].text) : "";
    out += FormatCsvRow(cells);
  }
  return out;
}

}  // namespace infimum
