#include "analyzer/layouts/solver.h"

#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analyzer/layouts/problem_index.h"
#include "analyzer/layouts/solver_state.h"
#include "infimum/base/check.h"

namespace infimum {
namespace {

// The ways to bring a tensor from the layouts in which it exists into one more.
//
//   exists in {row-major}, wanted in channels last, reorders: row-major -> last 3, row-major -> blocked 1, blocked ->
//   last 1.5
//   routes   row-major -> last             costs 3,    exists in {row-major, last}
//            row-major -> blocked -> last  costs 2.5,  exists in {row-major, blocked, last}
//
// Of routes that end with the same layouts only the cheapest is kept, and none that costs no less than one that ends
// with all that it has.
struct LayoutRoute {
  using Step = std::array<std::uint8_t, 2>;  // from, to

  std::span<const Step> steps() const { return std::span(list).first(length); }

  std::uint8_t mask = 0;  // layouts in which the tensor exists afterwards, a bit each
  std::uint8_t length = 0;
  std::array<Step, kMostLayouts - 1> list = {};  // it goes over no layout twice
  Latency cost{0};
};

class LayoutRoutes {
 public:
  // `problem` lives longer.
  explicit LayoutRoutes(const LayoutProblem& problem) : problem_(problem), pairs_(2 * problem.tensors.size()) {}

  // For one of the problem's tensors, the cheapest first. One that changes nothing where it exists so already; none
  // where it does not exist at all.
  std::span<const LayoutRoute> To(std::size_t tensor, std::size_t layout, std::uint8_t mask);

 private:
  void Find(const LayoutTensor& tensor, std::size_t layout, const LayoutRoute& so_far);
  std::vector<LayoutRoute> Search(const LayoutTensor& tensor, std::size_t layout, std::uint8_t mask);

  const LayoutProblem& problem_;
  std::vector<LayoutRoute> pairs_;  // of tensors with two layouts, to 0 and to 1; without a step where never asked for
  std::unordered_map<std::size_t, std::vector<LayoutRoute>> searched_;  // by tensor, layout and mask
  std::vector<LayoutRoute> found_;                                      // of the search at hand
};

inline Latency ReorderCost(const LayoutTensor& tensor, std::size_t from, std::size_t to) {
  return tensor.reorder[from * tensor.layouts + to];
}

constexpr std::size_t kMasks = std::size_t{1} << kMostLayouts;

// By what exists already.
constexpr std::array<LayoutRoute, kMasks> kNothingToDo = [] {
  std::array<LayoutRoute, kMasks> routes;
  for (std::size_t mask = 0; mask < kMasks; ++mask) routes[mask].mask = static_cast<std::uint8_t>(mask);
  return routes;
}();

// Every simple path to `layout` from what exists, made backwards: `so_far` starts at the layout that is to be reached.
void LayoutRoutes::Find(const LayoutTensor& tensor, std::size_t layout, const LayoutRoute& so_far) {
  for (std::size_t from = 0; from < tensor.layouts; ++from) {
    if (from == layout) continue;
    const bool is_on_way = std::ranges::any_of(so_far.steps(), [&](const auto& step) { return step[1] == from; });
    if (is_on_way) continue;
    LayoutRoute route = so_far;
    route.list[route.length++] = {static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(layout)};
    route.cost += ReorderCost(tensor, from, layout);
    if ((so_far.mask >> from & 1) == 0) {
      Find(tensor, from, route);
      continue;
    }
    LayoutRoute forwards{route.mask, 0, {}, route.cost};
    for (std::size_t i = route.length; i-- > 0;) {
      forwards.list[forwards.length++] = route.list[i];
      forwards.mask = static_cast<std::uint8_t>(forwards.mask | 1u << route.list[i][1]);
    }
    found_.push_back(forwards);
  }
}

// Without those that cost no less than one that ends with all that they have.
std::vector<LayoutRoute> LayoutRoutes::Search(const LayoutTensor& tensor, std::size_t layout, std::uint8_t mask) {
  LayoutRoute start;
  start.mask = mask;
  found_.clear();
  Find(tensor, layout, start);
  std::ranges::stable_sort(found_, {}, &LayoutRoute::cost);
  std::vector<LayoutRoute> kept;
  for (const LayoutRoute& route : found_) {
    const auto has_all = [&](const LayoutRoute& cheaper) { return (route.mask & ~cheaper.mask) == 0; };
    if (std::ranges::none_of(kept, has_all)) kept.push_back(route);
  }
  return kept;
}

std::span<const LayoutRoute> LayoutRoutes::To(std::size_t tensor, std::size_t layout, std::uint8_t mask) {
  if (mask == 0) return {};
  if ((mask >> layout & 1) != 0) return std::span(&kNothingToDo[mask], 1);
  const LayoutTensor& described = problem_.tensors[tensor];
  if (described.layouts == 2) {
    // Which is what nearly all tensors have: there is one route.
    LayoutRoute& route = pairs_[2 * tensor + layout];
    if (route.length == 0) {
      const auto from = static_cast<std::uint8_t>(1 - layout);
      route = {std::uint8_t{3}, 1, {}, ReorderCost(described, from, layout)};
      route.list[0] = {from, static_cast<std::uint8_t>(layout)};
    }
    return std::span(&route, 1);
  }
  const auto [entry, is_new] = searched_.try_emplace((tensor * kMostLayouts + layout) * kMasks + mask);
  if (is_new) entry->second = Search(described, layout, mask);
  return entry->second;
}

// States that each one is compared with: the cheapest ones dominate the most.
constexpr std::size_t kCompared = 4;
// Of one node: more are cut down to the cheapest.
constexpr std::size_t kMostWays = 64;

// Straight to `to`, from the best of the orders in `mask`.
Latency LeastReorder(const LayoutTensor& tensor, std::uint8_t mask, std::size_t to) {
  Latency least{std::numeric_limits<double>::infinity()};
  for (std::size_t from = 0; from < tensor.layouts; ++from)
    if ((mask >> from & 1) != 0) least = std::min(least, ReorderCost(tensor, from, to));
  return least;
}

// One way to have run the layers so far.
struct LayoutStep {
  std::size_t before = 0;
  ChosenNode chosen;
  std::uint32_t way = 0;  // of ForEachWay
};

class LayoutSolver {
 public:
  LayoutSolver(const ProblemIndex& index, std::size_t most_states)
      : index_(index), problem_(index.problem), most_states_(most_states), slots_(index), routes_(index.problem) {}

