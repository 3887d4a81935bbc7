#include "infimum/analyzer/compared_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace infimum {
namespace {

// More than any layer takes: stands for a layer without a time, which only a region that was measured can make good.
constexpr Latency kUnknown{1e18};

std::vector<std::size_t> Indices(std::span<const LayerId> layers) {
  std::vector<std::size_t> indices;
  for (const LayerId layer : layers) indices.push_back(layer.index());
  return indices;
}

// A bracket's times and regions, as LeastTime wants them.
struct BestWays {
  explicit BestWays(const Bracket& bracket) {
    for (const LayerLatency& layer : bracket.layers)
      times.push_back(layer.status == LatencyStatus::kFree ? Latency(0) : layer.latency);
    for (const RegionLatency& region : bracket.regions) regions.push_back({Indices(region.layers), region.latency});
    of_layer.resize(times.size());
    for (std::size_t r = 0; r < regions.size(); ++r)
      if (!regions[r].layers.empty()) of_layer[regions[r].layers.front()].push_back(r);
  }

  std::optional<Latency> Of(std::span<const LayerId> layers) const {
    const std::vector<std::size_t> indices = Indices(layers);
    std::vector<FusionCandidate> within;
    if (indices.size() > 1)
      for (const std::size_t layer : indices)
        for (const std::size_t region : of_layer[layer]) within.push_back(regions[region]);
    return LeastTime(indices, times, within);
  }

  std::vector<std::optional<Latency>> times;
  std::vector<FusionCandidate> regions;
  std::vector<std::vector<std::size_t>> of_layer;  // regions by their first layer
};

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

std::optional<Latency> LeastTime(std::span<const std::size_t> layers, std::span<const std::optional<Latency>> times,
                                 std::span<const FusionCandidate> regions) {
  std::vector<Latency> costs;
  for (const std::size_t layer : layers) costs.push_back(times[layer].value_or(kUnknown));
  std::vector<FusionCandidate> inside;
  if (layers.size() > 1) {
    for (const FusionCandidate& region : regions) {
      FusionCandidate candidate{{}, region.cost};
      for (const std::size_t layer : region.layers) {
        const auto place = std::ranges::lower_bound(layers, layer);
        if (place == layers.end() || *place != layer) break;
        candidate.layers.push_back(static_cast<std::size_t>(place - layers.begin()));
      }
      if (candidate.layers.size() == region.layers.size() && !region.layers.empty())
        inside.push_back(std::move(candidate));
    }
  }
  // In one piece the sum has no rounding that the layers' own times do not have.
  const Latency least =
      inside.empty() ? std::accumulate(costs.begin(), costs.end(), Latency(0)) : ChooseRegions(costs, inside).cost;
  if (least >= kUnknown) return std::nullopt;
  return least;
}

std::vector<ComparedRow> CompareRows(const ModelGraph& graph, const Bracket& bracket, const Alignment& alignment) {
  const BestWays best(bracket);
  std::vector<ComparedRow> rows;
  std::vector<bool> taken(graph.layers.size(), false);
  for (const AlignedRow& aligned : alignment.rows) {
    for (const LayerId layer : aligned.layers) taken[layer.index()] = true;
    if (aligned.inside_body) continue;
    ComparedRow row{aligned.layers, aligned.engine_layers, aligned.measured,
                    std::nullopt,   aligned.clue,          aligned.own_work};
    if (!row.layers.empty()) row.best = best.Of(row.layers);
    rows.push_back(std::move(row));
  }
  const auto add_unseen = [&](std::vector<LayerId> layers) {
    for (const LayerId layer : layers) taken[layer.index()] = true;
    ComparedRow row;
    row.best = best.Of(layers);
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
  const BestWays best(bracket);
  std::vector<std::optional<Latency>> times;
  for (const ComparedRow& row : rows) times.push_back(row.layers.empty() ? std::nullopt : best.Of(row.layers));
  return times;
}

}  // namespace infimum
