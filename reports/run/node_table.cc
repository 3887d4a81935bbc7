#include "reports/run/node_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "infimum/base/quantity_text.h"
#include "infimum/base/utf8.h"
#include "reports/text/csv.h"
#include "reports/text/fact_text.h"
#include "reports/text/json_values.h"
#include "reports/text/section.h"
#include "reports/text/terminal_text.h"

namespace infimum {
namespace {

void AddColumn(const ModelGraph& graph, const NamedRun& named, std::vector<NodeRow>& rows, NodeTable& table) {
  NodeColumn column;
  column.source = named.source;
  const std::size_t c = table.columns.size();
  for (const ComparedRow& row : *named.rows) {
    column.measured += row.measured.value_or(Latency(0));
    if (row.layers.empty()) {
      (row.is_own() ? column.engine_only : column.unmatched) += row.measured.value_or(Latency(0));
      continue;
    }
    if (row.engine_layers.empty()) column.not_found += row.layers.size();
    const LayerId main = MainLayer(graph, row.layers);
    for (const LayerId layer : row.layers) {
      NodeCell& cell = rows[layer.index()].cells[c];
      cell.clue = row.clue;
      for (const std::size_t engine : row.engine_layers) cell.engine_layers.push_back(named.run->layers[engine].name);
      if (layer == main) {
        cell.measured = row.measured;
        cell.best = row.best;
      } else {
        cell.within = graph.layer(main).name;
      }
    }
  }
  table.columns.push_back(std::move(column));
}

// Of each row whether it is shown: the `most` longest by any run, all where that is 0.
std::vector<bool> Longest(const NodeTable& nodes, std::size_t most) {
  if (most == 0 || most >= nodes.rows.size()) return std::vector<bool>(nodes.rows.size(), true);
  const auto longest_cell = [&nodes](std::size_t row) {
    Latency longest{0};
    for (const NodeCell& cell : nodes.rows[row].cells) longest = std::max(longest, cell.measured.value_or(Latency(0)));
    return longest;
  };
  std::vector<std::size_t> order(nodes.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return longest_cell(a) > longest_cell(b); });
  std::vector<bool> shown(nodes.rows.size(), false);
  for (std::size_t i = 0; i < most; ++i) shown[order[i]] = true;
  return shown;
}

std::string CellText(const NodeCell& cell) {
  if (cell.measured) return FormatLatency(*cell.measured);
  if (!cell.within.empty()) return "(" + cell.within + ")";
  return cell.engine_layers.empty() ? "" : "-";
}

}  // namespace

NodeTable NodeTableOf(const ModelGraph& graph, const std::vector<NamedRun>& runs) {
  NodeTable table;
  table.model = graph.name;
  std::vector<NodeRow> rows;
  for (const Layer& layer : graph.layers) rows.push_back({layer.name, layer.op, std::vector<NodeCell>(runs.size())});
  for (const NamedRun& run : runs) AddColumn(graph, run, rows, table);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bool shows = graph.layers[i].status != LayerStatus::kFree;
    for (const NodeCell& cell : rows[i].cells) shows = shows || cell.measured.has_value();
    if (shows) table.rows.push_back(std::move(rows[i]));
  }
  return table;
}

std::string NodeTableText(const NodeTable& nodes, std::size_t width, std::size_t most) {
  Section section{.columns = {NameColumn("layer"), NameColumn("operator")}};
  const bool is_one = nodes.columns.size() == 1;
  if (is_one) section.columns.push_back(NumberColumn("at best"));
  for (const NodeColumn& column : nodes.columns)
    section.columns.push_back({is_one ? "measured" : column.source, Align::kRight, !is_one});
  if (is_one) section.columns.push_back(NumberColumn("ratio"));
  const std::vector<bool> shown = Longest(nodes, most);
  for (std::size_t i = 0; i < nodes.rows.size(); ++i) {
    if (!shown[i]) continue;
    const NodeRow& node = nodes.rows[i];
    TableRow& row = section.rows.emplace_back(TableRow{node.name, node.op});
    const std::optional<Latency>&best = node.cells[0].best, &measured = node.cells[0].measured;
    if (is_one) row.emplace_back(best ? FormatLatency(*best) : "");
    for (const NodeCell& cell : node.cells) row.emplace_back(CellText(cell));
    if (is_one && best && measured && best->count() > 0) row.emplace_back(fmt::format("{:.2f}x", *measured / *best));
  }
  const auto add = [&](const char* what, const auto& text) {
    TableRow& row = section.rows.emplace_back(TableRow{what, ""});
    if (is_one) row.emplace_back();
    for (const NodeColumn& column : nodes.columns) row.emplace_back(text(column));
  };
  add("= only in the engine", [](const NodeColumn& column) { return FormatLatency(column.engine_only); });
  if (std::ranges::any_of(nodes.columns, [](const NodeColumn& column) { return column.unmatched.count() > 0; }))
    add("= matched with no layer", [](const NodeColumn& column) { return FormatLatency(column.unmatched); });
  add("= all of the engine's layers", [](const NodeColumn& column) { return FormatLatency(column.measured); });
  add("= at layers, but for its own", [](const NodeColumn& column) { return PercentText(column.aligned_share()); });
  std::string text = SectionTable(section, width);
  const auto left_out = static_cast<std::size_t>(std::ranges::count(shown, false));
  if (left_out > 0)
    text += fmt::format("... and {} that took less or ran within another; --rows 0 shows all\n",
                        CountText(left_out, "layer"));
  if (std::ranges::any_of(nodes.rows,
                          [](const NodeRow& row) {
                            return std::ranges::any_of(row.cells,
                                                       [](const NodeCell& cell) { return !cell.within.empty(); });
                          }) &&
      left_out == 0)
    text += "(Conv_0): ran in the row of Conv_0, as one engine layer\n";
  for (const NodeColumn& column : nodes.columns)
    if (column.not_found > 0)
      text += IndentedText(
          "", fmt::format("{}: {} of the model not found in it", column.source, CountText(column.not_found, "layer")),
          2, width);
  return text;
}

std::string NodeTableCsv(const NodeTable& nodes) {
  const auto time = [](const std::optional<Latency>& latency) { return latency ? OrderedJson(*latency).dump() : ""; };
  Section section{.columns = {"layer", "op"}};
  for (const NodeColumn& column : nodes.columns)
    for (const char* quantity : {" us", " best us", " within"})
      section.columns.emplace_back(Printable(column.source) + quantity);
  for (const NodeRow& node : nodes.rows) {
    TableRow& row = section.rows.emplace_back(TableRow{node.name, node.op});
    for (const NodeCell& cell : node.cells)
      for (const std::string& text : {time(cell.measured), time(cell.best), cell.within}) row.emplace_back(text);
  }
  return SectionCsv(section);
}

}  // namespace infimum