  // Appends the component's nodes to `choice`.
  void Solve(const LayoutComponent& component, LayoutChoice& choice) {
    slots_.Assign(component);
    pending_.Clear();
    exact_ = true;
    steps_.assign(1, LayoutStep{0, {ProblemIndex::kNone, 0}, 0});
    states_ = {{Latency(0), 0, 0, {ProblemIndex::kNone, 0}, 0}};
    masks_.assign(slots_.count(), 0);
    SetGiven(component, masks_);
    std::size_t next_region = 0;
    for (std::size_t layer : component.layers) {
      std::size_t end_region = next_region;
      while (end_region < component.regions.size() && First(component.regions[end_region]) == layer) ++end_region;
      slots_.Enter(layer);
      next_.clear();
      next_masks_.clear();
      for (std::size_t i = 0; i < states_.size(); ++i)
        Continue(i, layer, std::span(component.regions).subspan(next_region, end_region - next_region));
      next_region = end_region;
      INFIMUM_CHECK(!next_.empty(), "running every layer alone is always possible");
      Forget(layer);
      Reduce(choice);
    }
    Finish(component, choice);
  }

 private:
  struct State {
    Latency cost{0};
    std::uint32_t pending = 0;  // regions that have layers to come
    std::size_t step = 0;       // that it comes from
    ChosenNode chosen;          // at the last layer, not yet recorded; ProblemIndex::kNone: nothing
    std::uint32_t way = 0;
  };

  std::size_t First(std::size_t region) const { return problem_.nodes[region].layers.front(); }
  std::size_t Last(std::size_t region) const { return problem_.nodes[region].layers.back(); }

  void SetGiven(const LayoutComponent& component, std::vector<std::uint8_t>& masks) const {
    for (std::size_t tensor : component.tensors)
      if (problem_.tensors[tensor].is_given) masks[slots_.Of(tensor)] = 1;
  }

  bool Overlaps(std::size_t region, std::span<const std::size_t> pending) const {
    const std::vector<std::size_t>& layers = problem_.nodes[region].layers;
    return std::ranges::any_of(pending, [&](std::size_t other) {
      return std::ranges::any_of(
          layers, [&](std::size_t layer) { return std::ranges::binary_search(problem_.nodes[other].layers, layer); });
    });
  }

