#include "reports/text/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/utf8.h"

namespace infimum {
namespace {

std::string Escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (char c : Printable(text)) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string MarkdownCell(const Cell& cell) {
  if (!cell.is_code) return MarkdownCellProse(cell.Whole());
  return MarkdownCode(cell.text) + (cell.aside.empty() ? "" : " " + MarkdownCellProse(cell.aside));
}

}  // namespace

std::string MarkdownCode(std::string_view text) {
  std::string inner;
  std::size_t longest = 0;
  std::size_t run = 0;
  for (char c : Printable(text)) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|') inner += '\\';
    inner += c;
  }
  if (inner.empty()) return "-";
  std::string fence(longest + 1, '`');
  bool pad = inner.front() == '`' || inner.back() == '`';
  return fence + (pad ? " " : "") + inner + (pad ? " " : "") + fence;
}

std::string MarkdownProse(std::string_view text) { return Escaped(text, "\\`*_[]<>#+!|~&"); }

std::string MarkdownCellProse(std::string_view text) { return Escaped(text, "\\`*_[]<>!|~&"); }

std::string SectionMarkdownTable(const Section& section) {
  if (section.rows.empty()) return "";
  std::string titles = "|", lines = "|", rows;
  for (const TableColumn& column : section.columns) {
    titles += fmt::format(" {} |", MarkdownCellProse(column.title));
    lines += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  for (const TableRow& row : section.rows) {
    rows += '|';
    for (const Cell& cell : row) rows += fmt::format(" {} |", MarkdownCell(cell));
    rows += '\n';
  }
  std::string out = fmt::format("{}\n{}\n{}", titles, lines, rows);
  if (section.left_out > 0) out += fmt::format("\n{}\n", MarkdownProse(LeftOutText(section)));
  return out;
}

std::string SectionMarkdown(const Section& section) {
  std::string out = fmt::format("\n## {}\n", MarkdownProse(section.title));
  if (!section.note.empty()) out += fmt::format("\n{}\n", MarkdownProse(section.note));
  return section.rows.empty() ? out : out + '\n' + SectionMarkdownTable(section);
}

}  // namespace infimum
