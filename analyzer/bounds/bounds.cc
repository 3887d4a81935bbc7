#include "analyzer/bounds/bounds.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "infimum/base/check.h"

namespace infimum {
namespace {

Latency Sum(std::span<const Latency> times) { return std::accumulate(times.begin(), times.end(), Latency(0)); }

// The problem by resource, as the algorithms take it.
struct Numbers {
  std::vector<Latency> layers;
  std::vector<FusionCandidate> regions;
  std::vector<std::vector<Latency>> layer_occupancy;           // by resource
  std::vector<std::vector<FusionCandidate>> region_occupancy;  // by resource
};

Numbers NumbersOf(const BoundsProblem& problem) {
  Numbers numbers;
  const std::size_t resources = problem.resources.size();
  numbers.layer_occupancy.resize(resources);
  numbers.region_occupancy.resize(resources);
  const auto occupied = [&](const NodeTimes& node, std::size_t resource) {
    INFIMUM_CHECK(node.occupancy.size() == resources, "one occupancy for each resource");
    return std::min(node.occupancy[resource], node.best);
  };
  for (const NodeTimes& layer : problem.layers) {
    numbers.layers.push_back(layer.best);
    for (std::size_t k = 0; k < resources; ++k) numbers.layer_occupancy[k].push_back(occupied(layer, k));
  }
  for (const RegionTimes& region : problem.regions) {
    numbers.regions.push_back({region.layers, region.times.best});
    for (std::size_t k = 0; k < resources; ++k)
      numbers.region_occupancy[k].push_back({region.layers, occupied(region.times, k)});
  }
  return numbers;
}

constexpr std::string_view kLongestPath = "longest-path";
constexpr double kTieRounding = 1e-9;

class VariantSolver {
 public:
  VariantSolver(const BoundsProblem& problem, const DagView& dag, const Numbers& numbers)
      : problem_(problem), dag_(dag), numbers_(numbers) {}

  CombinedBounds Solve() const {
    CombinedBounds bounds;
    bounds.sequential = {Sum(numbers_.layers), "", true};
    const FusionChoice choice = ChooseRegions(numbers_.layers, numbers_.regions);
    bounds.fused_sequential = {choice.lower, "", choice.exact};
    bounds.chosen = choice.chosen;
    std::vector<Latency> busy;
    for (const std::vector<Latency>& occupancy : numbers_.layer_occupancy) busy.push_back(Sum(occupancy));
    bounds.longest_path = dag_.FindLongestPath(numbers_.layers);
    bounds.parallel = Parallel(bounds.longest_path.latency, busy, bounds.sequential.latency);
    bounds.fused_parallel = FusedParallel(bounds, choice);
    return bounds;
  }

 private:
  CombinedBound Parallel(Latency path, const std::vector<Latency>& busy, Latency sequential) const {
    CombinedBound value{path, std::string(kLongestPath), true};
    for (std::size_t k = 0; k < busy.size(); ++k) {
      // On one core, and wherever layers gain nothing by using fewer cores, this sum and the sequential one are the
      // same sum; rounding must not separate them.
      const Latency time = std::min(busy[k], sequential);
      // Nor what is said to decide: where path and cores take the same, it is the cores.
      const bool is_tie = value.decided_by == kLongestPath && time >= value.latency * (1 - kTieRounding);
      if (time > value.latency || is_tie) value = {std::max(time, value.latency), problem_.resources[k], true};
    }
    value.latency = std::min(value.latency, sequential);
    return value;
  }

  // The bound of one selection; nullopt where its regions wait for each other.
  std::optional<CombinedBound> OfSelection(std::span<const std::size_t> chosen, Latency sequential) const {
    const std::optional<Latency> path = FusedPath(problem_.predecessors, numbers_.layers, numbers_.regions, chosen);
    if (!path) return std::nullopt;
    std::vector<Latency> busy;
    for (std::size_t k = 0; k < problem_.resources.size(); ++k) {
      Latency sum = Sum(numbers_.layer_occupancy[k]);
      for (std::size_t region : chosen) {
        sum += numbers_.region_occupancy[k][region].cost;
        for (std::size_t layer : numbers_.regions[region].layers) sum -= numbers_.layer_occupancy[k][layer];
      }
      busy.push_back(std::max(sum, Latency(0)));
    }
    return Parallel(*path, busy, sequential);
  }