  void Continue(std::size_t i, std::size_t layer, std::span<const std::size_t> starting) {
    const std::uint32_t before = states_[i].pending;
    const std::span<const std::size_t> pending = pending_[before];
    const auto taken = std::ranges::find_if(
        pending, [&](std::size_t region) { return std::ranges::binary_search(problem_.nodes[region].layers, layer); });
    if (taken != pending.end()) {
      Take(i, *taken, layer, Last(*taken) == layer ? pending_.Without(before, *taken) : before);
      return;
    }
    const std::size_t alone = index_.single[layer];
    for (std::size_t option = 0; option < problem_.nodes[alone].options.size(); ++option)
      Run(i, {alone, option}, before);
    for (std::size_t region : starting)
      if (!Overlaps(region, pending))
        Take(i, region, layer, Last(region) == layer ? before : pending_.With(before, region));
  }

  // A region's turn at one of its layers.
  void Take(std::size_t i, std::size_t region, std::size_t layer, std::uint32_t after) {
    if (index_.runs_after[region] != layer) {
      next_.push_back({states_[i].cost, after, states_[i].step, {ProblemIndex::kNone, 0}, 0});
      next_masks_.insert(next_masks_.end(), masks_.begin() + Offset(i), masks_.begin() + Offset(i + 1));
      return;
    }
    for (std::size_t option = 0; option < problem_.nodes[region].options.size(); ++option)
      Run(i, {region, option}, after);
  }

  std::ptrdiff_t Offset(std::size_t state) const { return static_cast<std::ptrdiff_t>(state * slots_.count()); }

  // The routes that are worth a try for one operand: where nothing reads the tensor later, the cheapest.
  std::span<const LayoutRoute> RoutesOf(std::size_t node, std::size_t k, std::size_t layout, std::uint8_t mask) {
    const std::size_t tensor = problem_.nodes[node].reads[k];
    const std::span<const LayoutRoute> routes = routes_.To(tensor, layout, mask);
    const bool is_last = index_.last_use[tensor] <= index_.runs_after[node];
    return is_last && routes.size() > 1 ? routes.first(1) : routes;
  }

  // Calls `emit(cost)` for every way to run a node on tensors that exist as `masks` say, with `masks` as it leaves
  // them and `way_` the routes of its operands; puts `masks` back. What reads a tensor that is not made yet has none.
  template <class Emit>
  void ForEachWay(const ChosenNode& chosen, std::size_t k, std::uint8_t* masks, Latency cost, bool only_cheapest,
                  const Emit& emit) {
    const LayoutNode& node = problem_.nodes[chosen.node];
    const LayoutOption& option = node.options[chosen.option];
    while (k < node.reads.size() && problem_.tensors[node.reads[k]].layouts == 1) ++k;
    if (k == node.reads.size()) {
      kept_masks_.assign(masks, masks + slots_.count());
      for (std::size_t i = 0; i < node.writes.size(); ++i)
        if (problem_.tensors[node.writes[i]].layouts > 1)
          masks[slots_.Of(node.writes[i])] = static_cast<std::uint8_t>(1u << option.writes[i]);
      emit(cost + option.cost);
      std::ranges::copy(kept_masks_, masks);
      return;
    }
    std::uint8_t& mask = masks[slots_.Of(node.reads[k])];
    const std::uint8_t before = mask;
    std::span<const LayoutRoute> routes = RoutesOf(chosen.node, k, option.reads[k], before);
    if (only_cheapest && routes.size() > 1) routes = routes.first(1);
    for (const LayoutRoute& route : routes) {
      mask = route.mask;
      way_.push_back(&route - routes.data());
      ForEachWay(chosen, k + 1, masks, cost + route.cost, only_cheapest, emit);
      way_.pop_back();
    }
    mask = before;
  }

  // Whether there are too many ways to go through all of them.
  bool HasManyWays(const ChosenNode& chosen, const std::uint8_t* masks) {
    const LayoutNode& node = problem_.nodes[chosen.node];
    std::size_t ways = 1;
    for (std::size_t k = 0; k < node.reads.size() && ways <= kMostWays; ++k) {
      if (problem_.tensors[node.reads[k]].layouts == 1) continue;
      const std::uint8_t layout = node.options[chosen.option].reads[k];
      ways *= std::max<std::size_t>(RoutesOf(chosen.node, k, layout, masks[slots_.Of(node.reads[k])]).size(), 1);
    }
    return ways > kMostWays;
  }

