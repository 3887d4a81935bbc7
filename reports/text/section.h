// A titled table: worked out once, so that terminal, Markdown and page show the same words and numbers.
//
//   Section section{"bounds", "Bounds", "", {{"bound"}, {"latency", Align::kRight}}, {}};
//   section.rows.push_back({Cell("sequential"), Cell("12.5 ms")});
//   SectionText(section, 80), SectionMarkdown(section); the page's writer is page/html_table.h, CSV is text/csv.h
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/text/table.h"

namespace infimum {

// What a cell's number says, beside its text.
enum class CellTone {
  kPlain,
  kFaster,     // than the baseline, beyond what matters
  kSlower,     // likewise
  kSame,       // within noise
  kUndecided,  // nobody can tell
  kUnknown,    // nothing is known
};

struct Cell {
  std::string text;
  std::string aside = {};  // behind it, "(0.8x)"; may be empty
  CellTone tone = CellTone::kPlain;
  std::optional<double> ratio = std::nullopt;   // to the baseline: how strongly a page colours it
  std::optional<double> number = std::nullopt;  // what its column is sorted by
  bool is_best = false;                         // of the sides in its row
  bool is_code = false;                         // a name from a model or a library: `text` alone in a code span
  std::string hint = {};                        // what a page shows where somebody points at it

  Cell(std::string shown = "") : text(std::move(shown)) {}

  std::string Whole() const { return aside.empty() ? text : text + " " + aside; }
};
Cell CodeCell(std::string text, std::string aside = "");

struct Section {
  std::string id;     // "ladder"
  std::string title;  // "Totals"
  std::string note;   // what the table says, or why it is empty; may be empty
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;
  std::size_t left_out = 0;  // rows that `most` cut
  // From here on a column is a side's, one for each.
  std::optional<std::size_t> first_side = std::nullopt;
};

// The table alone; nothing without rows. `width` 0: as wide as needed.
std::string SectionTable(const Section& section, std::size_t width);
// Title and note in a paragraph, the table, how many rows were left out.
std::string SectionText(const Section& section, std::size_t width);

// The table alone, and with title and note.
std::string SectionMarkdownTable(const Section& section);
std::string SectionMarkdown(const Section& section);

}  // namespace infimum
