#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "reports/bound/bound_json.h"
#include "reports/bound/bound_table.h"
#include "reports/graph_drawing/graph_layout.h"
#include "reports/inspect/inspect.h"
#include "reports/model/answers.h"
#include "reports/model/model_rows.h"
#include "reports/model/report_forms.h"
#include "reports/run/finding_writers.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/json_values.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

// The nearest number of so many significant digits.
double Rounded(double value, int digits) {
  char text[40];
  const auto written = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits - 1);
  double rounded = value;
  if (std::isfinite(value)) std::from_chars(text, written.ptr, rounded);
  return rounded;
}

}  // namespace

// There are thousands of candidates: what is not there has no key, and intervals and errors have as many digits as they
// are worth.
static void to_json(OrderedJson& json, const KnownCandidate& candidate) {
  const Measurement& row = candidate.row;
  json = {{"name", row.candidate}};
  if (row.outcome != Outcome::kMeasured) json["outcome"] = row.outcome;
  if (!row.reason.empty()) json["reason"] = row.reason;
  if (candidate.latency) json["latency_us"] = *candidate.latency;
  if (candidate.interval)
    json["interval_us"] = {Rounded(candidate.interval->low.count(), 6), Rounded(candidate.interval->high.count(), 6)};
  if (!row.repetitions.empty()) json["repetitions"] = row.repetitions.size();
  if (!row.flags.empty()) json["flags"] = row.flags;
  if (row.numeric_error) json["numeric_error"] = Rounded(*row.numeric_error, 3);
}

static void to_json(OrderedJson& json, const WorkloadCandidates& workload) {
  std::string newest;
  for (const KnownCandidate& candidate : workload.candidates) newest = std::max(newest, candidate.row.measured_at);
  json = {{"config", workload.workload},
          {"contract", workload.contract},
          {"best", workload.best},
          {"library_choice", workload.choice},
          {"regret_us", workload.regret},
          {"regret_validated", workload.regret ? OrderedJson(workload.regret_is_validated) : OrderedJson(nullptr)},
          {"measured_at", newest},
          {"candidates", workload.candidates}};
}

static void to_json(OrderedJson& json, const EmittedSource& source) {
  if (source.file_name.empty()) {
    json = {{"config", source.config}, {"file_name", nullptr}, {"reason", source.reason}};
    return;
  }
  json = {{"config", source.config},
          {"library", source.library},
          {"file_name", source.file_name},
          {"text", source.text},
          {"command", source.command}};
}

static void to_json(OrderedJson& json, const ReportRun& run) {
  json = {{"framework", run.profile.framework},
          {"version", run.profile.framework_version},
          {"latency_us", run.latency},
          {"minimum_us", run.minimum},
          {"median_us", run.median},
          {"p95_us", run.p95},
          {"interval_us", run.interval},
          {"repetitions", run.repetitions},
          {"samples", run.samples},
          {"settings", run.profile.settings}};
}

static void to_json(OrderedJson& json, const PossibleGap& gap) {
  json = {{"latency_us", gap.latency}, {"interval_us", gap.interval}};
}

static void to_json(OrderedJson& json, const AbsentCause& one) { json = {{"kind", one.kind}, {"what", one.what}}; }

static void to_json(OrderedJson& json, const Roof& roof) {
  json = {{"name", roof.name}, {"per_second", roof.per_second}};
}

static void to_json(OrderedJson& json, const Answer& answer) {
  json = {{"number", answer.number}, {"question", answer.question}, {"known", answer.is_known},
          {"text", answer.text},     {"section", answer.section},   {"command", answer.command}};
}

static void to_json(OrderedJson& json, const MissingItem& item) {
  json = {{"what", item.what},
          {"reason", item.reason},
          {"share", item.share},
          {"flops_share", item.flops},
          {"command", item.command}};
}

static void to_json(OrderedJson& json, const Advice& advice) {
  json = {{"text", advice.text}, {"command", advice.command}};
}

