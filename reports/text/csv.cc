#include "reports/text/csv.h"

#include "infimum/base/text.h"
#include "reports/text/utf8.h"

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

Table CsvTable(std::initializer_list<const char*> titles) {
  Table table;
  for (const char* title : titles) table.columns.push_back({title});
  return table;
}

std::string FormatCsv(const Table& table) {
  std::vector<std::string> titles;
  for (const TableColumn& column : table.columns) titles.push_back(column.title);
  std::string out = FormatCsvRow(titles);
  for (std::vector<std::string> row : table.rows) {
    row.resize(table.columns.size());
    for (std::string& cell : row) cell = Harmless(cell);
    out += FormatCsvRow(row);
  }
  return out;
}

}  // namespace infimum
