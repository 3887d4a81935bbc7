// A table that terminal, Markdown, CSV and page show with the same words and numbers. What has a title of its own is
// worked out once, for all of them.
//
//   Section section{.id = "bounds", .title = "Bounds", .columns = {NameColumn("bound"), NumberColumn("latency")}};
//   section.rows.push_back({"sequential", "12.5 ms"});
//   SectionTable(section, 80):
//     bound       latency
//     sequential  12.5 ms
//
// Markdown: text/markdown.h; CSV: text/csv.h; the page: page/html_table.h. Cells may hold anything: for a terminal
// control characters (its escape sequences too) are shown as \x1b, invalid UTF-8 as U+FFFD, and columns line up also
// with wide and combining characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infimum/measurement/verdict.h"

namespace infimum {

enum class Align { kLeft, kRight };

struct TableColumn {
  std::string title;
  Align align;
  bool may_be_cut;  // gives way, with an ellipsis, where the terminal is too narrow

  TableColumn(std::string shown, Align side = Align::kLeft, bool gives_way = false)
      : title(std::move(shown)), align(side), may_be_cut(gives_way) {}
  TableColumn(const char* shown) : TableColumn(std::string(shown)) {}
};

inline TableColumn NumberColumn(std::string title) { return {std::move(title), Align::kRight}; }
// Of names, which may be long.
inline TableColumn NameColumn(std::string title) { return {std::move(title), Align::kLeft, true}; }

// What a cell's number says, beside its text.
enum class CellTone {
  kPlain,
  kFaster,     // than the baseline, beyond what matters
  kSlower,     // likewise
  kSame,       // within noise
  kUndecided,  // nobody can tell
  kUnknown,    // nothing is known
};
CellTone ToneOf(Verdict verdict);

struct Cell {
  std::string text;
  std::string aside = {};  // behind it, "(0.8x)"; may be empty
  CellTone tone = CellTone::kPlain;
  std::optional<double> ratio = std::nullopt;   // to the baseline: how strongly a page colours it
  std::optional<double> number = std::nullopt;  // what its column is sorted by
  bool is_best = false;                         // of the sides in its row
  bool is_code = false;                         // a name from a model or a library: `text` alone in a code span
  std::string hint = {};                        // what a page shows where somebody points at it
  std::string link = {};                        // a page of the same site: "../models/resnet50.html"
  std::string id = {};                          // of the first cell of a row: what a link's #id leads to

  Cell(std::string shown = "") : text(std::move(shown)) {}
  Cell(std::string_view shown) : text(shown) {}
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown, double sorted_by) : text(std::move(shown)), number(sorted_by) {}

  std::string Whole() const { return aside.empty() ? text : text + " " + aside; }
};
Cell CodeCell(std::string text, std::string aside = "");
inline Cell CountCell(std::size_t number) { return {std::to_string(number), static_cast<double>(number)}; }

using TableRow = std::vector<Cell>;

struct Section {
  std::string id = {};     // "ladder"
  std::string title = {};  // "Totals"
  std::string note = {};   // what the table says, or why it is empty; may be empty
  std::vector<TableColumn> columns = {};
  std::vector<TableRow> rows = {};  // short ones are filled with empty cells
  std::size_t left_out = 0;         // rows that AddRows() cut
  std::string rest = {};            // where those are: ".json and .csv have all"
  bool is_part = false;             // of the section before: a page shows it below that one
  std::size_t shown = 0;            // rows that a page shows without being asked; 0: all
  // From here on a column is a side's, one for each.
  std::optional<std::size_t> first_side = std::nullopt;
};

// A row for each of the facts, of at most `most` of them; 0: all.
template <class Facts, class RowOf>
void AddRows(const Facts& facts, std::size_t most, Section& section, const RowOf& row_of) {
  for (const auto& fact : facts) {
    if (most > 0 && section.rows.size() == most) {
      ++section.left_out;
    } else {
      section.rows.push_back(row_of(fact));
    }
  }
}

// "... and 3 more; .json and .csv have all"; empty where no row was left out.
std::string LeftOutText(const Section& section);

// For a terminal: the line of titles, then the rows, two spaces between columns, no spaces at line ends; how many were
// left out. `width` 0: as wide as needed. Without columns nothing. Each line begins with `indent` spaces.
std::string SectionTable(const Section& section, std::size_t width, std::size_t indent = 0);
// Title and note in a paragraph before it; of a section without rows these alone.
std::string SectionText(const Section& section, std::size_t width);

}  // namespace infimum