namespace {

OrderedJson LayerJson(const ReportModel& report, std::size_t index) {
  const Layer& layer = report.graph.layers[index];
  const std::string config = ConfigOf(layer);
  const bool here = report.bench_options.has_value() && !config.empty();
  OrderedJson json = LayerJson(layer, report.bracket.layers[index], BracketForm::kReport);
  json["flops"] = layer.work.direct;
  json["bytes"] = layer.work.read() + layer.work.written;
  json["workload"] = report.layer_workloads[index];
  json["command"] = here ? ReproductionCommand(config, *report.bench_options) : std::string();
  return json;
}

OrderedJson RegionJson(const ReportModel& report, std::size_t index) {
  OrderedJson json = RegionJson(report.graph, report.bracket.regions[index], BracketForm::kReport);
  json["workload"] = report.region_workloads[index];
  return json;
}

OrderedJson RowJson(const ReportModel& report, const ModelRow& row) {
  return {{"label", RowLabel(report, row)},
          {"layers", row.layers},
          {"main_layer", row.layers.empty() ? OrderedJson(nullptr) : OrderedJson(row.main)},
          {"engine_layers", EngineLayersOf(report, row)},
          {"family", row.family},
          {"status", row.status},
          {"candidate", row.candidate},
          {"bound_us", row.best},
          {"measured_us", row.measured},
          {"floor_us", row.floor},
          {"floor_decided_by", TextOrNull(row.floor_by)},
          {"flops", row.flops},
          {"conventional_flops", row.conventional},
          {"bytes", row.bytes}};
}

OrderedJson ModelJson(const ReportModel& report) {
  OrderedJson inputs = OrderedJson::array();
  for (const ValueId input : report.graph.inputs) {
    const Value& value = report.graph.value(input);
    inputs.push_back({{"name", value.name}, {"dtype", value.type}, {"shape", ShapeText(value)}});
  }
  return {{"name", report.model_name},
          {"sha256", report.graph.sha256},
          {"opset", report.graph.opset},
          {"inputs", std::move(inputs)}};
}

OrderedJson EnvironmentJson(const Environment& environment) {
  const Evidence& facts = environment.evidence;
  return {{"libraries", environment.libraries},
          {"threads", environment.threads},
          {"affinity", FactOf(facts, evidence::kAffinity)},
          {"clock_policy", FactOf(facts, evidence::kClocks)},
          {"host", FactOf(facts, evidence::kSystem)},
          {"infimum_version", FactOf(facts, evidence::kInfimum)}};
}

constexpr NodeSize kNode = {148, 40};
constexpr NodeSize kFreeNode = {76, 16};

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// By layer: the next one on the critical path. The path visits its layers in the graph's order.
std::vector<std::size_t> NextOnPath(const Bracket& bracket) {
  std::vector<std::size_t> next(bracket.layers.size(), kNone);
  std::size_t last = kNone;
  for (std::size_t layer = 0; layer < bracket.layers.size(); ++layer) {
    if (!bracket.layers[layer].on_critical_path) continue;
    if (last != kNone) next[last] = layer;
    last = layer;
  }
  return next;
}

std::int64_t Pixels(double value) { return std::llround(value); }

// The model as a graph, for the report's page: who reads whom, and where each layer stands in the picture.
//
// {"edges": [[from, to], ...], "path": [indices of the edges on the critical path], "nodes": [[x, y], ...],
//  "routes": [[edge, x, y, x, y], ...], "size": [width, height], "node": [width, height], "free_node": [width, height]}
OrderedJson GraphJson(const ReportModel& report, const std::vector<ModelRow>& rows) {
  const std::vector<LayerLatency>& layers = report.bracket.layers;
  std::vector<std::size_t> row_of(layers.size(), kNone);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const LayerId layer : rows[row].layers) row_of[layer.index()] = row;
  const std::vector<std::size_t> next = NextOnPath(report.bracket);
  // Constants that were folded stand beside who reads them, and pull nothing.
  std::vector<std::uint8_t> reads(layers.size(), 0);
  for (const ReportEdge& edge : report.edges)
    if (edge.to < reads.size()) reads[edge.to] = 1;