  void Run(std::size_t i, const ChosenNode& chosen, std::uint32_t pending) {
    work_masks_.assign(masks_.begin() + Offset(i), masks_.begin() + Offset(i + 1));
    const bool only_cheapest = HasManyWays(chosen, work_masks_.data());
    exact_ &= !only_cheapest;
    std::uint32_t way = 0;
    ForEachWay(chosen, 0, work_masks_.data(), states_[i].cost, only_cheapest, [&](Latency cost) {
      next_masks_.insert(next_masks_.end(), work_masks_.begin(), work_masks_.end());
      next_.push_back({cost, pending, states_[i].step, chosen, way++});
    });
  }

  // Tensors that were read for the last time make no difference any more.
  void Forget(std::size_t layer) {
    for (const LayoutSlots::Turn& end : slots_.Leave(layer))
      for (std::size_t i = 0; i < next_.size(); ++i) next_masks_[i * slots_.count() + end.slot] = 0;
  }

  // What it costs to have all that `wanted` has; nothing where it already does.
  Latency Completion(const std::uint8_t* have, const std::uint8_t* wanted, Latency most) const {
    Latency cost{0};
    for (std::size_t slot = 0; slot < slots_.count() && !(cost > most); ++slot) {
      const auto lacking = static_cast<std::uint8_t>(wanted[slot] & ~have[slot]);
      if (lacking == 0) continue;
      const LayoutTensor& tensor = problem_.tensors[slots_.TensorIn(slot)];
      if (have[slot] == 0) return Latency(std::numeric_limits<double>::infinity());
      for (std::size_t to = 0; to < tensor.layouts; ++to)
        if ((lacking >> to & 1) != 0) cost += LeastReorder(tensor, have[slot], to);
    }
    return cost;
  }

  // Of equal states the cheapest, without those that another one can become at no higher cost.
  void Reduce(LayoutChoice& choice) {
    order_.resize(next_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    const auto masks = [&](std::size_t i) { return next_masks_.data() + i * slots_.count(); };
    std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
      if (next_[a].pending != next_[b].pending) return next_[a].pending < next_[b].pending;
      if (next_[a].cost != next_[b].cost) return next_[a].cost < next_[b].cost;
      return slots_.count() > 0 && std::memcmp(masks(a), masks(b), slots_.count()) < 0;
    });
    kept_.clear();
    std::size_t group = 0;  // where the kept ones of the same pending regions begin
    for (std::size_t i : order_) {
      if (group < kept_.size() && next_[kept_[group]].pending != next_[i].pending) group = kept_.size();
      bool is_dominated = false;
      for (std::size_t k = group; k < std::min(kept_.size(), group + kCompared) && !is_dominated; ++k) {
        const Latency room = next_[i].cost - next_[kept_[k]].cost;
        is_dominated = !(Completion(masks(kept_[k]), masks(i), room) > room);
      }
      if (!is_dominated) kept_.push_back(i);
    }
    if (kept_.size() > most_states_) {
      choice.exact = false;
      std::ranges::nth_element(kept_, kept_.begin() + static_cast<std::ptrdiff_t>(most_states_), {},
                               [&](std::size_t i) { return Outlook(next_[i]); });
      kept_.resize(most_states_);
    }
    states_.clear();
    masks_.clear();
    for (std::size_t i : kept_) {
      State state = next_[i];
      state.pending = pending_.Keep(state.pending);
      if (state.chosen.node != ProblemIndex::kNone) {
        steps_.push_back({state.step, state.chosen, state.way});
        state.step = steps_.size() - 1;
      }
      states_.push_back(state);
      masks_.insert(masks_.end(), masks(i), masks(i) + slots_.count());
    }
    pending_.ForgetOthers();
  }

  // To compare states with different regions under way: what of these is paid for is no loss.
  Latency Outlook(const State& state) const {
    Latency cost = state.cost;
    for (std::size_t region : pending_[state.pending])
      for (std::size_t layer : problem_.nodes[region].layers) cost -= BestCost(problem_.nodes[index_.single[layer]]);
    return cost;
  }

