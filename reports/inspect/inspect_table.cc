#include <fmt/format.h>

#include <map>
#include <set>

#include "infimum/base/text.h"
#include "infimum/base/utf8.h"
#include "infimum/graph/fusable_regions.h"
#include "reports/inspect/inspect.h"
#include "reports/inspect/inspect_totals.h"
#include "reports/text/csv.h"
#include "reports/text/layer_words.h"
#include "reports/text/quantity_text.h"
#include "reports/text/section.h"

namespace infimum {
namespace {

void AddLayers(const ModelGraph& graph, const std::string& indent, Section& section) {
  for (const Layer& layer : graph.layers) {
    section.rows.push_back({indent + layer.name, layer.op, InspectStatus(layer),
                            layer.work.direct.value > 0 ? FlopsText(layer.work.direct) : "",
                            BytesText(layer.work.read() + layer.work.written),
                            layer.workload ? Format(*layer.workload) : layer.reason});
    for (const SubGraph& body : layer.bodies) {
      section.rows.push_back(
          {indent + "  " + body.name, "", "", "", "",
           fmt::format("runs at least {}", CountText(static_cast<std::size_t>(body.least_executions), "time"))});
      if (body.graph) AddLayers(*body.graph, indent + "    ", section);
    }
  }
}

void AddCsvLayers(const ModelGraph& graph, const std::string& prefix, Section& section) {
  for (const Layer& layer : graph.layers) {
    section.rows.push_back({prefix + layer.name, layer.op, InspectStatus(layer), ConfigOf(layer), layer.reason,
                            std::to_string(layer.work.direct.value), std::to_string(layer.work.read().value),
                            std::to_string(layer.work.written.value), std::to_string(ParametersOf(graph, layer))});
    for (const SubGraph& body : layer.bodies) {
      if (body.graph) AddCsvLayers(*body.graph, prefix + layer.name + "/" + body.name + "/", section);
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
  Section section{.columns = {"rule", NameColumn("layers"), NameColumn("configuration")}};
  for (const FusableRegion& region : FindFusableRegions(graph))
    section.rows.push_back({region.rule, Join(LayerNames(graph, region.layers), " "), Format(region.workload)});
  return SectionTable(section, width);
}

std::string InspectTable(const ModelGraph& graph, std::size_t width) {
  Section section{.columns = {NameColumn("layer"), NameColumn("op"), "status", NumberColumn("work"),
                              NumberColumn("bytes"), NameColumn("configuration, or the reason for none")}};
  AddLayers(graph, "", section);
  InspectTotals totals = TotalsOf(graph);
  std::string out = SectionTable(section, width);
  out += fmt::format("\n{}: {} measurable in {}, {} free, {} unknown\n", CountText(totals.layers, "layer"),
                     totals.measurable, CountText(totals.configurations, "configuration"), totals.free, totals.unknown);
  out += fmt::format("{}, {} multiply-adds in convolutions and products; {} read, {} written\n",
                     FlopsText(totals.flops), totals.multiply_adds, BytesText(totals.read), BytesText(totals.written));
  out += fmt::format("{} parameters, {}\n", totals.parameters, BytesText(totals.parameter_bytes));
  if (totals.weights)
    out += fmt::format("stored weights, {}, by a sample: {} zeros; they need at most {} of their bits\n",
                       BytesText(totals.weights->bytes), PercentText(totals.weights->zero_share),
                       PercentText(totals.weights->information_share));
  for (const RewritePass& pass : graph.passes) {
    out += fmt::format("rewrite {}, {}: {}\n", Printable(pass.name), CountText(pass.rewrites.size(), "time"),
                       Printable(pass.description));
  }
  return out + RegionsText(graph);
}

std::string InspectCsv(const ModelGraph& graph) {
  Section section{
      .columns = {"name", "op", "status", "config", "reason", "flops", "bytes_read", "bytes_written", "parameters"}};
  AddCsvLayers(graph, "", section);
  return SectionCsv(section);
}

}  // namespace infimum
