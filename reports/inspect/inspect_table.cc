#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/floor/in_place.h"
#include "infimum/base/text.h"
#include "infimum/base/utf8.h"
#include "infimum/graph/fusable_regions.h"
#include "reports/inspect/inspect.h"
#include "reports/inspect/inspect_totals.h"
#include "reports/text/csv.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"
#include "reports/text/section.h"
#include "src/core/graph/run_time_quantities.h"

namespace infimum {
namespace {

void AddLayer(const Layer& layer, const std::string& indent, Section& section) {
  section.rows.push_back({indent + layer.name, layer.op, InspectStatus(layer),
                          layer.work.direct.value > 0 ? FlopsText(layer.work.direct) : "",
                          BytesText(layer.work.read() + layer.work.written),
                          layer.workload ? Format(*layer.workload) : layer.reason});
}

void AddLayers(const ModelGraph& graph, const std::string& indent, bool with_free, Section& section) {
  for (const Layer& layer : graph.layers) {
    if (layer.status == LayerStatus::kFree && layer.bodies.empty() && !with_free) continue;
    AddLayer(layer, indent, section);
    for (const SubGraph& body : layer.bodies) {
      section.rows.push_back(
          {indent + "  " + body.name, "", "", "", "",
           fmt::format("runs at least {}", CountText(static_cast<std::size_t>(body.least_executions), "time"))});
      if (body.graph) AddLayers(*body.graph, indent + "    ", with_free, section);
    }
  }
}

struct FamilySum {
  std::string name;
  std::size_t layers = 0;
  Flops flops;
  Bytes bytes, weights;
};

void AddToFamilies(const ModelGraph& graph, std::vector<FamilySum>& families) {
  for (const Layer& layer : graph.layers) {
    for (const SubGraph& body : layer.bodies)
      if (body.graph) AddToFamilies(*body.graph, families);
    if (!layer.bodies.empty()) continue;
    const std::string name(layer.workload                       ? FamilyOf(*layer.workload)
                           : layer.status == LayerStatus::kFree ? "free"
                                                                : "unknown");
    auto found = std::ranges::find(families, name, &FamilySum::name);
    if (found == families.end())
      found = families.insert(found, {.name = name, .layers = 0, .flops = {}, .bytes = {}, .weights = {}});
    ++found->layers;
    found->flops += layer.work.direct;
    found->bytes += layer.work.read() + layer.work.written;
    if (layer.status != LayerStatus::kFree) found->weights += layer.parameters;
  }
}

Section FamilySection(const ModelGraph& graph) {
  std::vector<FamilySum> families;
  AddToFamilies(graph, families);
  std::ranges::stable_sort(families, std::ranges::greater(), [](const FamilySum& sum) { return sum.bytes.value; });
  Section section{.columns = {NameColumn("family"), NumberColumn("layers"), NumberColumn("work"), NumberColumn("bytes"),
                              NumberColumn("weights")}};
  for (const FamilySum& sum : families)
    section.rows.push_back({sum.name, std::to_string(sum.layers), sum.flops.value > 0 ? FlopsText(sum.flops) : "",
                            BytesText(sum.bytes), sum.weights.value > 0 ? BytesText(sum.weights) : ""});
  return section;
}

Section LayerSection(const ModelGraph& graph, const InspectView& view) {
  Section section{.columns = {NameColumn("layer"), NameColumn("op"), "status", NumberColumn("work"),
                              NumberColumn("bytes"), NameColumn("configuration, or the reason for none")}};
  if (view.largest == 0) {
    AddLayers(graph, "", view.with_free, section);
    return section;
  }
  std::vector<const Layer*> layers;
  VisitLayers(graph, [&](const Layer& layer, std::int64_t) {
    if (layer.bodies.empty() && (view.with_free || layer.status != LayerStatus::kFree)) layers.push_back(&layer);
  });
  std::ranges::stable_sort(layers, std::ranges::greater(),
                           [](const Layer* layer) { return layer->work.read().value + layer->work.written.value; });
  layers.resize(std::min(layers.size(), view.largest));
  for (const Layer* const layer : layers) AddLayer(*layer, "", section);
  return section;
}

// Some layers: how many, and the first's name.
struct CountedLayers {
  std::size_t count = 0;
  std::string first;

