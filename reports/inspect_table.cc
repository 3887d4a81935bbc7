#include "infimum/reports/inspect_table.h"

#include <fmt/format.h>

#include "infimum/reports/csv.h"
#include "infimum/reports/quantity_text.h"
#include "infimum/reports/table.h"
#include "reports/inspect_totals.h"
#include "reports/utf8.h"

namespace infimum {
namespace {

void AddRows(const ModelGraph& graph, const std::string& indent, Table& table) {
  for (const Layer& layer : graph.layers) {
    table.rows.push_back({indent + layer.name, layer.op, std::string(InspectStatus(layer)),
                          layer.work.direct.value > 0 ? FlopsText(layer.work.direct) : "",
                          BytesText(layer.work.read() + layer.work.written),
                          layer.workload ? Format(*layer.workload) : layer.reason});
    for (const SubGraph& body : layer.bodies) {
      table.rows.push_back(
          {indent + "  " + body.name, "", "", "", "",
           fmt::format("runs at least {}", CountText(static_cast<std::size_t>(body.least_executions), "time"))});
      if (body.graph) AddRows(*body.graph, indent + "    ", table);
    }
  }
}

void AddCsvRows(const ModelGraph& graph, const std::string& prefix, Table& table) {
  for (const Layer& layer : graph.layers) {
    table.rows.push_back({prefix + layer.name, layer.op, std::string(InspectStatus(layer)),
                          layer.workload ? Format(*layer.workload) : "", layer.reason,
                          fmt::format("{}", layer.work.direct.value), fmt::format("{}", layer.work.read().value),
                          fmt::format("{}", layer.work.written.value), fmt::format("{}", ParametersOf(graph, layer))});
    for (const SubGraph& body : layer.bodies) {
      if (body.graph) AddCsvRows(*body.graph, prefix + layer.name + "/" + body.name + "/", table);
    }
  }
}

}  // namespace

std::string InspectTable(const ModelGraph& graph, std::size_t width) {
  Table table{{{"layer", Align::kLeft, true},
               {"op", Align::kLeft, true},
               {"status"},
               {"work", Align::kRight},
               {"bytes", Align::kRight},
               {"configuration, or the reason for none", Align::kLeft, true}},
              {}};
  AddRows(graph, "", table);
  InspectTotals totals = TotalsOf(graph);
  std::string out = FormatTable(table, width);
  out += fmt::format("\n{}: {} measurable in {}, {} free, {} unknown\n", CountText(totals.layers, "layer"),
                     totals.measurable, CountText(totals.configurations, "configuration"), totals.free, totals.unknown);
  out += fmt::format("{}, {} multiply-adds in convolutions and products; {} read, {} written\n",
                     FlopsText(totals.flops), totals.multiply_adds, BytesText(totals.read), BytesText(totals.written));
  out += fmt::format("{} parameters, {}\n", totals.parameters, BytesText(totals.parameter_bytes));
  for (const RewritePass& pass : graph.passes) {
    out += fmt::format("rewrite {}, {}: {}\n", Printable(pass.name), CountText(pass.rewrites.size(), "time"),
                       Printable(pass.description));
  }
  return out;
}

std::string InspectCsv(const ModelGraph& graph) {
  Table table{{{"name"},
               {"op"},
               {"status"},
               {"config"},
               {"reason"},
               {"flops"},
               {"bytes_read"},
               {"bytes_written"},
               {"parameters"}},
              {}};
  AddCsvRows(graph, "", table);
  return FormatCsv(table);
}

}  // namespace infimum
