#include "analyzer/bracket/shown_loss.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "analyzer/bracket/bracket.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/statistics.h"

namespace infimum {
namespace {

class KnownTimes {
 public:
  KnownTimes(const ModelGraph& graph, const Bracket& bracket) : graph_(graph), bracket_(bracket) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i) layers_.emplace(graph.layers[i].name, i);
    for (const RegionLatency& region : bracket.regions) {
      std::vector<std::size_t> layers;
      for (const LayerId layer : region.layers) layers.push_back(layer.index());
      const auto [known, is_new] = regions_.emplace(std::move(layers), region.latency);
      if (!is_new) known->second = std::min(known->second, region.latency);
    }
  }

  // Of layers that one part covers: as the region they are, else one by one.
  std::optional<Latency> Of(const std::vector<std::size_t>& layers) const {
    if (const auto region = regions_.find(layers); region != regions_.end()) return region->second;
    Latency sum{0};
    for (const std::size_t layer : layers) {
      const std::optional<Latency>& own = bracket_.layers[layer].latency;
      if (!own) return std::nullopt;
      sum += *own;
    }
    return sum;
  }

  // Ascending; empty where one of them is no layer of the model.
  std::vector<std::size_t> LayersOf(const std::vector<std::string>& names) const {
    std::vector<std::size_t> layers;
    for (const std::string& name : names) {
      const auto found = layers_.find(name);
      if (found == layers_.end()) return {};
      layers.push_back(found->second);
    }
    std::ranges::sort(layers);
    return layers;
  }

  bool HaveConstants(const std::vector<std::size_t>& layers) const {
    return std::ranges::any_of(layers, [&](std::size_t layer) {
      const std::optional<Workload>& workload = graph_.layers[layer].workload;
      return workload && HasConstants(*workload);
    });
  }

 private:
  const ModelGraph& graph_;
  const Bracket& bracket_;
  std::map<std::string, std::size_t> layers_;
  std::map<std::vector<std::size_t>, Latency> regions_;
};

}  // namespace

ShownLoss FindShownLoss(const ModelGraph& graph, const Bracket& bracket, const RunProfile& replay, Latency whole) {
  const KnownTimes known(graph, bracket);
  ShownLoss loss;
  Latency parts{0};
  for (const ProfiledLayer& part : replay.layers)
    if (!part.samples.empty()) parts += Quantile(part.samples, 0.5);
  const double factor = parts > Latency(0) ? whole / parts : 1;
  for (const ProfiledLayer& part : replay.layers) {
    if (part.samples.empty()) continue;
    const Latency shown = Quantile(part.samples, 0.5) * factor;
    if (part.nodes.empty()) {
      loss.reorders += shown;
      loss.most.push_back({{}, shown, Latency(0)});
      continue;
    }
    const std::vector<std::size_t> layers = known.LayersOf(part.nodes);
    const std::optional<Latency> time = layers.empty() ? std::nullopt : known.Of(layers);
    if (!time) continue;
    (known.HaveConstants(layers) ? loss.weights : loss.others) += shown - *time;
    loss.most.push_back({{layers.begin(), layers.end()}, shown, *time});
  }
  const auto lost = [](const ShownLoss::Part& part) { return part.shown - part.known; };
  std::ranges::stable_sort(loss.most, std::greater(), lost);
  std::erase_if(loss.most, [&](const ShownLoss::Part& part) { return !(lost(part) > Latency(0)); });
  if (loss.most.size() > kMostLost) loss.most.resize(kMostLost);
  return loss;
}

}  // namespace infimum
