#include "infimum/analyzer/bracket.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzer/bounds.h"
#include "analyzer/device_model.h"
#include "analyzer/floor.h"
#include "analyzer/ideal_fusion.h"
#include "analyzer/latency_resolution.h"
#include "analyzer/measured_rows.h"

namespace infimum {
namespace {

// The contract of most of the model's work, where none was asked for.
NumericContract MainContract(const ModelGraph& graph) {
  std::map<NumericContract, double> work;
  for (const Layer& layer : graph.layers) {
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) work[MainContract(*body.graph)] += 1;
    if (layer.status != LayerStatus::kMeasurable || !layer.workload) continue;
    work[NativeContract(*layer.workload)] += 1 + static_cast<double>(layer.work.direct.value);
  }
  NumericContract main = NumericContract::kStrictF32;
  double most = 0;
  for (const auto& [contract, amount] : work) {
    if (amount <= most) continue;
    most = amount;
    main = contract;
  }
  return main;
}

void FindControlFlow(const ModelGraph& graph, std::set<std::string>& tags) {
  for (const Layer& layer : graph.layers) {
    if (!layer.bodies.empty()) tags.insert(layer.bodies.size() > 1 ? "if-cheaper-branch" : "least-loop-iterations");
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) FindControlFlow(*body.graph, tags);
  }
}

Coverage CoverageOf(const std::vector<ResolvedLayer>& layers) {
  Latency measured{0}, estimated{0}, missing{0};
  for (const ResolvedLayer& layer : layers) {
    measured += layer.measured;
    estimated += layer.estimated;
    missing += layer.missing;
  }
  const Latency all = measured + estimated + missing;
  Coverage coverage;
  if (!(all > Latency(0))) {
    // Nothing takes time. A layer without even a floor may still be unknown: that is missing, not free.
    const bool any_missing = std::any_of(layers.begin(), layers.end(), [](const ResolvedLayer& layer) {
      return layer.known.status == LatencyStatus::kMissing;
    });
    (any_missing ? coverage.missing : coverage.free) = 1;
    return coverage;
  }
  coverage.estimated = estimated / all;
  coverage.missing = missing / all;
  coverage.measured = measured > Latency(0) ? 1 - coverage.estimated - coverage.missing : 0;
  if (coverage.measured < 0) coverage.measured = 0;
  return coverage;
}

std::vector<std::string> Assumptions(const ModelGraph& graph, const Selection& selection,
                                     const std::vector<ResolvedLayer>& layers) {
  std::vector<std::string> tags = {
      "free-layouts", selection.cache == CacheState::kWarm ? "warm-caches" : "cold-caches",
      selection.threads == 1 ? "one-thread" : std::to_string(selection.threads) + "-threads"};
  const auto any = [&](auto part) { return std::any_of(layers.begin(), layers.end(), part); };
  if (any([](const ResolvedLayer& layer) { return layer.estimated > Latency(0); })) tags.push_back("estimated-layers");
  if (any([](const ResolvedLayer& layer) { return layer.known.status == LatencyStatus::kMissing; }))
    tags.push_back("unmeasured-layers");
  std::set<std::string> control_flow;
  FindControlFlow(graph, control_flow);
  tags.insert(tags.end(), control_flow.begin(), control_flow.end());
  return tags;
}

// A layer that alone became free, or as fast as its floor: the longest path and every resource without it.
void SetMarginalGains(const BoundsProblem& problem, Latency parallel, std::vector<ResolvedLayer>& layers) {
  const DagView dag(problem.predecessors);
  std::vector<Latency> times, floors, busy(problem.resources.size(), Latency(0));
  Latency sequential{0};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const UnitTimes& unit = problem.layers[i];
    times.push_back(unit.best);
    floors.push_back(std::min(layers[i].known.floor, unit.best));
    sequential += unit.best;
    for (std::size_t k = 0; k < busy.size(); ++k) busy[k] += unit.occupancy[k];
  }
  const std::vector<Latency> path_if_free = dag.LongestPathsIf(times, std::vector<Latency>(times.size(), Latency(0)));
  const std::vector<Latency> path_at_floor = dag.LongestPathsIf(times, floors);
  const auto gain = [&](std::size_t i, Latency path, Latency instead) {
    Latency bound = path;
    for (std::size_t k = 0; k < busy.size(); ++k) {
      const Latency occupancy = problem.layers[i].occupancy[k];
      bound = std::max(bound, busy[k] - occupancy + std::min(occupancy, instead));
    }
    bound = std::min(bound, sequential - times[i] + instead);
    return std::max(parallel - bound, Latency(0));
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].known.parallel_gain_if_free = gain(i, path_if_free[i], Latency(0));
    layers[i].known.parallel_gain_at_floor = gain(i, path_at_floor[i], floors[i]);
  }
}

