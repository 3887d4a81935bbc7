#include "analyzer/gap/run_vs_best.h"

#include <algorithm>
#include <utility>

#include "analyzer/gap/cheapest_cover.h"

namespace infimum {
namespace {

std::vector<std::size_t> Indices(std::span<const LayerId> layers) {
  std::vector<std::size_t> indices;
  for (const LayerId layer : layers) indices.push_back(layer.index());
  return indices;
}

BestWays WaysOf(const Bracket& bracket) {
  std::vector<std::optional<Latency>> times;
  for (const LayerLatency& layer : bracket.layers)
    times.push_back(layer.status == LatencyStatus::kFree ? Latency(0) : layer.latency);
  std::vector<FusionCandidate> regions;
  for (const RegionLatency& region : bracket.regions) regions.push_back({Indices(region.layers), region.latency});
  return BestWays(std::move(times), std::move(regions));
}

std::optional<Latency> LeastTime(const BestWays& ways, std::span<const LayerId> layers) {
  const std::optional<BestWay> way = ways.Of(Indices(layers));
  return way ? std::optional(way->latency) : std::nullopt;
}

}  // namespace

LayerId MainLayer(const ModelGraph& graph, std::span<const LayerId> layers) {
  const auto rank = [&graph](LayerId id) {
    const Layer& layer = graph.layer(id);
    return std::pair(layer.status != LayerStatus::kFree, layer.work.direct.value);
  };
  LayerId main = layers.front();
  for (const LayerId layer : layers)
    if (rank(layer) > rank(main)) main = layer;
  return main;
}

std::vector<ComparedRow> CompareRows(const ModelGraph& graph, const Bracket& bracket, const Alignment& alignment) {
  const BestWays ways = WaysOf(bracket);
  std::vector<ComparedRow> rows;
  std::vector<bool> taken(graph.layers.size(), false);
  for (const AlignedRow& aligned : alignment.rows) {
    for (const LayerId layer : aligned.layers) taken[layer.index()] = true;
    if (aligned.inside_body) continue;
    ComparedRow row{aligned.layers, aligned.engine_layers, aligned.measured,
                    std::nullopt,   aligned.clue,          aligned.own_work};
    if (!row.layers.empty()) row.best = LeastTime(ways, row.layers);
    rows.push_back(std::move(row));
  }
  const auto add_unseen = [&](std::vector<LayerId> layers) {
    for (const LayerId layer : layers) taken[layer.index()] = true;
    ComparedRow row;
    row.best = LeastTime(ways, layers);
    row.layers = std::move(layers);
    rows.push_back(std::move(row));
  };
  for (const RegionLatency& region : bracket.regions)
    if (region.is_chosen && std::ranges::none_of(region.layers, [&](LayerId layer) { return taken[layer.index()]; }))
      add_unseen(region.layers);
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (!taken[i] && graph.layers[i].status != LayerStatus::kFree) add_unseen({LayerId(i)});
  return rows;
}

std::vector<std::optional<Latency>> BestTimes(const std::vector<ComparedRow>& rows, const Bracket& bracket) {
  const BestWays ways = WaysOf(bracket);
  std::vector<std::optional<Latency>> times;
  for (const ComparedRow& row : rows) times.push_back(row.layers.empty() ? std::nullopt : LeastTime(ways, row.layers));
  return times;
}

}  // namespace infimum
