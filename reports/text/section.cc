#include "reports/text/section.h"

#include <fmt/format.h>

#include "reports/text/markdown_text.h"
#include "reports/text/quantity_text.h"
#include "reports/text/wrapped_text.h"

namespace infimum {
namespace {

std::string LeftOutText(const Section& section) {
  if (section.left_out == 0) return "";
  return fmt::format("{} more; .json, .csv and .html have all", CountText(section.left_out, "row"));
}

std::string MarkdownCell(const Cell& cell) {
  if (!cell.is_code) return MarkdownCellProse(cell.Whole());
  return MarkdownCode(cell.text) + (cell.aside.empty() ? "" : " " + MarkdownCellProse(cell.aside));
}

}  // namespace

Cell CodeCell(std::string text, std::string aside) {
  Cell cell(std::move(text));
  cell.aside = std::move(aside);
  cell.is_code = true;
  return cell;
}

std::string SectionTable(const Section& section, std::size_t width) {
  if (section.rows.empty()) return "";
  Table table{section.columns, {}};
  for (const std::vector<Cell>& row : section.rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const Cell& cell : row) cells.push_back(cell.Whole());
  }
  return FormatTable(table, width);
}

std::string SectionText(const Section& section, std::size_t width) {
  std::string out = IndentedText("", section.title + (section.note.empty() ? "" : ": " + section.note), 2, width);
  out += SectionTable(section, width);
  if (section.left_out > 0) out += IndentedText("", LeftOutText(section), 0, width);
  return out;
}

std::string SectionMarkdownTable(const Section& section) {
  if (section.rows.empty()) return "";
  std::string titles = "|", lines = "|", rows;
  for (const TableColumn& column : section.columns) {
    titles += fmt::format(" {} |", MarkdownCellProse(column.title));
    lines += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  for (const std::vector<Cell>& row : section.rows) {
    rows += '|';
    for (const Cell& cell : row) rows += fmt::format(" {} |", MarkdownCell(cell));
    rows += '\n';
  }
  return fmt::format("{}\n{}\n{}", titles, lines, rows);
}

std::string SectionMarkdown(const Section& section) {
  std::string out = fmt::format("\n## {}\n", MarkdownProse(section.title));
  if (!section.note.empty()) out += fmt::format("\n{}\n", MarkdownProse(section.note));
  if (section.rows.empty()) return out;
  out += '\n' + SectionMarkdownTable(section);
  if (section.left_out > 0) out += fmt::format("\n{}\n", MarkdownProse(LeftOutText(section)));
  return out;
}

}  // namespace infimum
