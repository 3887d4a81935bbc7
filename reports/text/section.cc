#include "reports/text/section.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text/terminal_text.h"

namespace infimum {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastCutWidth = 8;

// Takes columns away from those that may be cut, the widest first, until the table fits.
void Narrow(const std::vector<TableColumn>& columns, std::vector<std::size_t>& widths, std::size_t width) {
  std::size_t total = widths.empty() ? 0 : kGap * (widths.size() - 1);
  for (std::size_t w : widths) total += w;
  while (total > width) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (!columns[i].may_be_cut || widths[i] <= kLeastCutWidth) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) return;  // nothing left to cut: lines become longer than asked
    std::size_t excess = std::min(total - width, widths[widest] - kLeastCutWidth);
    // No further than the next widest at a time would be fairer; half the excess comes close.
    excess = std::max<std::size_t>(1, excess / 2);
    widths[widest] -= excess;
    total -= excess;
  }
}

void AppendLine(const std::vector<TableColumn>& columns, const std::vector<std::size_t>& widths,
                const std::vector<std::string>& cells, std::string& out) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    std::string cell = i < cells.size() ? CutToWidth(cells[i], widths[i]) : std::string();
    std::size_t padding = widths[i] - std::min(widths[i], DisplayWidth(cell));
    if (i > 0) line.append(kGap, ' ');
    if (columns[i].align == Align::kRight) line.append(padding, ' ');
    line += cell;
    if (columns[i].align == Align::kLeft) line.append(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line;
  out += '\n';
}

}  // namespace

CellTone ToneOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame:
      return CellTone::kSame;
    case Verdict::kFaster:
      return CellTone::kFaster;
    case Verdict::kSlower:
      return CellTone::kSlower;
    case Verdict::kUndecided:
      break;
  }
  return CellTone::kUndecided;
}

Cell CodeCell(std::string text, std::string aside) {
  Cell cell(std::move(text));
  cell.aside = std::move(aside);
  cell.is_code = true;
  return cell;
}

std::string LeftOutText(const Section& section) {
  if (section.left_out == 0) return "";
  return fmt::format("... and {} more{}{}", section.left_out, section.rest.empty() ? "" : "; ", section.rest);
}

std::string SectionTable(const Section& section, std::size_t width, std::size_t indent) {
  std::vector<std::vector<std::string>> lines;
  lines.reserve(section.rows.size() + 1);
  std::vector<std::string>& titles = lines.emplace_back();
  for (const TableColumn& column : section.columns) titles.push_back(Printable(column.title));
  for (const TableRow& row : section.rows) {
    std::vector<std::string>& cells = lines.emplace_back();
    for (std::size_t i = 0; i < row.size() && i < section.columns.size(); ++i)
      cells.push_back(Printable(row[i].Whole()));
  }
  for (std::vector<std::string>& cells : lines)
    if (!cells.empty()) cells.front().insert(0, indent, ' ');
  std::vector<std::size_t> widths(section.columns.size(), 0);
  for (const std::vector<std::string>& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(cells[i]));
  }
  if (width > 0) Narrow(section.columns, widths, width);
  std::string out;
  for (const std::vector<std::string>& cells : lines) AppendLine(section.columns, widths, cells, out);
  return section.left_out > 0 ? out + IndentedText("", LeftOutText(section), 0, width) : out;
}

std::string SectionText(const Section& section, std::size_t width) {
  std::string out = IndentedText("", section.title + (section.note.empty() ? "" : ": " + section.note), 2, width);
  return section.rows.empty() ? out : out + SectionTable(section, width);
}

}  // namespace infimum
