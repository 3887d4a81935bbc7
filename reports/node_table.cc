#include "infimum/reports/node_table.h"

#include <fmt/format.h>

#include <utility>

#include "infimum/reports/csv.h"
#include "infimum/reports/quantity_text.h"
#include "infimum/reports/table.h"
#include "reports/json_values.h"

namespace infimum {
namespace {

// The layer that a row is called by: the one with the most FLOPs, else the first that is not free.
LayerId MainOf(const ModelGraph& graph, const std::vector<LayerId>& layers) {
  const auto rank = [&graph](LayerId id) {
    const Layer& layer = graph.layer(id);
    return std::pair(layer.status != LayerStatus::kFree, layer.work.direct.value);
  };
  LayerId main = layers.front();
  for (const LayerId layer : layers)
    if (rank(layer) > rank(main)) main = layer;
  return main;
}

void AddColumn(const ModelGraph& graph, const NamedRun& named, std::vector<NodeRow>& rows, NodeTable& table) {
  const std::vector<LayerLatency> no_bounds(graph.layers.size());
  const Alignment alignment = AlignRun(graph, no_bounds, *named.run);
  NodeColumn column;
  column.source = named.source;
  column.measured = alignment.measured;
  column.unmatched = alignment.unmatched_layers.size();
  const std::size_t c = table.columns.size();
  for (const AlignedRow& row : alignment.rows) {
    if (row.inside_body) continue;
    if (row.layers.empty()) {
      column.engine_only += row.measured.value_or(Latency(0));
      continue;
    }
    const LayerId main = MainOf(graph, row.layers);
    for (const LayerId layer : row.layers) {
      NodeCell& cell = rows[layer.index()].cells[c];
      cell.clue = row.clue;
      for (const std::size_t engine : row.engine_layers) cell.engine_layers.push_back(named.run->layers[engine].name);
      if (layer == main) {
        cell.measured = row.measured;
      } else {
        cell.within = graph.layer(main).name;
      }
    }
  }
  table.columns.push_back(std::move(column));
}

Json CellJson(const NodeCell& cell) {
  return {{"measured_us", MicrosecondsOrNull(cell.measured)},
          {"within", cell.within.empty() ? Json(nullptr) : Json(cell.within)},
          {"engine_layers", cell.engine_layers},
          {"aligned_by", Name(cell.clue)}};
}

std::string CellText(const NodeCell& cell) {
  if (cell.measured) return LatencyText(*cell.measured);
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

std::string NodeTableText(const NodeTable& nodes, std::size_t width) {
  Table table{{{"layer", Align::kLeft, true}, {"operator", Align::kLeft, true}}, {}};
  for (const NodeColumn& column : nodes.columns) table.columns.push_back({column.source, Align::kRight, false});
  for (const NodeRow& row : nodes.rows) {
    std::vector<std::string> cells = {row.name, row.op};
    for (const NodeCell& cell : row.cells) cells.push_back(CellText(cell));
    table.rows.push_back(std::move(cells));
  }
  const auto add = [&](const char* what, const auto& text) {
    std::vector<std::string> cells = {what, ""};
    for (const NodeColumn& column : nodes.columns) cells.push_back(text(column));
    table.rows.push_back(std::move(cells));
  };
  add("= only in the engine", [](const NodeColumn& column) { return LatencyText(column.engine_only); });
  add("= all of the engine's layers", [](const NodeColumn& column) { return LatencyText(column.measured); });
  add("= of it at layers of the model", [](const NodeColumn& column) { return PercentText(column.aligned_share()); });
  std::string text = FormatTable(table, width);
  text += "\n(Conv_0): ran in the row of Conv_0, as one engine layer\n";
  for (const NodeColumn& column : nodes.columns)
    if (column.unmatched > 0)
      text += fmt::format("{}: {} of the model not found in it\n", column.source, CountText(column.unmatched, "layer"));
  return text;
}

std::string NodeTableJson(const NodeTable& nodes) {
  Json columns = Json::array(), layers = Json::array();
  for (const NodeColumn& column : nodes.columns)
    columns.push_back({{"source", column.source},
                       {"layers_us", column.measured.count()},
                       {"engine_only_us", column.engine_only.count()},
                       {"aligned_share", column.aligned_share()},
                       {"unmatched_layers", column.unmatched}});
  for (const NodeRow& row : nodes.rows) {
    Json runs = Json::array();
    for (const NodeCell& cell : row.cells) runs.push_back(CellJson(cell));
    layers.push_back({{"name", row.name}, {"op", row.op}, {"runs", std::move(runs)}});
  }
  return DumpJson({{"schema", "infimum.compare/1"},
                   {"model", nodes.model},
                   {"runs", std::move(columns)},
                   {"layers", std::move(layers)}},
                  1) +
         '\n';
}

std::string NodeTableCsv(const NodeTable& nodes) {
  Table table{{{"layer"}, {"op"}}, {}};
  for (const NodeColumn& column : nodes.columns) {
    table.columns.push_back({column.source + " us"});
    table.columns.push_back({column.source + " within"});
  }
  for (const NodeRow& row : nodes.rows) {
    std::vector<std::string> cells = {row.name, row.op};
    for (const NodeCell& cell : row.cells) {
      cells.push_back(cell.measured ? Json(cell.measured->count()).dump() : "");
      cells.push_back(cell.within);
    }
    table.rows.push_back(std::move(cells));
  }
  return FormatCsv(table);
}

}  // namespace infimum