  std::vector<NodeSize> nodes;
  for (const LayerLatency& layer : layers) nodes.push_back(IsFree(layer) ? kFreeNode : kNode);
  std::vector<LayoutEdge> edges;
  OrderedJson edge_array = OrderedJson::array(), path = OrderedJson::array();
  for (const ReportEdge& edge : report.edges) {
    if (edge.from >= nodes.size() || edge.to >= nodes.size()) continue;
    LayoutEdge& added = edges.emplace_back(edge.from, edge.to);
    added.is_main = next[edge.from] == edge.to;
    const bool is_constant = IsFree(layers[edge.from]) && reads[edge.from] == 0;
    added.is_joined = !is_constant && row_of[edge.from] != kNone && row_of[edge.from] == row_of[edge.to];
    if (added.is_main) path.push_back(edge_array.size());
    edge_array.push_back({edge.from, edge.to});
  }
  const GraphLayout layout = LayOutGraph(nodes, edges);
  OrderedJson places = OrderedJson::array(), routes = OrderedJson::array();
  for (const LayoutPoint& place : layout.nodes) places.push_back({Pixels(place.x), Pixels(place.y)});
  for (std::size_t edge = 0; edge < edges.size(); ++edge) {
    if (layout.routes[edge].empty()) continue;
    OrderedJson& route = routes.emplace_back(OrderedJson::array({edge}));
    for (const LayoutPoint& point : layout.routes[edge]) {
      route.push_back(Pixels(point.x));
      route.push_back(Pixels(point.y));
    }
  }
  return {{"edges", std::move(edge_array)},
          {"path", std::move(path)},
          {"nodes", std::move(places)},
          {"routes", std::move(routes)},
          {"size", {Pixels(layout.width), Pixels(layout.height)}},
          {"node", {Pixels(kNode.width), Pixels(kNode.height)}},
          {"free_node", {Pixels(kFreeNode.width), Pixels(kFreeNode.height)}}};
}

}  // namespace

std::string ReportJson(const ReportModel& report) {
  const Bracket& bracket = report.bracket;
  const std::vector<ModelRow> rows = ModelRows(report);
  OrderedJson layers = OrderedJson::array(), regions = OrderedJson::array(), row_array = OrderedJson::array();
  for (std::size_t i = 0; i < bracket.layers.size(); ++i) layers.push_back(LayerJson(report, i));
  for (std::size_t i = 0; i < bracket.regions.size(); ++i) regions.push_back(RegionJson(report, i));
  for (const ModelRow& row : rows) row_array.push_back(RowJson(report, row));
  const OrderedJson json = {
      {"schema", "infimum.report/2"},
      {"title", report.title},
      {"headline", Headline(report)},
      {"data_as_of", TextOrNull(report.data_as_of)},
      {"infimum_version", report.infimum_version},
      {"model", ModelJson(report)},
      {"device", {{"name", report.device_name}, {"key", report.device_key}, {"generation", report.generation}}},
      {"environment", EnvironmentJson(report.environment)},
      {"selection", SelectionText(bracket.selection)},
      {"context", bracket.context},
      {"contract", bracket.contract},
      {"floors", bracket.floors},
      {"bounds", bracket.bounds},
      {"regret", bracket.regret},
      {"inversions", bracket.inversions},
      {"what_ifs", bracket.what_ifs},
      {"demonstrated_us", bracket.demonstrated},
      {"composition_error", bracket.composition},
      {"shown_loss", ShownLossJson(report.graph, bracket.shown_loss)},
      {"not_tried", bracket.not_tried},
      {"observed", ObservedJson(report.graph, bracket.observed)},
      {"run", report.run},
      {"other_runs", OtherRunsOf(report)},
      {"gap", GapOf(report)},
      {"verdict", VerdictOf(report)},
      {"coverage", bracket.coverage},
      {"promises_gains", PromisesGains(report)},
      {"layers", std::move(layers)},
      {"regions", std::move(regions)},
      {"workloads", report.workloads},
      {"rows", std::move(row_array)},
      {"graph", GraphJson(report, rows)},
      {"waterfall", report.waterfall ? OrderedJson(report.waterfall->steps) : OrderedJson::array()},
      {"findings", report.findings},
      {"looked_for", AbsentCausesOf(report)},
      {"sources", report.sources},
      {"roofs", {{"arithmetic", report.arithmetic_roofs}, {"bandwidth", report.bandwidth_roofs}}},
      {"answers", AnswersOf(report)},
      {"passes", report.graph.passes},
      {"missing", report.missing},
      {"advice", report.advice}};
  return DumpJson(json, -1);
}

}  // namespace infimum
