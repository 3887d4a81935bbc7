#include "analyzer/variants.h"

#include <algorithm>

#include "analyzer/ideal_fusion.h"

namespace infimum {
namespace {

std::vector<std::string> With(std::vector<std::string> tags, std::initializer_list<std::string> more) {
  for (const std::string& tag : more)
    if (!tag.empty()) tags.push_back(tag);
  return tags;
}

void AddBounds(const CombinedBounds& combined, const std::vector<std::string>& common, bool any_regions,
               Bracket& bracket) {
  const std::string unfused = any_regions ? "" : "no-measured-regions";
  const auto relaxed = [](const CombinedBound& bound) { return bound.exact ? "" : "relaxed-selection"; };
  const auto add = [&](BoundVariant variant, const CombinedBound& bound, std::initializer_list<std::string> tags) {
    bracket.bounds.push_back({variant, bound.latency, bound.interval, With(common, tags)});
  };
  add(BoundVariant::kSequential, combined.sequential, {});
  add(BoundVariant::kParallel, combined.parallel, {combined.parallel.decided_by + "-decides"});
  add(BoundVariant::kFusedSequential, combined.fused_sequential, {unfused, relaxed(combined.fused_sequential)});
  add(BoundVariant::kFusedParallel, combined.fused_parallel,
      {combined.fused_parallel.decided_by + "-decides", unfused, relaxed(combined.fused_parallel)});
}

void AddIdealFusion(const ModelGraph& graph, const std::vector<ResolvedLayer>& layers, const DeviceModel& device,
                    const std::vector<std::string>& common, Bracket& bracket) {
  const auto at = [&](auto time) {
    std::vector<Latency> times;
    for (const ResolvedLayer& layer : layers) times.push_back(time(layer.fused));
    return IdealFusion(graph, times, device);
  };
  const Bound& fused = *bracket.Find(BoundVariant::kFusedSequential);
  const Latency point = std::min(at([](const UnitTimes& unit) { return unit.best; }), fused.latency);
  const Latency low = std::min(at([](const UnitTimes& unit) { return unit.interval.low; }), fused.interval.low);
  const Latency high = std::min(at([](const UnitTimes& unit) { return unit.interval.high; }), fused.interval.high);
  bracket.bounds.push_back({BoundVariant::kIdealFusion,
                            point,
                            {std::min(low, point), std::max(high, point)},
                            With(common, {"element-wise-layers-cost-their-bytes"})});
}

void AddHeuristic(const std::vector<ResolvedLayer>& layers, const std::vector<std::string>& common, Bracket& bracket) {
  if (!bracket.regret) return;
  Latency sum{0};
  Interval interval;
  std::size_t measured = 0;
  for (const ResolvedLayer& layer : layers) {
    sum += layer.heuristic;
    // The library's choice is one candidate; nothing is chosen among many.
    const double scale = layer.times.best > Latency(0) ? layer.heuristic / layer.times.best : 1;
    interval.low += layer.times.interval.low * scale;
    interval.high += layer.times.interval.high * scale;
    measured += layer.known.status == LatencyStatus::kMeasured;
  }
  const bool all = bracket.regret->layers == measured;
  bracket.bounds.push_back(
      {BoundVariant::kHeuristic, sum, interval, With(common, {all ? "" : "best-candidate-where-no-library-chooses"})});
}

}  // namespace

void AddVariants(const ModelGraph& graph, const DeviceModel& device, const std::vector<ResolvedLayer>& layers,
                 const CombinedBounds& combined, const std::vector<std::string>& common, Bracket& bracket) {
  AddBounds(combined, common, !bracket.regions.empty(), bracket);
  AddIdealFusion(graph, layers, device, common, bracket);
  AddHeuristic(layers, common, bracket);
}

}  // namespace infimum
