#include "analyzer/bounds/fusion_choice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/types/disjoint_sets.h"
#include "infimum/base/check.h"

namespace infimum {
namespace {

Latency CostAlone(const FusionCandidate& candidate, std::span<const Latency> costs) {
  Latency sum{0};
  for (std::size_t layer : candidate.layers) sum += costs[layer];
  return sum;
}

struct Component {
  std::vector<std::size_t> layers;   // ascending
  std::vector<std::size_t> regions;  // by first layer
};

// One way to have run the layers so far.
struct FusionStep {
  Latency cost{0};
  std::size_t before = 0;  // the step that it continues
  std::size_t region = 0;  // chosen here; kAlone where the layer runs alone or was taken
};
constexpr std::size_t kAlone = static_cast<std::size_t>(-1);

class FusionSolver {
 public:
  FusionSolver(std::span<const Latency> costs, std::span<const FusionCandidate> candidates, std::size_t most_states)
      : costs_(costs), candidates_(candidates), most_states_(most_states) {}

  // The choice for one component; `exact` where no state was dropped.
  FusionChoice Solve(const Component& component) {
    steps_.assign(1, FusionStep{Latency(0), 0, kAlone});
    exact_ = true;
    // States by the later layers that are taken already.
    std::map<std::vector<std::size_t>, std::size_t> states{{{}, 0}};
    std::size_t next_region = 0;
    for (std::size_t layer : component.layers) {
      std::map<std::vector<std::size_t>, std::size_t> after;
      std::size_t end_region = next_region;
      while (end_region < component.regions.size() && First(component.regions[end_region]) == layer) ++end_region;
      for (const auto& [taken, step] : states) {
        if (!taken.empty() && taken.front() == layer) {
          Offer(after, {taken.begin() + 1, taken.end()}, {steps_[step].cost, step, kAlone});
          continue;
        }
        Offer(after, taken, {steps_[step].cost + costs_[layer], step, kAlone});
        for (std::size_t i = next_region; i < end_region; ++i) TryRegion(after, taken, step, component.regions[i]);
      }
      next_region = end_region;
      KeepBest(after);
      states = std::move(after);
    }
    INFIMUM_CHECK(states.size() == 1, "after the last layer nothing is taken");
    FusionChoice choice;
    choice.exact = exact_;
    choice.cost = steps_[states.begin()->second].cost;
    for (std::size_t step = states.begin()->second; step != 0; step = steps_[step].before)
      if (steps_[step].region != kAlone) choice.chosen.push_back(steps_[step].region);
    return choice;
  }

 private:
  std::size_t First(std::size_t region) const { return candidates_[region].layers.front(); }

  void TryRegion(std::map<std::vector<std::size_t>, std::size_t>& after, const std::vector<std::size_t>& taken,
                 std::size_t step, std::size_t region) {
    const std::vector<std::size_t>& layers = candidates_[region].layers;
    std::vector<std::size_t> both;
    std::set_union(taken.begin(), taken.end(), layers.begin() + 1, layers.end(), std::back_inserter(both));
    if (both.size() != taken.size() + layers.size() - 1) return;  // they overlap
    Offer(after, std::move(both), {steps_[step].cost + candidates_[region].cost, step, region});
  }

  void Offer(std::map<std::vector<std::size_t>, std::size_t>& states, std::vector<std::size_t> taken, FusionStep step) {
    const auto [state, is_new] = states.try_emplace(std::move(taken), steps_.size());
    if (is_new) {
      steps_.push_back(step);
    } else if (step.cost < steps_[state->second].cost) {
      steps_[state->second] = step;
    }
  }

  void KeepBest(std::map<std::vector<std::size_t>, std::size_t>& states) {
    if (states.size() <= most_states_) return;
    exact_ = false;
    // What is taken already was paid for: states are compared by what their layers up to here cost more than alone.
    std::vector<std::pair<double, const std::vector<std::size_t>*>> order;
    for (const auto& [taken, step] : states) {
      double saved = steps_[step].cost.count();
      for (std::size_t layer : taken) saved -= costs_[layer].count();
      order.emplace_back(saved, &taken);
    }
    std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(most_states_));
    std::map<std::vector<std::size_t>, std::size_t> kept;
    for (std::size_t i = 0; i < most_states_; ++i) kept.emplace(*order[i].second, states.at(*order[i].second));
    states = std::move(kept);
  }

