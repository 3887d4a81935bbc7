#include "reports/model/model_rows.h"

#include <algorithm>
#include <utility>

#include "analyzer/gap/run_vs_best.h"
#include "infimum/base/text.h"

namespace infimum {
namespace {

// The more a status says about what is not known, the higher.
int Weakness(RowStatus status) {
  switch (status) {
    case RowStatus::kFree:
      return 0;
    case RowStatus::kMeasured:
      return 1;
    case RowStatus::kEstimated:
      return 2;
    case RowStatus::kMissing:
      return 3;
    case RowStatus::kUnknown:
      return 4;
  }
  return 4;
}

CheapestCovers WaysOf(const ReportModel& report) {
  std::vector<std::optional<Latency>> times;
  for (const ReportLayer& layer : report.layers)
    times.push_back(layer.status == RowStatus::kFree && !layer.latency ? Latency(0) : layer.latency);
  std::vector<FusionCandidate> regions;
  for (const ReportRegion& region : report.regions) regions.push_back({region.layers, region.latency});
  return CheapestCovers(std::move(times), std::move(regions));
}

// Of the regions and of the layers that run alone, each once.
std::string CandidatesOf(const ReportModel& report, const std::vector<std::size_t>& layers, const CheapestCover& way) {
  std::vector<std::string> names;
  std::vector<std::size_t> inside;
  const auto add = [&names](const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const std::size_t region : way.regions) {
    add(report.regions[region].candidate);
    inside.insert(inside.end(), report.regions[region].layers.begin(), report.regions[region].layers.end());
  }
  for (const std::size_t layer : layers)
    if (std::ranges::find(inside, layer) == inside.end()) add(report.layers[layer].candidate);
  return Join(names, " + ");
}

ComparisonRow RowOf(const ReportModel& report, const CheapestCovers& ways, std::vector<std::size_t> layers) {
  ComparisonRow row;
  row.layers = std::move(layers);
  if (const std::optional<CheapestCover> way = ways.Of(row.layers)) {
    row.bound = way->latency;
    row.candidate = CandidatesOf(report, row.layers, *way);
  }
  const ReportLayer* main = nullptr;
  for (std::size_t index : row.layers) {
    const ReportLayer& layer = report.layers[index];
    if (Weakness(layer.status) > Weakness(row.status)) row.status = layer.status;
    // In one piece what layers hand to each other need not be moved: of them only the longest is sure.
    row.floor = std::max(row.floor, layer.floor);
    row.flops += layer.flops;
    row.conventional += layer.conventional;
    row.bytes += layer.bytes;
    bool leads = main == nullptr || (main->status == RowStatus::kFree && layer.status != RowStatus::kFree) ||
                 (layer.status != RowStatus::kFree && layer.flops > main->flops);
    if (!leads) continue;
    main = &layer;
    row.main = index;
    row.family = layer.family;
  }
  if (row.bound && row.status == RowStatus::kMissing) row.status = RowStatus::kMeasured;  // as a region
  return row;
}

}  // namespace

std::size_t ComparisonRow::busy(const ReportModel& report) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      layers, [&](std::size_t layer) { return report.layers[layer].status != RowStatus::kFree; }));
}

std::vector<ComparisonRow> ComparisonRows(const ReportModel& report) {
  const CheapestCovers ways = WaysOf(report);
  std::vector<ComparisonRow> rows;
  std::vector<ComparisonRow> engine_only;
  std::vector<bool> taken(report.layers.size(), false);
  if (report.run) {
    for (const EngineRow& engine : report.run->rows) {
      std::vector<std::size_t> layers;  // ascending, as the engine row's
      for (std::size_t index : engine.layers) {
        if (index >= taken.size() || taken[index]) continue;  // a layer counts once, whatever the profile says
        taken[index] = true;
        layers.push_back(index);
      }
      ComparisonRow row = RowOf(report, ways, std::move(layers));
      row.engine_layers = engine.engine_layers;
      row.measured = engine.latency;
      if (row.layers.empty()) {
        row.bound.reset();
        row.candidate.clear();
        row.family = "engine only";
        engine_only.push_back(std::move(row));
      } else {
        rows.push_back(std::move(row));
      }
    }
  }
  for (const ReportRegion& region : report.regions) {
    const auto is_free = [&](std::size_t layer) { return layer < taken.size() && !taken[layer]; };
    if (!region.is_chosen || region.layers.empty() || !std::ranges::all_of(region.layers, is_free)) continue;
    for (std::size_t layer : region.layers) taken[layer] = true;
    rows.push_back(RowOf(report, ways, region.layers));
  }
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    if (!taken[i]) rows.push_back(RowOf(report, ways, {i}));
  }
  std::sort(rows.begin(), rows.end(),
            [](const ComparisonRow& a, const ComparisonRow& b) { return a.layers.front() < b.layers.front(); });
  for (ComparisonRow& row : engine_only) rows.push_back(std::move(row));
  return rows;
}

std::vector<std::size_t> LargestRows(const std::vector<ComparisonRow>& rows, std::size_t count) {
  bool compared = std::any_of(rows.begin(), rows.end(), [](const ComparisonRow& row) { return row.gap().has_value(); });
  auto weight = [&](const ComparisonRow& row) { return (compared ? row.gap() : row.bound).value_or(Latency(0)); };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (weight(rows[i]) > Latency(0)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weight(rows[a]) > weight(rows[b]); });
  if (order.size() > count) order.resize(count);
  return order;
}

std::string RowLabel(const ReportModel& report, const ComparisonRow& row) {
  if (row.layers.empty()) return Join(row.engine_layers, " + ");
  std::string label = report.layers[row.main].name;
  const std::size_t others = row.busy(report) - std::min<std::size_t>(row.busy(report), 1);
  if (others > 0) label += " (+" + std::to_string(others) + ")";
  return label;
}

}  // namespace infimum
