#include "infimum/analyzer/bracket.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzer/bounds.h"
#include "analyzer/device_model.h"
#include "analyzer/floor.h"
#include "analyzer/latency_resolution.h"
#include "analyzer/marginal_gain.h"
#include "analyzer/measured_rows.h"
#include "analyzer/variants.h"
#include "analyzer/what_if_solver.h"

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

std::vector<RegionLatency> RegionsOf(const std::vector<ResolvedRegion>& regions, const std::vector<std::size_t>& chosen,
                                     const std::vector<ResolvedLayer>& layers) {
  std::vector<RegionLatency> result;
  for (const ResolvedRegion& region : regions) {
    RegionLatency known;
    known.layers = region.layers;
    known.rule = region.known != nullptr ? std::string(region.known->region.rule) : "observed";
    if (region.known != nullptr) known.region = region.known->region;
    known.latency = region.times.best;
    known.interval = IntervalOfSum(std::vector<Term>{region.times.term});
    known.candidate = region.candidate;
    for (LayerId layer : region.layers) {
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

Result<Bracket> ComputeBracket(const ModelGraph& graph, MeasurementSource& source, const Selection& selection,
                               const BracketOptions& options) {
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
  std::vector<ResolvedRegion> regions = resolver.Regions(graph);
  resolver.Observe(graph, options.observed, layers, regions);

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
  for (const WhatIf& what_if : options.what_ifs)
    bracket.what_ifs.push_back(SolveAgain(problem, combined, layers, what_if));
  bracket.regions = RegionsOf(regions, combined.chosen, layers);
  bracket.regret = RegretOf(layers);
  // A loop of which a part is missing has a time as well, if no latency: its known part's.
  const bool any_time = std::any_of(layers.begin(), layers.end(),
                                    [](const ResolvedLayer& layer) { return layer.times.best > Latency(0); });
  const auto is_missing = [](const ResolvedLayer& layer) { return layer.known.status == LatencyStatus::kMissing; };
  if (any_time || std::none_of(layers.begin(), layers.end(), is_missing)) {
    const std::vector<std::string> common = Assumptions(graph, selection, layers);
    AddVariants(graph, device, layers, problem, combined, common, bracket);
  }
  bracket.layers.reserve(layers.size());
  for (ResolvedLayer& layer : layers) bracket.layers.push_back(std::move(layer.known));
  return bracket;
}

}  // namespace infimum