  void Add(const Layer& layer) {
    if (count++ == 0) first = layer.name;
  }
  std::string Names() const { return fmt::format("({}{})", Printable(first), count > 1 ? ", ..." : ""); }
};

// Unknown layers of one reason, and those behind them that are unknown for it: the shapes of their inputs are.
struct UnknownCause {
  CountedLayers layers, behind;
};

// `cause_of`: by the name of a value without a shape the reason of the layer that is to blame.
void FindCauses(const ModelGraph& graph, std::map<std::string, std::string> cause_of,
                std::map<std::string, UnknownCause>& causes) {
  for (const Layer& layer : graph.layers) {
    const std::string* cause = nullptr;
    for (const std::optional<ValueId>& input : layer.inputs) {
      if (!input || graph.value(*input).shape) continue;
      const auto found = cause_of.find(graph.value(*input).name);
      if (cause == nullptr && found != cause_of.end()) cause = &found->second;
    }
    const bool is_unknown = layer.status == LayerStatus::kUnknown;
    if (is_unknown && cause != nullptr) causes[*cause].behind.Add(layer);
    if (is_unknown && cause == nullptr) {
      causes[layer.reason].layers.Add(layer);
      cause = &layer.reason;
    }
    for (const SubGraph& body : layer.bodies)
      if (body.graph) FindCauses(*body.graph, cause_of, causes);
    if (cause == nullptr) continue;
    for (const std::optional<ValueId>& output : layer.outputs)
      if (output && !graph.value(*output).shape) cause_of.emplace(graph.value(*output).name, *cause);
  }
}

// Reasons of unknown layers, each once.
std::string UnknownText(const ModelGraph& graph) {
  std::map<std::string, UnknownCause> causes;
  FindCauses(graph, {}, causes);
  std::string out;
  for (const auto& [reason, cause] : causes) {
    out += fmt::format("unknown, {} {}", CountText(cause.layers.count, "layer"), cause.layers.Names());
    if (cause.behind.count > 0)
      out += fmt::format(" and {} behind {}", CountText(cause.behind.count, "layer"),
                         cause.layers.count > 1 ? "them " : "it ") +
             cause.behind.Names();
    out += fmt::format(": {}\n", Printable(reason));
  }
  return out;
}

// What the model returns of its inputs with something added: without that.
std::string CachesText(const ModelGraph& graph) {
  const InPlaceUpdates updates(graph);
  double bytes = 0;
  std::size_t caches = 0;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::optional<InPlaceUpdates::Update>& update = updates.of_outputs()[i];
    const Value& value = graph.value(graph.outputs[i]);
    if (!update || update->is_computed || !value.shape) continue;
    const double kept = static_cast<double>(SizeOf(value.type, ElementCount(*value.shape)).value) - update->written;
    if (kept <= 0) continue;
    bytes += kept;
    ++caches;
  }
  if (caches == 0) return "";
  return fmt::format("caches: {} in {}, updated in place\n", BytesText(Bytes{static_cast<std::int64_t>(bytes)}),
                     CountText(caches, "output"));
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

std::string InspectTable(const ModelGraph& graph, std::size_t width, const InspectView& view) {
  InspectTotals totals = TotalsOf(graph);
  std::string out = SectionTable(view.by_family ? FamilySection(graph) : LayerSection(graph, view), width);
  out += fmt::format("\n{}: {} measurable in {}, {} free, {} unknown\n", CountText(totals.layers, "layer"),
                     totals.measurable, CountText(totals.configurations, "configuration"), totals.free, totals.unknown);
  out += fmt::format("{}, {} multiply-adds in convolutions and products; {} read, {} written\n",
                     FlopsText(totals.flops), totals.multiply_adds, BytesText(totals.read), BytesText(totals.written));
  if (totals.open_loops > 0)
    out += fmt::format("of {} that need not run one iteration each is counted\n", CountText(totals.open_loops, "loop"));
  out += fmt::format("{} parameters, {}\n", totals.parameters, BytesText(totals.parameter_bytes));
  if (totals.weights)
    out += fmt::format("stored weights, {}, by a sample: {} zeros; they need at most {} of their bits\n",
                       BytesText(totals.weights->bytes), PercentText(totals.weights->zero_share),
                       PercentText(totals.weights->information_share));
  if (totals.sparse_products > 0)
    out += fmt::format("2:4 sparse: the weights of {}; floors count neither their zeros nor products with them\n",
                       CountText(totals.sparse_products, "product"));
  out += CachesText(graph) + QuantitiesText(graph) + UnknownText(graph);
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
