#include "reports/inspect/inspect_table.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "infimum/base/text.h"
#include "infimum/graph/fusable_regions.h"
#include "reports/inspect/inspect_totals.h"
#include "reports/text/csv.h"
#include "reports/text/layer_words.h"
#include "reports/text/quantity_text.h"
#include "reports/text/table.h"
#include "reports/text/utf8.h"

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

// How many places each rule found, and how many of them differ: those are measured.
std::string RegionsText(const ModelGraph& graph) {
  std::map<std::string_view, std::size_t> places;
  std::map<std::string_view, std::set<std::string>> workloads;
  for (const FusableRegion& region : FindFusableRegions(graph)) {
    ++places[region.rule];
    workloads[region.rule].insert(Format(region.workload));
  }
  std::string out;
  for (const FusionRule& rule : FusionRules()) {
    if (!places.contains(rule.name)) continue;
    out += fmt::format("fusable by {}, {} in {}: {}\n", rule.name, CountText(workloads[rule.name].size(), "region"),
                       CountText(places[rule.name], "place"), rule.description);
  }
  return out;
}

}  // namespace

std::string RegionsTable(const ModelGraph& graph, std::size_t width) {
  Table table{{{"rule"}, {"layers", Align::kLeft, true}, {"configuration", Align::kLeft, true}}, {}};
  for (const FusableRegion& region : FindFusableRegions(graph)) {
    table.rows.push_back(
        {std::string(region.rule), Join(LayerNames(graph, region.layers), " "), Format(region.workload)});
  }
  return FormatTable(table, width);
}

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
  return out + RegionsText(graph);
}

std::string InspectCsv(const ModelGraph& graph) {
  Table table =
      CsvTable({"name", "op", "status", "config", "reason", "flops", "bytes_read", "bytes_written", "parameters"});
  AddCsvRows(graph, "", table);
  return FormatCsv(table);
}

}  // namespace infimum
