#include "reports/model/report_json.h"

#include "reports/model/answers.h"
#include "reports/model/graph_json.h"
#include "reports/model/looked_for.h"
#include "reports/model/model_rows.h"
#include "reports/model/summary.h"
#include "reports/model/workload_json.h"
#include "reports/run/finding_writers.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/json_values.h"

namespace infimum {
namespace {

Json LayerJson(const ReportModel& report, const ReportLayer& layer) {
  const bool here = report.bench_options.has_value() && !layer.config.empty();
  return {{"name", layer.name},
          {"op", layer.op},
          {"family", layer.family},
          {"status", Name(layer.status)},
          {"reason", layer.reason},
          {"config", layer.config},
          {"candidate", layer.candidate},
          {"latency_us", MicrosecondsOrNull(layer.latency)},
          {"interval_us", IntervalOrNull(layer.interval)},
          {"floor_us", layer.floor.count()},
          {"library_choice", layer.library_choice},
          {"regret_us", MicrosecondsOrNull(layer.regret)},
          {"on_critical_path", layer.on_critical_path},
          {"flops", layer.flops.value},
          {"bytes", layer.bytes.value},
          {"workload", layer.workload ? Json(*layer.workload) : Json(nullptr)},
          {"command", here ? ReproductionCommand(layer.config, *report.bench_options) : std::string()}};
}

Json RegionJson(const ReportRegion& region) {
  return {{"rule", region.rule},
          {"layers", region.layers},
          {"config", region.config},
          {"candidate", region.candidate},
          {"latency_us", region.latency.count()},
          {"unfused_us", region.has_missing ? Json(nullptr) : Json(region.unfused.count())},
          {"workload", region.workload ? Json(*region.workload) : Json(nullptr)},
          {"chosen", region.is_chosen}};
}

Json RowJson(const ReportModel& report, const ComparisonRow& row) {
  return {{"label", RowLabel(report, row)},
          {"layers", row.layers},
          {"main_layer", row.layers.empty() ? Json(nullptr) : Json(row.main)},
          {"engine_layers", row.engine_layers},
          {"family", row.family},
          {"status", row.layers.empty() ? std::string_view("engine only") : Name(row.status)},
          {"candidate", row.candidate},
          {"bound_us", MicrosecondsOrNull(row.bound)},
          {"measured_us", MicrosecondsOrNull(row.measured)},
          {"floor_us", row.floor.count()},
          {"flops", row.flops.value},
          {"conventional_flops", row.conventional.value},
          {"bytes", row.bytes.value}};
}

Json RunJson(const ReportRun& run) {
  return {{"framework", run.framework},
          {"version", run.version},
          {"latency_us", run.latency.count()},
          {"minimum_us", run.minimum.count()},
          {"median_us", run.median.count()},
          {"p95_us", run.p95.count()},
          {"interval_us", IntervalOrNull(run.interval)},
          {"repetitions", run.repetitions},
          {"samples", run.samples},
          {"settings", run.settings}};
}

Json ModelJson(const ReportModel& report) {
  Json inputs = Json::array();
  for (const ReportInput& input : report.inputs) {
    inputs.push_back({{"name", input.name}, {"dtype", input.dtype}, {"shape", input.shape}});
  }
  return {{"name", report.model_name},
          {"sha256", report.model_sha256},
          {"opset", report.opset},
          {"inputs", std::move(inputs)}};
}

Json EnvironmentJson(const Environment& environment) {
  const Evidence& facts = environment.evidence;
  return {{"libraries", environment.libraries},
          {"threads", environment.threads},
          {"affinity", FactOf(facts, evidence::kAffinity)},
          {"clock_policy", FactOf(facts, evidence::kClocks)},
          {"host", FactOf(facts, evidence::kSystem)},
          {"infimum_version", FactOf(facts, evidence::kInfimum)}};
}

Json RoofsJson(const std::vector<Roof>& roofs) {
  Json array = Json::array();
  for (const Roof& roof : roofs) array.push_back({{"name", roof.name}, {"per_second", roof.per_second}});
  return array;
}

}  // namespace

std::string ReportJson(const ReportModel& report) {
  std::vector<ComparisonRow> rows = ComparisonRows(report);
  Json json;
  json["schema"] = "infimum.report/1";
  json["title"] = report.title;
  json["headline"] = Headline(report);
  json["data_as_of"] = report.data_as_of.empty() ? Json(nullptr) : Json(report.data_as_of);
  json["infimum_version"] = report.infimum_version;
  json["model"] = ModelJson(report);
  json["device"] = {{"name", report.device_name}, {"key", report.device_key}, {"generation", report.generation}};
  json["environment"] = EnvironmentJson(report.environment);
  json["selection"] = report.selection;
  json["contract"] = report.contract;
  json["floor"] = FloorJson(report.floor);
  json["conventional_floor"] = FloorJson(report.conventional_floor);
  json["bounds"] = BoundsJson(report.bounds);
  json["regret"] = RegretJson(report.regret);
  json["inversions"] = InversionsJson(report.inversions);
  json["what_ifs"] = WhatIfsJson(report.what_ifs);
  json["demonstrated_us"] = MicrosecondsOrNull(report.demonstrated);
  json["composition_error"] = CompositionOrNull(report.composition);
  json["run"] = report.run ? RunJson(*report.run) : Json(nullptr);
  const std::optional<PossibleGap> gap = GapOf(report);
  json["gap"] =
      gap ? Json{{"latency_us", gap->latency.count()}, {"interval_us", IntervalOrNull(gap->interval)}} : Json(nullptr);
  json["coverage"] = CoverageJson(report.coverage);
  json["promises_gains"] = PromisesGains(report);
  Json& layers = json["layers"] = Json::array();
  for (const ReportLayer& layer : report.layers) layers.push_back(LayerJson(report, layer));
  Json& regions = json["regions"] = Json::array();
  for (const ReportRegion& region : report.regions) regions.push_back(RegionJson(region));
  json["workloads"] = WorkloadsJson(report.workloads);
  Json& row_array = json["rows"] = Json::array();
  for (const ComparisonRow& row : rows) row_array.push_back(RowJson(report, row));
  json["graph"] = GraphJson(report, rows);
  json["waterfall"] = report.waterfall ? WaterfallJson(*report.waterfall) : Json::array();
  json["findings"] = FindingsJson(report.findings);
  Json& looked_for = json["looked_for"] = Json::array();
  for (const AbsentCause& one : AbsentCausesOf(report)) looked_for.push_back({{"kind", one.kind}, {"what", one.what}});
  json["sources"] = SourcesJson(report.sources);
  json["roofs"] = {{"arithmetic", RoofsJson(report.arithmetic_roofs)},
                   {"bandwidth", RoofsJson(report.bandwidth_roofs)}};
  Json& answers = json["answers"] = Json::array();
  for (const Answer& answer : AnswersOf(report))
    answers.push_back({{"number", answer.number},
                       {"question", answer.question},
                       {"known", answer.is_known},
                       {"text", answer.text},
                       {"section", answer.section},
                       {"command", answer.command}});
  Json& passes = json["passes"] = Json::array();
  for (const RewritePass& pass : report.passes) {
    passes.push_back({{"name", pass.name}, {"description", pass.description}, {"rewrites", pass.rewrites}});
  }
  Json& missing = json["missing"] = Json::array();
  for (const MissingItem& item : report.missing) {
    missing.push_back({{"what", item.what},
                       {"reason", item.reason},
                       {"share", item.share},
                       {"flops_share", item.flops},
                       {"command", item.command}});
  }
  Json& advice = json["advice"] = Json::array();
  for (const Advice& item : report.advice) advice.push_back({{"text", item.text}, {"command", item.command}});
  return DumpJson(json, -1);
}

}  // namespace infimum
