#include "analyzer/gap/run_vs_best.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace infimum {
namespace {

// More than any layer takes: stands for a layer without a time, which only a region that was measured can make good.
constexpr Latency kUnknown{1e18};

}  // namespace

CheapestCovers::CheapestCovers(std::vector<std::optional<Latency>> times, std::vector<FusionCandidate> regions)
    : times_(std::move(times)), regions_(std::move(regions)), of_layer_(times_.size()) {
  for (std::size_t r = 0; r < regions_.size(); ++r)
    if (!regions_[r].layers.empty()) of_layer_[regions_[r].layers.front()].push_back(r);
}

std::optional<CheapestCover> CheapestCovers::Of(std::span<const std::size_t> layers) const {
  std::vector<Latency> costs;
  for (const std::size_t layer : layers) costs.push_back(times_[layer].value_or(kUnknown));
  std::vector<FusionCandidate> inside;
  std::vector<std::size_t> places;
  for (const std::size_t first : layers) {
    if (layers.size() == 1) break;  // what is one layer alone is no region
    for (const std::size_t r : of_layer_[first]) {
      FusionCandidate candidate{{}, regions_[r].cost};
      for (const std::size_t layer : regions_[r].layers) {
        const auto place = std::ranges::lower_bound(layers, layer);
        if (place == layers.end() || *place != layer) break;
        candidate.layers.push_back(static_cast<std::size_t>(place - layers.begin()));
      }
      if (candidate.layers.size() != regions_[r].layers.size()) continue;
      inside.push_back(std::move(candidate));
      places.push_back(r);
    }
  }
  CheapestCover way;
  if (inside.empty()) {
    // In one piece the sum has no rounding that the layers' own times do not have.
    way.latency = std::accumulate(costs.begin(), costs.end(), Latency(0));
  } else {
    const FusionChoice choice = ChooseRegions(costs, inside);
    way.latency = choice.cost;
    for (const std::size_t chosen : choice.chosen) way.regions.push_back(places[chosen]);
  }
  if (way.latency >= kUnknown) return std::nullopt;
  return way;
}

namespace {

std::vector<std::size_t> Indices(std::span<const LayerId> layers) {
  std::vector<std::size_t> indices;
  for (const LayerId layer : layers) indices.push_back(layer.index());
  return indices;
}

CheapestCovers WaysOf(const Bracket& bracket) {
  std::vector<std::optional<Latency>> times;
  for (const LayerLatency& layer : bracket.layers)
    times.push_back(layer.status == LatencyStatus::kFree ? Latency(0) : layer.latency);
  std::vector<FusionCandidate> regions;
  for (const RegionLatency& region : bracket.regions) regions.push_back({Indices(region.layers), region.latency});
  return CheapestCovers(std::move(times), std::move(regions));
}

std::optional<Latency> LeastTime(const CheapestCovers& ways, std::span<const LayerId> layers) {
  const std::optional<CheapestCover> way = ways.Of(Indices(layers));
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
  const CheapestCovers ways = WaysOf(bracket);
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
  const CheapestCovers ways = WaysOf(bracket);
  std::vector<std::optional<Latency>> times;
  for (const ComparedRow& row : rows) times.push_back(row.layers.empty() ? std::nullopt : LeastTime(ways, row.layers));
  return times;
}

}  // namespace infimum
