// The tables of a page: a section's columns and rows, with what a page adds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/page/html_writer.h"
#include "reports/text/section.h"

namespace infimum {

struct TableLook {
  std::string_view id = {};                   // of the table
  std::string_view classes = {};              // likewise
  std::string_view label = {};                // of the box in which it scrolls; empty: no box
  std::optional<std::size_t> heading = 0;     // the column that names its row
  std::vector<std::string> row_classes = {};  // by row; empty: none has one
};

// Opens the part of a page that holds it: heading, and what is said below it where that is anything, with its
// `commands` as code.
void OpenSection(std::string_view id, std::string_view title, std::string_view lead, HtmlWriter& html);

// Without what stands behind it.
void AddCellText(const Cell& cell, HtmlWriter& html);

// Columns that are aligned right hold numbers; cells that are code stand in a fixed width. Titles begin with a capital.
void AddTable(const Section& section, const TableLook& look, HtmlWriter& html);

}  // namespace infimum