std::vector<RegionLatency> RegionsOf(const std::vector<ResolvedRegion>& regions, const std::vector<std::size_t>& chosen,
                                     const std::vector<ResolvedLayer>& layers) {
  std::vector<RegionLatency> result;
  for (const ResolvedRegion& region : regions) {
    RegionLatency known{
        region.known->region, region.time.best, region.time.interval, region.time.candidate, Latency(0), false, false};
    for (LayerId layer : known.region.layers) {
      known.unfused += layers[layer.index()].times.best;
      known.has_missing |= layers[layer.index()].known.status == LatencyStatus::kMissing;
    }
    result.push_back(std::move(known));
  }
  // Choices beyond the regions are fused bodies of single layers.
  for (std::size_t place : chosen)
    if (place < result.size()) result[place].is_chosen = true;
  return result;
}

std::optional<AlgorithmRegret> RegretOf(const std::vector<ResolvedLayer>& layers) {
  AlgorithmRegret regret;
  for (const ResolvedLayer& layer : layers) {
    if (!layer.known.choice) continue;
    ++regret.layers;
    regret.sum += layer.known.choice->regret;
    regret.is_validated &= layer.known.choice->is_validated;
  }
  return regret.layers > 0 ? std::optional<AlgorithmRegret>(regret) : std::nullopt;
}

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

std::string_view Name(LatencyStatus status) {
  constexpr std::array<std::string_view, 4> kNames = {"measured", "estimated", "free", "missing"};
  return kNames[static_cast<std::size_t>(status)];
}

std::string_view Name(BoundVariant variant) {
  constexpr std::array<std::string_view, 6> kNames = {"sequential",     "parallel",     "fused-sequential",
                                                      "fused-parallel", "ideal-fusion", "heuristic"};
  return kNames[static_cast<std::size_t>(variant)];
}

const Bound* Bracket::Find(BoundVariant variant) const {
  const auto found = std::ranges::find(bounds, variant, &Bound::variant);
  return found == bounds.end() ? nullptr : &*found;
}

Result<Bracket> ComputeBracket(const ModelGraph& graph, MeasurementSource& source, const Selection& selection) {
  const RegionSet region_set(graph);
  INFIMUM_ASSIGN_OR_RETURN(const MeasuredRows rows, MeasuredRows::Fetch(graph, region_set, source, selection));
  INFIMUM_ASSIGN_OR_RETURN(const DevicePeaks peaks, source.Peaks(selection.device));
  INFIMUM_ASSIGN_OR_RETURN(DeviceModel device, DeviceModel::Make(selection.device, peaks, selection.threads));
  for (const auto& [key, entry] : rows.all())
    for (const auto& [threads, measurements] : entry.by_threads)
      for (const Measurement& row : measurements)
        device.Observe(*entry.workload, *entry.work, row.candidate.algorithm, PointValue(row.repetitions));

  const LatencyResolver resolver(rows, region_set, selection, device);
  std::vector<ResolvedLayer> layers = resolver.Layers(graph);
  const std::vector<ResolvedRegion> regions = resolver.Regions(graph);

  Bracket bracket;
  bracket.selection = selection;
  std::set<EnvironmentKey> environments;
  for (const auto& [key, entry] : rows.all())
    for (const auto& [threads, measurements] : entry.by_threads)
      for (const Measurement& row : measurements) environments.insert(row.environment);
  bracket.environments.assign(environments.begin(), environments.end());
  bracket.contract = selection.contract.value_or(MainContract(graph));
  Floors floors = ComputeFloors(graph, device);
  bracket.floor = std::move(floors.floor);
  bracket.conventional_floor = std::move(floors.conventional_floor);
  bracket.coverage = CoverageOf(layers);
  for (const ResolvedLayer& layer : layers) bracket.roofline += layer.known.floor;

  const BoundsProblem problem = resolver.Problem(graph, layers, regions);
  const CombinedBounds combined = CombineBounds(problem);
  for (std::size_t layer : combined.longest_path.layers) layers[layer].known.on_critical_path = true;
  SetMarginalGains(problem, combined.parallel.latency, layers);
  bracket.regions = RegionsOf(regions, combined.chosen, layers);
  bracket.regret = RegretOf(layers);
  // A loop of which a part is missing has a time as well, if no latency: its known part's.
  const bool any_time = std::any_of(layers.begin(), layers.end(),
                                    [](const ResolvedLayer& layer) { return layer.times.best > Latency(0); });
  const auto is_missing = [](const ResolvedLayer& layer) { return layer.known.status == LatencyStatus::kMissing; };
  if (any_time || std::none_of(layers.begin(), layers.end(), is_missing)) {
    const std::vector<std::string> common = Assumptions(graph, selection, layers);
    AddBounds(combined, common, !regions.empty(), bracket);
    AddIdealFusion(graph, layers, device, common, bracket);
    AddHeuristic(layers, common, bracket);
  }
  bracket.layers.reserve(layers.size());
  for (ResolvedLayer& layer : layers) bracket.layers.push_back(std::move(layer.known));
  return bracket;
}

}  // namespace infimum
