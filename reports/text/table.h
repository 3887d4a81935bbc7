// A small aligned table for terminals, and the same rows as CSV.
//
//   Table table{{{"layer"}, {"bound", Align::kRight}}, {{"Conv_0", "1.16 ms"}}};
//   FormatTable(table, 80):
//     layer     bound
//     Conv_0  1.16 ms
//
// Cells may hold anything: control characters (a terminal's escape sequences too) are shown as \x1b,
// invalid UTF-8 as U+FFFD, and columns line up also with wide and combining characters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace infimum {

enum class Align { kLeft, kRight };

struct TableColumn {
  std::string title;
  Align align = Align::kLeft;
  bool may_be_cut = false;  // gives way, with an ellipsis, where the terminal is too narrow
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  // short rows are filled with empty cells
};

// Title line, then rows, two spaces between columns, no spaces at line ends. `width` 0: as wide as needed.
std::string FormatTable(const Table& table, std::size_t width);

}  // namespace infimum
