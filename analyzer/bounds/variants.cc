#include "analyzer/bounds/variants.h"

#include <algorithm>

#include "analyzer/bounds/ideal_fusion.h"

namespace infimum {
namespace {

std::vector<std::string> With(std::vector<std::string> tags, std::initializer_list<std::string> more) {
  for (const std::string& tag : more)
    if (!tag.empty()) tags.push_back(tag);
  return tags;
}

Interval Scaled(const Interval& interval, double factor) { return {interval.low * factor, interval.high * factor}; }

// Of what decides: the layers of the longest path, or of the busiest resource each layer's share of its own time.
Interval IntervalOfParallel(const BoundsProblem& problem, const CombinedBounds& combined) {
  std::vector<Term> terms;
  const auto resource = std::ranges::find(problem.resources, combined.parallel.decided_by);
  if (resource == problem.resources.end()) {
    for (std::size_t layer : combined.longest_path.layers) terms.push_back(problem.layers[layer].term);
    return IntervalOfSum(terms);
  }
  const auto k = static_cast<std::size_t>(resource - problem.resources.begin());
  for (const UnitTimes& layer : problem.layers) {
    Term term = layer.term;
    term.weight = layer.best > Latency(0) ? std::min(layer.occupancy[k] / layer.best, 1.0) : 0;
    terms.push_back(term);
  }
  return IntervalOfSum(terms);
}

// Which regions and layers decide a relaxation or an ideal is not known by name: they get the relative interval of the
// fused bound, which is made of the same times.
Interval LikeFused(Latency latency, const Bound& fused) {
  return fused.latency > Latency(0) ? Scaled(fused.interval, latency / fused.latency) : Interval{latency, latency};
}

Interval IntervalOfHeuristic(const std::vector<ResolvedLayer>& layers) {
  std::vector<Term> terms;
  for (const ResolvedLayer& layer : layers) terms.push_back(layer.heuristic_term);
  return IntervalOfSum(terms);
}

Bound HeuristicBound(const std::vector<ResolvedLayer>& layers, const AlgorithmRegret& regret,
                     const std::vector<std::string>& common) {
  Latency sum{0};
  std::size_t measured = 0;
  for (const ResolvedLayer& layer : layers) {
    sum += layer.heuristic;
    measured += layer.known.status == LatencyStatus::kMeasured;
  }
  return {BoundVariant::kHeuristic, sum, IntervalOfHeuristic(layers),
          With(common, {regret.layers == measured ? "" : "best-candidate-where-no-library-chooses"})};
}

// Where the best assignment was not found for certain, no more than the fused bound is known to be below it.
Bound LayoutBound(const LayoutPlan& plan, const Bound& fused, std::vector<std::string> common) {
  std::erase(common, "free-layouts");
  const bool all_measured = std::ranges::all_of(plan.transforms, &PlannedTransform::is_measured);
  const Latency latency = plan.is_exact ? plan.latency : fused.latency;
  return {BoundVariant::kWithLayouts, latency, LikeFused(latency, fused),
          With(std::move(common),
               {"changes-of-layout-paid", all_measured ? "" : "estimated-changes-of-layout",
                plan.unstated > 0 ? "row-major-where-unstated" : "", plan.is_exact ? "" : "relaxed-selection"})};
}

}  // namespace

void AddVariants(const ModelGraph& graph, const DeviceModel& device, const std::vector<ResolvedLayer>& layers,
                 const BoundsProblem& problem, const CombinedBounds& combined, const std::vector<std::string>& common,
                 Bracket& bracket) {
  std::vector<Bound>& bounds = bracket.bounds;
  const std::string unfused = bracket.regions.empty() && problem.regions.empty() ? "no-measured-regions" : "";
  // The selection in a body may be a relaxation too.
  const bool exact_bodies = std::ranges::all_of(layers, &ResolvedLayer::is_exact);
  const auto relaxed = [&](const CombinedBound& bound) {
    return bound.exact && exact_bodies ? "" : "relaxed-selection";
  };
  const auto decided = [](const CombinedBound& bound) { return bound.decided_by + "-decides"; };

  bounds.push_back(
      {BoundVariant::kSequential, combined.sequential.latency, IntervalOfSum(TermsOfSelection(problem, {})), common});
  bounds.push_back({BoundVariant::kParallel, combined.parallel.latency, IntervalOfParallel(problem, combined),
                    With(common, {decided(combined.parallel)})});
  const Bound fused{BoundVariant::kFusedSequential, combined.fused_sequential.latency,
                    IntervalOfSum(TermsOfSelection(problem, combined.chosen)),
                    With(common, {unfused, relaxed(combined.fused_sequential)})};
  bounds.push_back(fused);
  bounds.push_back({BoundVariant::kFusedParallel, combined.fused_parallel.latency,
                    LikeFused(combined.fused_parallel.latency, fused),
                    With(common, {decided(combined.fused_parallel), unfused, relaxed(combined.fused_parallel)})});
  if (bracket.layouts) bounds.push_back(LayoutBound(*bracket.layouts, fused, common));
  std::vector<Latency> times;
  for (const ResolvedLayer& layer : layers) times.push_back(layer.fused.best);
  const Latency ideal = std::min(IdealFusion(graph, times, device), fused.latency);
  bounds.push_back({BoundVariant::kIdealFusion, ideal, LikeFused(ideal, fused),
                    With(common, {"element-wise-layers-cost-their-bytes"})});
  if (bracket.regret) bounds.push_back(HeuristicBound(layers, *bracket.regret, common));
}

}  // namespace infimum