  // The cheapest way to the end, with row-major outputs.
  void Finish(const LayoutComponent& component, LayoutChoice& choice) {
    std::vector<std::size_t> outputs;
    for (std::size_t tensor : component.tensors)
      if (problem_.tensors[tensor].is_output) outputs.push_back(tensor);
    std::size_t best = ProblemIndex::kNone;
    Latency least{0};
    for (std::size_t i = 0; i < states_.size(); ++i) {
      Latency cost = states_[i].cost;
      ForEachOutput(outputs, masks_.data() + i * slots_.count(),
                    [&](std::size_t, const LayoutRoute& route) { cost += route.cost; });
      if (best != ProblemIndex::kNone && !(cost < least)) continue;
      best = i;
      least = cost;
    }
    std::vector<std::size_t> steps;
    for (std::size_t step = states_[best].step; step != 0; step = steps_[step].before) steps.push_back(step);
    std::ranges::reverse(steps);
    // Once more along it, to collect the reorders.
    work_masks_.assign(slots_.count(), 0);
    SetGiven(component, work_masks_);
    for (std::size_t step : steps) Repeat(steps_[step], choice);
    ForEachOutput(outputs, work_masks_.data(), [&](std::size_t tensor, const LayoutRoute& route) {
      Record(tensor, problem_.nodes.size(), route, choice);
    });
    choice.cost += least;
    choice.exact &= exact_;
  }

  void Repeat(const LayoutStep& step, LayoutChoice& choice) {
    const LayoutNode& node = problem_.nodes[step.chosen.node];
    const std::vector<std::uint8_t> before = work_masks_;
    std::vector<std::uint8_t> after;
    std::uint32_t way = 0;
    ForEachWay(step.chosen, 0, work_masks_.data(), Latency(0), HasManyWays(step.chosen, work_masks_.data()),
               [&](Latency) {
                 if (way++ != step.way) return;
                 after = work_masks_;
                 std::size_t place = 0;
                 for (std::size_t k = 0; k < node.reads.size(); ++k) {
                   if (problem_.tensors[node.reads[k]].layouts == 1) continue;
                   const std::uint8_t layout = node.options[step.chosen.option].reads[k];
                   const auto routes = RoutesOf(step.chosen.node, k, layout, before[slots_.Of(node.reads[k])]);
                   Record(node.reads[k], step.chosen.node, routes[way_[place++]], choice);
                 }
               });
    work_masks_ = std::move(after);
    choice.chosen.push_back(step.chosen);
  }

  void Record(std::size_t tensor, std::size_t node, const LayoutRoute& route, LayoutChoice& choice) const {
    for (const auto& [from, to] : route.steps()) choice.reorders.push_back({tensor, from, to, node});
    choice.reordering += route.cost;
  }

  template <class Visit>
  void ForEachOutput(const std::vector<std::size_t>& outputs, const std::uint8_t* masks, const Visit& visit) {
    for (std::size_t tensor : outputs)
      if (const std::uint8_t mask = masks[slots_.Of(tensor)]; mask != 0)
        visit(tensor, routes_.To(tensor, 0, mask).front());
  }

  const ProblemIndex& index_;
  const LayoutProblem& problem_;
  std::size_t most_states_;
  LayoutSlots slots_;
  PendingRegions pending_;
  std::vector<LayoutStep> steps_;
  // States after the layers so far, and of each the orders in which the tensors in the slots exist.
  std::vector<State> states_, next_;
  std::vector<std::uint8_t> masks_, next_masks_;
  std::vector<std::size_t> order_, kept_;
  LayoutRoutes routes_;
  std::vector<std::ptrdiff_t> way_;  // of the operands under way
  std::vector<std::uint8_t> work_masks_, kept_masks_;
  bool exact_ = true;
};

}  // namespace

LayoutChoice ChooseLayouts(const LayoutProblem& problem, std::size_t most_states) {
  const ProblemIndex index(problem);
  LayoutChoice choice;
  choice.exact = index.exact;
  LayoutSolver solver(index, std::max<std::size_t>(most_states, 1));
  for (const LayoutComponent& component : SplitLayouts(index))
    if (!component.layers.empty()) solver.Solve(component, choice);
  // Components were solved one after the other; a program runs their nodes as their operands come.
  const auto turn = [&](std::size_t node) {
    return node < problem.nodes.size() ? index.runs_after[node] : problem.layers;
  };
  std::ranges::stable_sort(choice.chosen, {}, [&](const ChosenNode& chosen) { return turn(chosen.node); });
  std::ranges::stable_sort(choice.reorders, {}, [&](const ChosenReorder& reorder) { return turn(reorder.node); });
  return choice;
}

}  // namespace infimum
