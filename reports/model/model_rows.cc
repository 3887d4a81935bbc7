#include "reports/model/model_rows.h"

#include <algorithm>
#include <utility>

#include "analyzer/gap/run_vs_best.h"
#include "infimum/base/text.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

// The more a layer's status says about what is not known, the higher.
int Weakness(const Layer& layer, const LayerLatency& latency) {
  if (layer.status == LayerStatus::kUnknown) return 4;
  switch (latency.status) {
    case LatencyStatus::kFree:
      return 0;
    case LatencyStatus::kMeasured:
      return 1;
    case LatencyStatus::kEstimated:
      return 2;
    case LatencyStatus::kMissing:
      return 3;
  }
  return 4;
}

std::vector<std::size_t> Indices(const std::vector<LayerId>& layers) {
  std::vector<std::size_t> indices;
  for (const LayerId layer : layers) indices.push_back(layer.index());
  return indices;
}

CheapestCovers WaysOf(const Bracket& bracket) {
  std::vector<std::optional<Latency>> times;
  for (const LayerLatency& layer : bracket.layers)
    times.push_back(IsFree(layer) && !layer.latency ? Latency(0) : layer.latency);
  std::vector<FusionCandidate> regions;
  for (const RegionLatency& region : bracket.regions) regions.push_back({Indices(region.layers), region.latency});
  return CheapestCovers(std::move(times), std::move(regions));
}

// Of the regions and of the layers that run alone, each once.
std::string CandidatesOf(const Bracket& bracket, const std::vector<LayerId>& layers, const CheapestCover& way) {
  std::vector<std::string> names;
  std::vector<LayerId> inside;
  const auto add = [&names](const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const std::size_t index : way.regions) {
    const RegionLatency& region = bracket.regions[index];
    add(region.candidate.name());
    inside.insert(inside.end(), region.layers.begin(), region.layers.end());
  }
  for (const LayerId layer : layers)
    if (std::ranges::find(inside, layer) == inside.end()) add(CandidateOf(bracket.layers[layer.index()]));
  return Join(names, " + ");
}

ModelRow RowOf(const ReportModel& report, const CheapestCovers& ways, std::vector<LayerId> layers) {
  ModelRow row;
  row.layers = std::move(layers);
  if (row.layers.empty()) {
    row.family = kEngineOnlyName;
    return row;
  }
  if (const std::optional<CheapestCover> way = ways.Of(Indices(row.layers))) {
    row.best = way->latency;
    row.candidate = CandidatesOf(report.bracket, row.layers, *way);
  }
  const Layer* main = nullptr;
  bool main_is_free = true;
  int weakness = -1;
  for (const LayerId id : row.layers) {
    const Layer& layer = report.graph.layer(id);
    const LayerLatency& latency = report.bracket.layers[id.index()];
    if (Weakness(layer, latency) > weakness) {
      weakness = Weakness(layer, latency);
      row.status = StatusOf(layer, latency);
    }
    // In one piece what layers hand to each other need not be moved: of them only the longest is sure.
    if (latency.floor > row.floor) row.floor_by = latency.floor_by;
    row.floor = std::max(row.floor, latency.floor);
    row.flops += layer.work.direct;
    row.conventional += layer.work.conventional;
    row.bytes += layer.work.read() + layer.work.written;
    const bool is_free = IsFree(latency);
    if (!is_free) ++row.busy;
    const bool leads = main == nullptr || (!is_free && (main_is_free || layer.work.direct > main->work.direct));
    if (!leads) continue;
    main = &layer;
    main_is_free = is_free;
    row.main = id;
    row.family = FamilyOf(layer);
  }
  if (row.best && row.status == Name(LatencyStatus::kMissing))
    row.status = Name(LatencyStatus::kMeasured);  // as a region
  return row;
}

}  // namespace

std::vector<std::string> EngineLayersOf(const ReportModel& report, const ModelRow& row) {
  std::vector<std::string> names;
  for (const std::size_t layer : row.engine_layers) names.push_back(report.run->profile.layers[layer].name);
  return names;
}

std::vector<ModelRow> ModelRows(const ReportModel& report) {
  const CheapestCovers ways = WaysOf(report.bracket);
  std::vector<ModelRow> rows;
  std::vector<ModelRow> engine_only;
  std::vector<bool> taken(report.graph.layers.size(), false);
  if (report.run) {
    for (const AlignedRow& aligned : report.run->rows) {
      std::vector<LayerId> layers;  // ascending, as the engine row's
      for (const LayerId layer : aligned.layers) {
        if (layer.index() >= taken.size() || taken[layer.index()]) continue;  // counts once, whatever the profile says
        taken[layer.index()] = true;
        layers.push_back(layer);
      }
      ModelRow row = RowOf(report, ways, std::move(layers));
      row.engine_layers = aligned.engine_layers;
      row.measured = aligned.measured;
      (row.layers.empty() ? engine_only : rows).push_back(std::move(row));
    }
  }
  for (const RegionLatency& region : report.bracket.regions) {
    const auto is_open = [&](LayerId layer) { return layer.index() < taken.size() && !taken[layer.index()]; };
    if (!region.is_chosen || region.layers.empty() || !std::ranges::all_of(region.layers, is_open)) continue;
    for (const LayerId layer : region.layers) taken[layer.index()] = true;
    rows.push_back(RowOf(report, ways, region.layers));
  }
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (!taken[i]) rows.push_back(RowOf(report, ways, {LayerId(i)}));
  std::ranges::sort(rows, {}, [](const ModelRow& row) { return row.layers.front(); });
  for (ModelRow& row : engine_only) rows.push_back(std::move(row));
  return rows;
}

std::vector<std::size_t> LargestRows(const std::vector<ModelRow>& rows, std::size_t count) {
  bool compared = std::ranges::any_of(rows, [](const ModelRow& row) { return row.gap().has_value(); });
  auto weight = [&](const ModelRow& row) { return (compared ? row.gap() : row.best).value_or(Latency(0)); };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (weight(rows[i]) > Latency(0)) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return weight(rows[a]) > weight(rows[b]); });
  if (order.size() > count) order.resize(count);
  return order;
}

std::string RowLabel(const ReportModel& report, const ModelRow& row) {
  if (row.layers.empty()) return Join(EngineLayersOf(report, row), " + ");
  std::string label = report.graph.layer(row.main).name;
  if (row.busy > 1) label += " (+" + std::to_string(row.busy - 1) + ")";
  return label;
}

}  // namespace infimum