  std::span<const Latency> costs_;
  std::span<const FusionCandidate> candidates_;
  std::size_t most_states_;
  std::vector<FusionStep> steps_;
  bool exact_ = true;
};

std::vector<std::size_t> WorthWhile(std::span<const Latency> costs, std::span<const FusionCandidate> candidates) {
  std::vector<std::size_t> worth;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    INFIMUM_CHECK(!candidates[i].layers.empty() && std::ranges::is_sorted(candidates[i].layers) &&
                      candidates[i].layers.back() < costs.size(),
                  "a region of layers that the graph has, in order");
    if (candidates[i].cost < CostAlone(candidates[i], costs)) worth.push_back(i);
  }
  std::ranges::stable_sort(worth, {}, [&](std::size_t i) { return candidates[i].layers.front(); });
  return worth;
}

std::vector<Component> Split(const std::vector<std::size_t>& regions, std::span<const FusionCandidate> candidates,
                             std::size_t layers) {
  // Layers that some region connects, directly or over others.
  DisjointSets joined(layers);
  std::vector<bool> in_region(layers, false);
  for (std::size_t region : regions) {
    for (std::size_t layer : candidates[region].layers) {
      joined.Join(candidates[region].layers.front(), layer);
      in_region[layer] = true;
    }
  }
  std::vector<std::size_t> place(layers, kAlone);
  std::vector<Component> components;
  const auto component_of = [&](std::size_t layer) -> Component& {
    std::size_t& number = place[joined.Find(layer)];
    if (number == kAlone) {
      number = components.size();
      components.emplace_back();
    }
    return components[number];
  };
  for (std::size_t layer = 0; layer < layers; ++layer)
    if (in_region[layer]) component_of(layer).layers.push_back(layer);
  for (std::size_t region : regions) component_of(candidates[region].layers.front()).regions.push_back(region);
  return components;
}

}  // namespace

FusionChoice ChooseRegions(std::span<const Latency> layer_costs, std::span<const FusionCandidate> candidates,
                           std::size_t most_states) {
  FusionChoice choice;
  const std::vector<Component> components = Split(WorthWhile(layer_costs, candidates), candidates, layer_costs.size());
  std::vector<Latency> prices;
  Latency gain{0}, most_gain{0};
  FusionSolver solver(layer_costs, candidates, std::max<std::size_t>(most_states, 1));
  for (const Component& component : components) {
    Latency alone{0};
    for (std::size_t layer : component.layers) alone += layer_costs[layer];
    const FusionChoice part = solver.Solve(component);
    choice.chosen.insert(choice.chosen.end(), part.chosen.begin(), part.chosen.end());
    gain += alone - part.cost;
    if (part.exact) {
      most_gain += alone - part.cost;
      continue;
    }
    choice.exact = false;
    if (prices.empty()) prices = LayerPrices(layer_costs, candidates);
    Latency lower{0};
    for (std::size_t layer : component.layers) lower += prices[layer];
    most_gain += alone - std::min(lower, part.cost);
  }
  Latency sum{0};
  for (Latency cost : layer_costs) sum += cost;
  choice.cost = sum - gain;
  choice.lower = sum - most_gain;
  std::ranges::sort(choice.chosen, {}, [&](std::size_t i) { return candidates[i].layers.front(); });
  return choice;
}

std::vector<Latency> LayerPrices(std::span<const Latency> layer_costs, std::span<const FusionCandidate> candidates) {
  std::vector<Latency> prices(layer_costs.begin(), layer_costs.end());
  const std::vector<std::size_t> worth = WorthWhile(layer_costs, candidates);
  for (std::size_t region : worth) {
    const double share = candidates[region].cost / CostAlone(candidates[region], layer_costs);
    for (std::size_t layer : candidates[region].layers)
      prices[layer] = std::min(prices[layer], layer_costs[layer] * share);
  }
  std::vector<Latency> slack(candidates.size(), Latency(0));
  std::vector<std::pair<std::size_t, std::size_t>> uses;  // of a layer by a region
  for (std::size_t region : worth) {
    slack[region] = std::max(candidates[region].cost - CostAlone(candidates[region], prices), Latency(0));
    for (std::size_t layer : candidates[region].layers) uses.emplace_back(layer, region);
  }
  std::ranges::stable_sort(uses, {}, [](const auto& use) { return use.first; });
  for (auto begin = uses.begin(), end = begin; begin != uses.end(); begin = end) {
    const std::size_t layer = begin->first;
    Latency rise = layer_costs[layer] - prices[layer];
    for (end = begin; end != uses.end() && end->first == layer; ++end) rise = std::min(rise, slack[end->second]);
    if (!(rise > Latency(0))) continue;
    prices[layer] += rise;
    for (auto use = begin; use != end; ++use) slack[use->second] -= rise;
  }
  return prices;
}

}  // namespace infimum