  CombinedBound FusedParallel(const CombinedBounds& solution, const FusionChoice& choice) const {
    // A region that costs no less than its layers, of every resource too, never helps.
    std::vector<std::size_t> helpful;
    for (std::size_t i = 0; i < numbers_.regions.size(); ++i)
      if (Helps(i)) helpful.push_back(i);
    if (helpful.empty()) return solution.parallel;
    CombinedBound relaxed = Relaxed(solution, choice);
    if (relaxed.exact) return relaxed;
    const bool is_small = helpful.size() < 16 && numbers_.layers.size() << helpful.size() <= kMostTriedWork;
    return is_small ? BestOfAll(helpful, solution) : relaxed;
  }

  bool Helps(std::size_t region) const {
    const auto is_less = [&](Latency cost, const std::vector<Latency>& layers) {
      Latency alone{0};
      for (std::size_t layer : numbers_.regions[region].layers) alone += layers[layer];
      return cost < alone;
    };
    if (is_less(numbers_.regions[region].cost, numbers_.layers)) return true;
    for (std::size_t k = 0; k < problem_.resources.size(); ++k)
      if (is_less(numbers_.region_occupancy[k][region].cost, numbers_.layer_occupancy[k])) return true;
    return false;
  }

  // Every selection of regions that share no layer.
  CombinedBound BestOfAll(const std::vector<std::size_t>& helpful, const CombinedBounds& solution) const {
    CombinedBound best = solution.parallel;
    std::vector<std::size_t> chosen;
    std::vector<bool> taken(numbers_.layers.size(), false);
    const std::function<void(std::size_t)> try_from = [&](std::size_t place) {
      if (place == helpful.size()) {
        // What the selection would take one after the other bounds it as well.
        Latency sequential = solution.sequential.latency;
        for (std::size_t region : chosen) {
          sequential += numbers_.regions[region].cost;
          for (std::size_t layer : numbers_.regions[region].layers) sequential -= numbers_.layers[layer];
        }
        const std::optional<CombinedBound> value = OfSelection(chosen, sequential);
        if (value && value->latency < best.latency) best = *value;
        return;
      }
      try_from(place + 1);
      const std::vector<std::size_t>& layers = numbers_.regions[helpful[place]].layers;
      if (std::ranges::any_of(layers, [&](std::size_t layer) { return taken[layer]; })) return;
      for (std::size_t layer : layers) taken[layer] = true;
      chosen.push_back(helpful[place]);
      try_from(place + 1);
      chosen.pop_back();
      for (std::size_t layer : layers) taken[layer] = false;
    };
    try_from(0);
    return best;
  }

  // No selection has a shorter path than the layers at their prices (fusion_choice.h), and none keeps a resource less
  // busy than the selection that is best for it alone.
  CombinedBound Relaxed(const CombinedBounds& solution, const FusionChoice& choice) const {
    const std::vector<Latency> prices = LayerPrices(numbers_.layers, numbers_.regions);
    std::vector<Latency> busy;
    for (std::size_t k = 0; k < problem_.resources.size(); ++k)
      busy.push_back(ChooseRegions(numbers_.layer_occupancy[k], numbers_.region_occupancy[k]).lower);
    CombinedBound lower = Parallel(dag_.FindLongestPath(prices).latency, busy, choice.lower);
    CombinedBound upper = solution.parallel;
    const std::optional<CombinedBound> selected = OfSelection(choice.chosen, choice.cost);
    if (selected && selected->latency < upper.latency) upper = *selected;
    lower.latency = std::min(lower.latency, upper.latency);
    // Where a selection reaches the relaxation up to rounding, it is the answer.
    lower.exact = upper.latency <= lower.latency * (1 + 1e-9);
    return lower.exact ? upper : lower;
  }

  const BoundsProblem& problem_;
  const DagView& dag_;
  const Numbers& numbers_;
};

}  // namespace

CombinedBounds CombineBounds(const BoundsProblem& problem) {
  const DagView dag(problem.predecessors);
  const Numbers numbers = NumbersOf(problem);
  return VariantSolver(problem, dag, numbers).Solve();
}

}  // namespace infimum
