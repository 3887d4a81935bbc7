#include "reports/bound/bound_json.h"

#include "analyzer/bracket/verdict.h"
#include "infimum/base/check.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"

namespace infimum {

static void to_json(OrderedJson& json, const LibraryChoice& choice) {
  json = {{"candidate", choice.candidate},
          {"latency_us", choice.latency},
          {"regret_us", choice.regret},
          {"validated", choice.is_validated}};
}

static void to_json(OrderedJson& json, const Selection& selection) {
  json = {{"device", selection.device},     {"environment", selection.environment}, {"threads", selection.threads},
          {"cache", Name(selection.cache)}, {"statistic", kPointStatistic},         {"contract", selection.contract}};
}

void to_json(OrderedJson& json, const ModelContext& context) {
  json = {{"working_set_bytes", context.working_set},
          {"weight_bytes", context.constants},
          {"near_share", context.near_share()},
          {"cold_share", context.cold_share()}};
}

static void to_json(OrderedJson& json, const Pace& pace) {
  json = nullptr;
  if (pace.holds()) json = {{"arithmetic", pace.arithmetic()}, {"memory", pace.memory()}, {"most", pace.most()}};
}

static void to_json(OrderedJson& json, const SeveralHosts& hosts) {
  json = {{"count", hosts.count}, {"clocks_differ", hosts.clocks_differ()}, {"remark", HostsText(hosts)}};
}

static void to_json(OrderedJson& json, const MeasureNext& next) {
  json = {{"workload", next.workload}, {"device", next.device}, {"factor", next.factor}};
}

static void to_json(OrderedJson& json, const Estimate& estimate) {
  json = {{"variant", "sequential"},
          {"latency_us", estimate.latency},
          {"interval_us", estimate.interval},
          {"level", estimate.interval ? OrderedJson(estimate.level) : OrderedJson(nullptr)},
          {"devices", estimate.devices},
          {"models", estimate.models},
          {"measured", estimate.measured},
          {"transferred", estimate.transferred},
          {"neighbours", estimate.neighbours},
          {"missing", estimate.missing},
          {"measure_next", estimate.next}};
}

void to_json(OrderedJson& json, const UpperLimit& limit) {
  json = {{"name", limit.name},
          {"latency_us", limit.latency},
          {"interval_us", limit.interval},
          {"held_to_metronome", limit.is_held}};
}

namespace {

OrderedJson LayoutsJson(const ModelGraph& graph, const std::optional<LayoutPlan>& plan) {
  if (!plan) return nullptr;
  OrderedJson units = OrderedJson::array(), transforms = OrderedJson::array();
  for (const PlannedNode& unit : plan->nodes)
    units.push_back(
        {{"layers", LayerNames(graph, unit.layers)},
         {"candidate", unit.candidate.algorithm.empty() ? OrderedJson(nullptr) : OrderedJson(unit.candidate)},
         {"input_layout", unit.candidate.input_layout},
         {"output_layout", unit.candidate.output_layout},
         {"latency_us", unit.latency}});
  for (const PlannedReorder& reorder : plan->reorders)
    transforms.push_back({{"value", graph.value(reorder.value).name},
                          {"from", reorder.from},
                          {"to", reorder.to},
                          {"configs", reorder.workloads},
                          {"latency_us", reorder.latency},
                          {"measured", reorder.is_measured}});
  return {{"latency_us", plan->latency},
          {"transforming_us", plan->reordering},
          {"exact", plan->is_exact},
          {"units", std::move(units)},
          {"transforms", std::move(transforms)}};
}

}  // namespace

void to_json(OrderedJson& json, const Bound& bound) {
  json = {{"variant", bound.variant},
          {"latency_us", bound.latency},
          {"interval_us", bound.interval},
          {"assumptions", bound.assumptions}};
}

void to_json(OrderedJson& json, const Floor& floor) {
  json = {{"class", Name(floor.program_class)},
          {"latency_us", floor.latency},
          {"decided_by", TextOrNull(floor.decided_by)},
          {"assumptions", floor.assumptions}};
}

void to_json(OrderedJson& json, const Coverage& coverage) {
  json = {{"measured", coverage.measured},
          {"estimated", coverage.estimated},
          {"free", coverage.free},
          {"missing", coverage.missing},
          {"missing_flops", coverage.missing_flops}};
}

void to_json(OrderedJson& json, const AlgorithmRegret& regret) {
  json = {{"sum_us", regret.sum}, {"layers", regret.layers}, {"validated", regret.is_validated}};
}

void to_json(OrderedJson& json, const Inversion& inversion) {
  json = {{"variant", inversion.bound},
          {"below", inversion.name},
          {"excess_us", inversion.excess},
          {"beyond_noise", inversion.is_beyond_noise}};
}

void to_json(OrderedJson& json, const NotTried& kind) { json = {{"what", kind.what}, {"places", kind.places}}; }

void to_json(OrderedJson& json, const WhatIfBound& bound) {
  json = {{"variant", bound.variant},
          {"latency_us", bound.latency},
          {"interval_us", bound.interval},
          {"gain_us", bound.gain}};
}

static void to_json(OrderedJson& json, const WhatIfFloor& floor) {
  json = {{"floor", floor.name}, {"latency_us", floor.latency}, {"gain_us", floor.gain}};
}

void to_json(OrderedJson& json, const WhatIfOutcome& outcome) {
  json = {{"what_if", outcome.name},
          {"layers", outcome.layers},
          {"inferences", outcome.inferences},
          {"coverage", outcome.coverage},
          {"bounds", outcome.bounds}};
  if (!outcome.floors.empty()) json["floors"] = outcome.floors;
}

void to_json(OrderedJson& json, const CompositionError& error) {
  json = {{"value", error.value()},
          {"resident_share", error.resident_share},
          {"warm", error.warm},
          {"cold-weights", error.cold_weights}};
}

OrderedJson ShownLossJson(const ModelGraph& graph, const std::optional<ShownLoss>& loss) {
  if (!loss) return nullptr;
  OrderedJson most = OrderedJson::array();
  for (const ShownLoss::Part& part : loss->most)
    most.push_back({{"layers", LayerNames(graph, part.layers)}, {"shown_us", part.shown}, {"known_us", part.known}});
  return {{"weights_us", loss->weights},
          {"reorders_us", loss->reorders},
          {"others_us", loss->others},
          {"most", std::move(most)}};
}

OrderedJson ObservedJson(const ModelGraph& graph, const std::vector<ObservedNode>& nodes) {
  OrderedJson json = OrderedJson::array();
  for (const ObservedNode& node : nodes)
    json.push_back({{"layers", LayerNames(graph, node.layers)},
                    {"candidate", node.candidate.name()},
                    {"latency_us", node.latency},
                    {"known_us", node.known}});
  return json;
}

OrderedJson LayerJson(const Layer& layer, const LayerLatency& row, BracketForm form) {
  const bool is_report = form == BracketForm::kReport;
  const std::string config = ConfigOf(layer), reason = is_report ? ShownReasonOf(layer, row) : ReasonOf(layer, row);
  OrderedJson json = {{"name", layer.name}, {"op", layer.op}};
  const auto add_state = [&] {
    json["status"] = is_report ? StatusOf(layer, row) : Name(row.status);
    json["reason"] = is_report ? OrderedJson(reason) : TextOrNull(reason);
  };
  if (is_report) {
    json["family"] = FamilyOf(layer);
    add_state();
  }
  json["config"] = is_report ? OrderedJson(config) : TextOrNull(config);
  json["candidate"] = is_report ? OrderedJson(CandidateOf(row)) : OrderedJson(row.candidate);
  json["latency_us"] = row.latency;
  json["interval_us"] = row.interval;
  json["floor_us"] = row.floor;
  if (is_report) {
    json["library_choice"] = row.choice ? row.choice->candidate.name() : "";
    json["regret_us"] = row.choice ? OrderedJson(row.choice->regret) : OrderedJson(nullptr);
  } else {
    add_state();
    json["library_choice"] = row.choice;
    json["parallel_gain_if_free_us"] = row.parallel_gain_if_free;
    json["parallel_gain_at_floor_us"] = row.parallel_gain_at_floor;
  }
  json["on_critical_path"] = row.on_critical_path;
  return json;
}

OrderedJson RegionJson(const ModelGraph& graph, const RegionLatency& region, BracketForm form) {
  const bool is_report = form == BracketForm::kReport;
  const std::string config = ConfigOf(region);
  OrderedJson json = {{"rule", region.rule}};
  json["layers"] = is_report ? OrderedJson(region.layers) : OrderedJson(LayerNames(graph, region.layers));
  json["config"] = is_report ? OrderedJson(config) : TextOrNull(config);
  json["candidate"] = region.candidate;
  json["latency_us"] = region.latency;
  if (!is_report) json["interval_us"] = region.interval;
  json["unfused_us"] = region.has_missing ? OrderedJson(nullptr) : OrderedJson(region.unfused);
  if (is_report) json["workload"] = nullptr;
  json["chosen"] = region.is_chosen;
  return json;
}

std::string BoundJson(const ModelGraph& graph, const Bracket& bracket) {
  INFIMUM_CHECK(graph.layers.size() == bracket.layers.size(), "a bracket with other layers than its graph");
  OrderedJson layers = OrderedJson::array(), regions = OrderedJson::array();
  for (const LayerLatency& row : bracket.layers)
    layers.push_back(LayerJson(graph.layer(row.layer), row, BracketForm::kBound));
  for (const RegionLatency& region : bracket.regions) regions.push_back(RegionJson(graph, region, BracketForm::kBound));
  const Bound* known = bracket.BestKnown();
  const OrderedJson json = {{"schema", "infimum.bound/2"},
                            {"model", {{"name", graph.name}, {"sha256", graph.sha256}}},
                            {"device", bracket.selection.device},
                            {"selection", bracket.selection},
                            {"context", bracket.context},
                            {"pace", bracket.pace},
                            {"environments", bracket.environments},
                            {"hosts", bracket.hosts},
                            {"contract", bracket.contract},
                            {"floors", bracket.floors},
                            {"floor_us", bracket.dense_read().latency},
                            {"conventional_floor_us", bracket.textbook().latency},
                            {"roofline_us", bracket.roofline},
                            {"best_known_us", known != nullptr ? OrderedJson(known->latency) : OrderedJson(nullptr)},
                            {"interval_us", known != nullptr ? OrderedJson(known->interval) : OrderedJson(nullptr)},
                            {"shown_us", bracket.demonstrated},
                            {"verdict", VerdictOn(bracket)},
                            {"bounds", bracket.bounds},
                            {"layouts", LayoutsJson(graph, bracket.layouts)},
                            {"regret", bracket.regret},
                            {"upper", bracket.upper},
                            {"inversions", bracket.inversions},
                            {"what_ifs", bracket.what_ifs},
                            {"estimate", bracket.estimate},
                            {"demonstrated_us", bracket.demonstrated},
                            {"composition_error", bracket.composition},
                            {"shown_loss", ShownLossJson(graph, bracket.shown_loss)},
                            {"not_tried", bracket.not_tried},
                            {"observed", ObservedJson(graph, bracket.observed)},
                            {"coverage", bracket.coverage},
                            {"layers", std::move(layers)},
                            {"regions", std::move(regions)}};
  return DumpJson(json, 2) + "\n";
}

}  // namespace infimum
