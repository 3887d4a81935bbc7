#include "analyzer/bounds/variants.h"

#include <algorithm>
#include <array>

#include "analyzer/bounds/latency_resolution.h"

namespace infimum {
namespace {

std::vector<std::string> With(std::vector<std::string> tags, std::initializer_list<std::string> more) {
  for (const std::string& tag : more)
    if (!tag.empty()) tags.push_back(tag);
  return tags;
}

// Of what decides: the layers of the longest path, or of the busiest resource each layer's share of its own time.
Interval IntervalOfParallel(const BoundsProblem& problem, const CombinedBounds& combined) {
  std::vector<Term> terms;
  const auto resource = std::ranges::find(problem.resources, combined.parallel.decided_by);
  if (resource == problem.resources.end()) {
    for (std::size_t layer : combined.longest_path.layers) terms.push_back(problem.layers[layer].term);
    return IntervalAround(combined.parallel.latency, SumOf(terms));
  }
  const auto k = static_cast<std::size_t>(resource - problem.resources.begin());
  for (const NodeTimes& layer : problem.layers) {
    Term term = layer.term;
    term.weight = layer.best > Latency(0) ? std::min(layer.occupancy[k] / layer.best, 1.0) : 0;
    terms.push_back(term);
  }
  return IntervalAround(combined.parallel.latency, SumOf(terms));
}

// Which regions and layers decide a relaxation is not known by name: it gets the relative interval of the
// fused bound, which is made of the same times.
Interval LikeFused(Latency latency, const Bound& fused) {
  return IntervalAround(latency, {fused.latency, fused.interval});
}

std::string RelaxedTag(const VariantInput& input, const CombinedBound& bound) {
  // The selection in a body may be a relaxation too.
  const bool exact_bodies = std::ranges::all_of(input.layers, &ResolvedLayer::is_exact);
  return bound.exact && exact_bodies ? "" : "relaxed-selection";
}

std::string UnfusedTag(const VariantInput& input) { return input.problem.regions.empty() ? "no-measured-regions" : ""; }

// A variant's solver takes the bounds of the variants before it. Each leaves `variant` to the table.
using Solve = std::optional<Bound> (*)(const VariantInput& input, const std::vector<Bound>& before);

const Bound& FusedSequentialOf(const std::vector<Bound>& bounds) {
  return *std::ranges::find(bounds, BoundVariant::kFusedSequential, &Bound::variant);
}

std::optional<Bound> Sequential(const VariantInput& input, const std::vector<Bound>&) {
  const Latency latency = input.combined.sequential.latency;
  return Bound{{}, latency, IntervalAround(latency, SumOf(TermsOfSelection(input.problem, {}))), input.assumptions};
}

std::optional<Bound> Parallel(const VariantInput& input, const std::vector<Bound>&) {
  const CombinedBound& parallel = input.combined.parallel;
  return Bound{{},
               parallel.latency,
               IntervalOfParallel(input.problem, input.combined),
               With(input.assumptions, {parallel.decided_by + "-decides"})};
}

std::optional<Bound> FusedSequential(const VariantInput& input, const std::vector<Bound>&) {
  const CombinedBound& fused = input.combined.fused_sequential;
  return Bound{{},
               fused.latency,
               IntervalAround(fused.latency, SumOf(TermsOfSelection(input.problem, input.combined.chosen))),
               With(input.assumptions, {UnfusedTag(input), RelaxedTag(input, fused)})};
}

std::optional<Bound> FusedParallel(const VariantInput& input, const std::vector<Bound>& before) {
  const CombinedBound& fused = input.combined.fused_parallel;
  return Bound{{},
               fused.latency,
               LikeFused(fused.latency, FusedSequentialOf(before)),
               With(input.assumptions, {fused.decided_by + "-decides", UnfusedTag(input), RelaxedTag(input, fused)})};
}

// Where the best assignment was not found for certain, no more than the fused bound is known to be below it.
std::optional<Bound> WithLayouts(const VariantInput& input, const std::vector<Bound>& before) {
  if (!input.layouts) return std::nullopt;
  const LayoutPlan& plan = *input.layouts;
  std::vector<std::string> assumptions = input.assumptions;
  std::erase(assumptions, "free-layouts");
  const bool all_measured = std::ranges::all_of(plan.reorders, &PlannedReorder::is_measured);
  const Bound& fused = FusedSequentialOf(before);
  const Latency latency = plan.is_exact ? plan.latency : fused.latency;
  return Bound{{},
               latency,
               LikeFused(latency, fused),
               With(std::move(assumptions),
                    {"plan-of-R", "changes-of-layout-paid", all_measured ? "" : "estimated-changes-of-layout",
                     plan.undeclared > 0 ? "row-major-where-unstated" : "", plan.is_exact ? "" : "relaxed-selection"})};
}

std::optional<Bound> Heuristic(const VariantInput& input, const std::vector<Bound>&) {
  if (!input.regret) return std::nullopt;
  Latency sum{0};
  std::size_t measured = 0;
  std::vector<Term> terms;
  for (const ResolvedLayer& layer : input.layers) {
    sum += layer.heuristic;
    measured += layer.known.status == LatencyStatus::kMeasured;
    terms.push_back(layer.heuristic_term);
  }
  return Bound{
      {},
      sum,
      IntervalAround(sum, SumOf(terms)),
      With(input.assumptions, {input.regret->layers == measured ? "" : "best-candidate-where-no-library-chooses"})};
}

std::optional<Bound> BestKnownOrObserved(const VariantInput& input, const std::vector<Bound>&) {
  if (!input.observed) return std::nullopt;
  return Bound{{}, input.observed->center, input.observed->interval, With(input.assumptions, {"observed-candidates"})};
}

struct Variant {
  BoundVariant variant;
  std::string_view name;
  Solve solve = nullptr;                              // null: another rule set has it
  CombinedBound CombinedBounds::*combined = nullptr;  // where combining the layers' times is all
  bool is_contradicted = true;                        // by a faster run
};

// In the order of the enumeration.
constexpr std::array kVariants = {
    Variant{BoundVariant::kSequential, "sequential", Sequential, &CombinedBounds::sequential},
    Variant{BoundVariant::kParallel, "parallel", Parallel, &CombinedBounds::parallel},
    Variant{BoundVariant::kFusedSequential, "fused-sequential", FusedSequential, &CombinedBounds::fused_sequential},
    Variant{BoundVariant::kFusedParallel, "fused-parallel", FusedParallel, &CombinedBounds::fused_parallel},
    Variant{BoundVariant::kWithLayouts, "with-layouts", WithLayouts},
    Variant{BoundVariant::kHeuristic, "heuristic", Heuristic, nullptr, false},
    Variant{BoundVariant::kBestKnownOrObserved, "best-known-or-observed", BestKnownOrObserved, nullptr, false},
    Variant{BoundVariant::kBenanza2019Serial, "benanza-2019-serial"},
    Variant{BoundVariant::kBenanza2019Parallel, "benanza-2019-parallel"},
    Variant{BoundVariant::kBenanza2019FusedSerial, "benanza-2019-fused-serial"},
    Variant{BoundVariant::kBenanza2019FusedParallel, "benanza-2019-fused-parallel"},
};

constexpr bool IsInOrder() {
  for (std::size_t i = 0; i < kVariants.size(); ++i)
    if (static_cast<std::size_t>(kVariants[i].variant) != i) return false;
  return kVariants.back().variant == BoundVariant::kBenanza2019FusedParallel;
}
static_assert(IsInOrder());

const Variant& RowOf(BoundVariant variant) { return kVariants[static_cast<std::size_t>(variant)]; }

}  // namespace

std::string_view Name(BoundVariant variant) { return RowOf(variant).name; }

bool IsContradictedByFasterRun(BoundVariant variant) { return RowOf(variant).is_contradicted; }

const CombinedBound& CombinedOf(BoundVariant variant, const CombinedBounds& combined) {
  return combined.*RowOf(variant).combined;
}

std::vector<BoundVariant> CombinedVariants() {
  std::vector<BoundVariant> variants;
  for (const Variant& row : kVariants)
    if (row.combined != nullptr) variants.push_back(row.variant);
  return variants;
}

std::vector<Bound> SolveVariants(const VariantInput& input) {
  std::vector<Bound> bounds;
  for (const Variant& row : kVariants) {
    if (row.solve == nullptr) continue;
    std::optional<Bound> bound = row.solve(input, bounds);
    if (!bound) continue;
    bound->variant = row.variant;
    bounds.push_back(*std::move(bound));
  }
  return bounds;
}

}  // namespace infimum
