#include "reports/run/finding_writers.h"
#include "reports/sides/comparison_report.h"
#include "reports/text/json_values.h"

namespace infimum {

static void to_json(OrderedJson& json, const Difference& difference) {
  json = {{"ratio", difference.ratio},
          {"between", {difference.between.low, difference.between.high}},
          {"spread_known", difference.is_spread_known},
          {"verdict", difference.verdict}};
}

namespace {

OrderedJson TimeJson(const ComparisonReport& report, const SideTime& time, std::size_t side,
                     const std::optional<Difference>& difference) {
  return {{"side", report.sides[side].label},
          {"latency_us", time.latency},
          {"interval_us", time.interval},
          {"against_baseline", difference}};
}

OrderedJson SidesJson(const ComparisonReport& report) {
  OrderedJson sides = OrderedJson::array();
  for (std::size_t side = 0; side < report.sides.size(); ++side) {
    const ReportSide& shown = report.sides[side];
    sides.push_back({{"label", shown.label},
                     {"device", TextOrNull(shown.device)},
                     {"generation", TextOrNull(shown.generation)},
                     {"year", shown.year},
                     {"environment", TextOrNull(shown.environment)},
                     {"contract", TextOrNull(shown.contract)},
                     {"framework", TextOrNull(shown.framework)},
                     {"against_baseline", report.comparison.means[side]},
                     {"findings", shown.findings}});
  }
  return sides;
}

OrderedJson TotalJson(const ComparisonReport& report, const SetTotal& total) {
  OrderedJson sides = OrderedJson::array();
  for (std::size_t side = 0; side < report.sides.size(); ++side)
    sides.push_back(TimeJson(report, total.times[side], side, total.differences[side]));
  return {
      {"name", total.name}, {"layers", total.layers}, {"compared_layers", total.common}, {"sides", std::move(sides)}};
}

OrderedJson ModelsJson(const ComparisonReport& report) {
  OrderedJson models = OrderedJson::array();
  for (const ModelTotal& model : report.comparison.models) {
    OrderedJson json = TotalJson(report, model);
    for (std::size_t side = 0; side < report.sides.size(); ++side) {
      OrderedJson& entry = json["sides"][side];
      entry["compared_share"] = model.shares[side];
      entry["unknown_layers"] = model.unknown[side];
      entry["own_sequential_us"] = model.sequential[side];
      entry["own_fused_us"] = model.fused[side];
    }
    models.push_back(std::move(json));
  }
  return models;
}

OrderedJson LayersJson(const ComparisonReport& report) {
  OrderedJson layers = OrderedJson::array();
  for (const SetLayer& layer : report.comparison.layers) {
    OrderedJson uses = OrderedJson::array(), sides = OrderedJson::array();
    for (const SetLayer::Use& use : layer.uses)
      uses.push_back({{"model", report.comparison.models[use.model].name}, {"layer", use.name}});
    for (std::size_t side = 0; side < report.sides.size(); ++side) {
      const SideTime& time = layer.times[side];
      OrderedJson entry = TimeJson(report, time, side, layer.differences[side]);
      entry["roofline_us"] = time.floor;
      entry["candidate"] = TextOrNull(time.candidate);
      entry["status"] = !time.latency ? "missing" : time.is_estimated ? "estimated" : "known";
      entry["reason"] = TextOrNull(time.reason);
      const bool gains = layer.differences[side] && layer.differences[side]->verdict == Verdict::kFaster;
      if (report.axis == ComparisonAxis::kContract && layer.differences[side] && !gains)
        entry["why_no_gain"] = TextOrNull(ReasonOfNoGain(time, layer.times.front(), *layer.differences[side]));
      sides.push_back(std::move(entry));
    }
    layers.push_back({{"class", layer.family},
                      {"config", TextOrNull(layer.config)},
                      {"compared", layer.is_common},
                      {"uses", std::move(uses)},
                      {"sides", std::move(sides)}});
  }
  return layers;
}

OrderedJson DifferencesJson(const ComparisonReport& report, const std::vector<LayerDifference>& list) {
  OrderedJson json = OrderedJson::array();
  for (const LayerDifference& entry : list) {
    const SetLayer& layer = report.comparison.layers[entry.layer];
    json.push_back({{"side", report.sides[entry.side].label},
                    {"layer", layer.uses.front().name},
                    {"index", entry.layer},
                    {"class", layer.family},
                    {"config", TextOrNull(layer.config)},
                    {"uses", layer.uses.size()},
                    {"cost_us", entry.cost},
                    {"share", entry.share},
                    {"before_us", layer.times.front().latency},
                    {"after_us", layer.times[entry.side].latency},
                    {"against_baseline", layer.differences[entry.side]}});
  }
  return json;
}

OrderedJson RankChangesJson(const ComparisonReport& report) {
  OrderedJson json = OrderedJson::array();
  for (const RankChange& change : report.comparison.rank_changes)
    json.push_back({{"faster", report.sides[change.faster].label},
                    {"slower", report.sides[change.slower].label},
                    {"overall_ratio", change.overall},
                    {"of", change.is_model ? "model" : "class"},
                    {"name", change.name},
                    {"whole", change.is_whole},
                    {"difference", change.here},
                    {"layers", change.layers},
                    {"lost_us", change.lost},
                    {"cause", TextOrNull(change.cause)}});
  return json;
}

OrderedJson NodesJson(const ComparisonReport& report) {
  if (!report.nodes) return nullptr;
  OrderedJson nodes = OrderedJson::array();
  for (const NodeRow& row : report.nodes->rows) {
    OrderedJson cells = OrderedJson::array();
    for (std::size_t run = 0; run < row.cells.size(); ++run) {
      const NodeCell& cell = row.cells[run];
      cells.push_back({{"side", report.sides[run].label},
                       {"measured_us", cell.measured},
                       {"within", TextOrNull(cell.within)},
                       {"engine_layers", cell.engine_layers}});
    }
    nodes.push_back({{"name", row.name}, {"op", row.op}, {"sides", std::move(cells)}});
  }
  return nodes;
}

OrderedJson GapsJson(const ComparisonReport& report) {
  OrderedJson json = OrderedJson::array();
  for (const SideGap& gap : report.gaps)
    json.push_back({{"side", report.sides[gap.side].label},
                    {"model", gap.model},
                    {"layers", gap.layers},
                    {"examples", gap.examples},
                    {"reason", TextOrNull(gap.reason)},
                    {"command", TextOrNull(gap.command)}});
  return json;
}

}  // namespace

std::string ComparisonJson(const ComparisonReport& report) {
  OrderedJson families = OrderedJson::array(), order = OrderedJson::array();
  for (const SetTotal& family : report.comparison.families) families.push_back(TotalJson(report, family));
  for (const std::size_t side : report.comparison.order) order.push_back(report.sides[side].label);
  const OrderedJson document = {{"schema", "infimum.comparison/1"},
                                {"infimum_version", report.infimum_version},
                                {"data_as_of", TextOrNull(report.data_as_of)},
                                {"headline", ComparisonHeadline(report)},
                                {"axis", report.axis},
                                {"quantity", report.quantity},
                                {"threshold", report.comparison.threshold},
                                {"baseline", report.sides.front().label},
                                {"order", std::move(order)},
                                {"sides", SidesJson(report)},
                                {"models", ModelsJson(report)},
                                {"regressions", DifferencesJson(report, report.comparison.regressions)},
                                {"gains", DifferencesJson(report, report.comparison.gains)},
                                {"rank_changes", RankChangesJson(report)},
                                {"classes", std::move(families)},
                                {"layers", LayersJson(report)},
                                {"nodes", NodesJson(report)},
                                {"gaps", GapsJson(report)},
                                {"conditions", report.conditions},
                                {"cautions", report.cautions},
                                {"remarks", report.remarks}};
  return DumpJson(document, 1) + '\n';
}

}  // namespace infimum
