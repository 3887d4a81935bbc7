#include "reports/text/table.h"

#include <algorithm>

#include "reports/text/utf8.h"

namespace infimum {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastCutWidth = 8;

// Takes columns away from those that may be cut, the widest first, until the table fits.
void Narrow(const Table& table, std::vector<std::size_t>& widths, std::size_t width) {
  std::size_t total = widths.empty() ? 0 : kGap * (widths.size() - 1);
  for (std::size_t w : widths) total += w;
  while (total > width) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (!table.columns[i].may_be_cut || widths[i] <= kLeastCutWidth) continue;
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

void AppendLine(const Table& table, const std::vector<std::size_t>& widths, const std::vector<std::string>& cells,
                std::string& out) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    std::string cell = i < cells.size() ? CutToWidth(cells[i], widths[i]) : std::string();
    std::size_t padding = widths[i] - std::min(widths[i], DisplayWidth(cell));
    if (i > 0) line.append(kGap, ' ');
    if (table.columns[i].align == Align::kRight) line.append(padding, ' ');
    line += cell;
    if (table.columns[i].align == Align::kLeft) line.append(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line;
  out += '\n';
}

}  // namespace

std::string FormatTable(const Table& table, std::size_t width) {
  std::vector<std::vector<std::string>> lines;
  lines.reserve(table.rows.size() + 1);
  std::vector<std::string>& titles = lines.emplace_back();
  for (const TableColumn& column : table.columns) titles.push_back(Printable(column.title));
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<std::string>& cells = lines.emplace_back();
    for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) cells.push_back(Printable(row[i]));
  }
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const std::vector<std::string>& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(cells[i]));
  }
  if (width > 0) Narrow(table, widths, width);
  std::string out;
  for (const std::vector<std::string>& cells : lines) AppendLine(table, widths, cells, out);
  return out;
}

}  // namespace infimum
