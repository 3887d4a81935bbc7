#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <set>

#include "analyzer/bounds/fusion_choice.h"
#include "analyzer/layouts/solver.h"

namespace infimum::layout_solver_test {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<Latency> Costs(std::initializer_list<double> costs) {
  std::vector<Latency> result;
  for (double cost : costs) result.emplace_back(cost);
  return result;
}

LayoutTensor Between(double cost) { return {2, Costs({0, cost, cost, 0}), false, false}; }

LayoutProblem WorkedExample() {
  LayoutProblem problem;
  problem.layers = 3;
  problem.tensors = {Between(1.5), Between(1.5), Between(1.5), Between(1.5)};
  problem.tensors[0].is_given = problem.tensors[3].is_output = true;
  problem.nodes = {{{0}, {0}, {1}, {{Latency(10), {0}, {1}}, {Latency(12), {0}, {0}}}},
                   {{1}, {1}, {2}, {{Latency(3), {0}, {0}}}},
                   {{2}, {2}, {3}, {{Latency(10), {1}, {1}}, {Latency(11), {0}, {0}}}}};
  return problem;
}

TEST(LayoutChoice, TheWorkedExample) {
  const LayoutChoice choice = ChooseLayouts(WorkedExample());
  EXPECT_DOUBLE_EQ(choice.cost.count(), 25.5);
  EXPECT_DOUBLE_EQ(choice.reordering.count(), 1.5);
  EXPECT_TRUE(choice.exact);
  ASSERT_EQ(choice.chosen.size(), 3u);
  EXPECT_EQ(choice.chosen[0].option, 0u);
  EXPECT_EQ(choice.chosen[2].option, 1u);
  ASSERT_EQ(choice.reorders.size(), 1u);
  EXPECT_EQ(choice.reorders[0].tensor, 1u);
  EXPECT_EQ(choice.reorders[0].from, 1u);
  EXPECT_EQ(choice.reorders[0].to, 0u);
  EXPECT_EQ(choice.reorders[0].node, 1u);
}

TEST(LayoutChoice, ACopyServesAllLaterReaders) {
  LayoutProblem problem;
  problem.layers = 4;
  problem.tensors = {Between(5)};
  problem.nodes = {{{0}, {}, {0}, {{Latency(1), {}, {1}}, {Latency(8), {}, {0}}}},
                   {{1}, {0}, {}, {{Latency(1), {0}, {}}}},
                   {{2}, {0}, {}, {{Latency(1), {0}, {}}}},
                   {{3}, {0}, {}, {{Latency(1), {1}, {}}}}};
  const LayoutChoice choice = ChooseLayouts(problem);
  EXPECT_DOUBLE_EQ(choice.cost.count(), 1 + 5 + 3);
  EXPECT_EQ(choice.reorders.size(), 1u);
}

TEST(LayoutChoice, AReorderMayGoOverAnotherLayoutThatIsNeededLater) {
  LayoutProblem problem;
  problem.layers = 3;
  // Straight 10; over the third layout 6 + 6, which the last layer wants anyway.
  problem.tensors = {{3, Costs({0, 10, 6, 10, 0, 6, 6, 6, 0}), true, false}};
  problem.nodes = {{{0}, {0}, {}, {{Latency(1), {0}, {}}}},
                   {{1}, {0}, {}, {{Latency(1), {1}, {}}}},
                   {{2}, {0}, {}, {{Latency(1), {2}, {}}}}};
  EXPECT_DOUBLE_EQ(ChooseLayouts(problem).cost.count(), 3 + 12);
}

TEST(LayoutChoice, ARegionMayWinBySparingAReorder) {
  LayoutProblem problem = WorkedExample();
  // Dearer than its layers, but it reads and writes row-major.
  problem.nodes.push_back({{0, 1}, {0}, {2}, {{Latency(14), {0}, {1}}}});
  const LayoutChoice choice = ChooseLayouts(problem);
  EXPECT_DOUBLE_EQ(choice.cost.count(), 14 + 10 + 1.5);
  ASSERT_EQ(choice.chosen.size(), 2u);
  EXPECT_EQ(choice.chosen[0].node, 3u);
}

TEST(LayoutChoice, ANodeMayHaveManyTensors) {
  LayoutProblem problem;
  problem.layers = 1;
  problem.nodes = {{{0}, {}, {}, {{Latency(5), {}, {}}}}};
  for (std::size_t i = 0; i < 20; ++i) {
    problem.tensors.push_back(Between(1 + static_cast<double>(i)));
    problem.tensors.back().is_given = true;
    problem.nodes[0].reads.push_back(i);
    problem.nodes[0].options[0].reads.push_back(i % 2 == 1 ? 1 : 0);
    EXPECT_EQ(problem.nodes[0].options[0].reads.size(), i + 1);
  }
  const LayoutChoice choice = ChooseLayouts(problem);
  EXPECT_DOUBLE_EQ(choice.cost.count(), 5 + 2 + 4 + 6 + 8 + 10 + 12 + 14 + 16 + 18 + 20);
  EXPECT_EQ(choice.reorders.size(), 10u);
}

TEST(LayoutChoice, OfNothingIsNothing) {
  const LayoutChoice choice = ChooseLayouts({});
  EXPECT_EQ(choice.cost, Latency(0));
  EXPECT_TRUE(choice.exact && choice.chosen.empty() && choice.reorders.empty());
}

// A graph of layers that read what earlier ones write, and convex regions of it.
LayoutProblem Random(std::uint64_t seed, std::size_t most_layers, std::size_t most_regions, std::size_t most_layouts) {
  std::mt19937_64 random(seed);
  const auto amount = [&](std::uint64_t most) { return static_cast<double>(random() % (most + 1)); };
  LayoutProblem problem;
  problem.layers = 1 + random() % most_layers;
  const auto add_tensor = [&] {
    LayoutTensor tensor;
    tensor.layouts = 1 + random() % most_layouts;
    if (tensor.layouts > 1) {
      for (std::size_t from = 0; from < tensor.layouts; ++from)
        for (std::size_t to = 0; to < tensor.layouts; ++to) tensor.reorder.emplace_back(from == to ? 0.0 : amount(12));
    }
    problem.tensors.push_back(tensor);
    return problem.tensors.size() - 1;
  };
  problem.tensors[add_tensor()].is_given = true;
  const auto add_options = [&](LayoutNode& node, double most) {
    for (std::size_t count = 1 + random() % 3; count > 0; --count) {
      LayoutOption option{Latency(amount(static_cast<std::uint64_t>(most))), {}, {}};
      for (std::size_t tensor : node.reads)
        option.reads.push_back(static_cast<std::uint8_t>(random() % problem.tensors[tensor].layouts));
      for (std::size_t tensor : node.writes)
        option.writes.push_back(static_cast<std::uint8_t>(random() % problem.tensors[tensor].layouts));
      node.options.push_back(option);
    }
  };
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    LayoutNode node{{layer}, {}, {}, {}};
    std::set<std::size_t> reads;
    for (std::size_t count = 1 + random() % 2; count > 0; --count) {
      const std::size_t back = random() % std::min<std::size_t>(problem.tensors.size(), 4);
      reads.insert(problem.tensors.size() - 1 - back);
    }
    node.reads.assign(reads.begin(), reads.end());
    node.writes = {add_tensor()};
    if (random() % 6 == 0) node.writes.push_back(add_tensor());
    add_options(node, 20);
    problem.nodes.push_back(std::move(node));
  }
  for (LayoutTensor& tensor : problem.tensors) tensor.is_output = !tensor.is_given && random() % 6 == 0;
  // Which layer reaches which.
  std::vector<std::vector<bool>> reaches(problem.layers, std::vector<bool>(problem.layers, false));
  for (std::size_t to = 0; to < problem.layers; ++to)
    for (std::size_t from = 0; from < to; ++from) {
      bool edge = false;
      for (std::size_t tensor : problem.nodes[from].writes)
        edge |= std::ranges::count(problem.nodes[to].reads, tensor) > 0;
      if (!edge) continue;
      for (std::size_t before = 0; before <= from; ++before)
        if (before == from || reaches[before][from]) reaches[before][to] = true;
    }
  for (std::size_t count = random() % (most_regions + 1); count > 0; --count) {
    std::set<std::size_t> members{random() % problem.layers};
    for (std::size_t more = 1 + random() % 3; more > 0; --more)
      members.insert(std::min(*members.begin() + random() % 4, problem.layers - 1));
    if (members.size() < 2) continue;
    bool convex = true;
    for (std::size_t a : members)
      for (std::size_t b : members)
        for (std::size_t x = 0; x < problem.layers; ++x)
          convex &= members.count(x) > 0 || !(reaches[a][x] && reaches[x][b]);
    if (!convex) continue;
    LayoutNode node{{members.begin(), members.end()}, {}, {}, {}};
    std::set<std::size_t> reads, writes;
    for (std::size_t layer : members) {
      for (std::size_t tensor : problem.nodes[layer].writes) {
        bool is_needed = problem.tensors[tensor].is_output;
        for (std::size_t other = 0; other < problem.layers; ++other)
          is_needed |= members.count(other) == 0 && std::ranges::count(problem.nodes[other].reads, tensor) > 0;
        if (is_needed) writes.insert(tensor);
      }
      for (std::size_t tensor : problem.nodes[layer].reads) {
        bool is_inner = false;
        for (std::size_t other : members) is_inner |= std::ranges::count(problem.nodes[other].writes, tensor) > 0;
        if (!is_inner) reads.insert(tensor);
      }
    }
    node.reads.assign(reads.begin(), reads.end());
    node.writes.assign(writes.begin(), writes.end());
    add_options(node, 20 * static_cast<double>(members.size()));
    problem.nodes.push_back(std::move(node));
  }
  return problem;
}

// The least cost of making all layouts in `wanted` from those in `mask`, one copy after the other.
double LeastToMake(const LayoutTensor& tensor, unsigned mask, unsigned wanted) {
  std::vector<double> least(std::size_t{1} << tensor.layouts, kInfinite);
  least[mask] = 0;
  double best = kInfinite;
  for (unsigned set = 0; set < least.size(); ++set) {  // copies only add layouts: ascending sets are a valid order
    if (least[set] == kInfinite) continue;
    if ((wanted & ~set) == 0) best = std::min(best, least[set]);
    for (std::size_t from = 0; from < tensor.layouts; ++from)
      for (std::size_t to = 0; to < tensor.layouts; ++to)
        if ((set >> from & 1) != 0 && (set >> to & 1) == 0)
          least[set | 1u << to] =
              std::min(least[set | 1u << to], least[set] + tensor.reorder[from * tensor.layouts + to].count());
  }
  return best;
}

bool CanRun(const LayoutProblem& problem, const std::vector<std::size_t>& nodes) {
  std::vector<bool> made(problem.tensors.size(), false), done(nodes.size(), false);
  std::set<std::size_t> written;
  for (const LayoutNode& node : problem.nodes) written.insert(node.writes.begin(), node.writes.end());
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = written.count(i) == 0;
  for (std::size_t round = 0; round < nodes.size(); ++round)
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const LayoutNode& node = problem.nodes[nodes[i]];
      if (done[i] || !std::ranges::all_of(node.reads, [&](std::size_t tensor) { return made[tensor]; })) continue;
      done[i] = true;
      for (std::size_t tensor : node.writes) made[tensor] = true;
    }
  return std::ranges::all_of(done, [](bool is_done) { return is_done; });
}

// What a selection with its options costs: the order in which it runs makes no difference.
double CostOf(const LayoutProblem& problem, const std::vector<ChosenNode>& chosen) {
  std::vector<unsigned> there(problem.tensors.size(), 0), wanted(problem.tensors.size(), 0);
  double cost = 0;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) there[i] = problem.tensors[i].is_given ? 1 : 0;
  for (const ChosenNode& choice : chosen) {
    const LayoutNode& node = problem.nodes[choice.node];
    const LayoutOption& option = node.options[choice.option];
    cost += option.cost.count();
    for (std::size_t k = 0; k < node.reads.size(); ++k) wanted[node.reads[k]] |= 1u << option.reads[k];
    for (std::size_t k = 0; k < node.writes.size(); ++k) {
      there[node.writes[k]] = 1u << option.writes[k];
      if (problem.tensors[node.writes[k]].is_output) wanted[node.writes[k]] |= 1;
    }
  }
  for (std::size_t i = 0; i < problem.tensors.size(); ++i)
    if (wanted[i] != 0) cost += LeastToMake(problem.tensors[i], there[i], wanted[i]);
  return cost;
}

double BruteForce(const LayoutProblem& problem) {
  double best = kInfinite;
  std::vector<ChosenNode> chosen;
  std::vector<bool> taken(problem.layers, false);
  const std::function<void(std::size_t)> options = [&](std::size_t place) {
    if (place == chosen.size()) {
      best = std::min(best, CostOf(problem, chosen));
      return;
    }
    for (std::size_t i = 0; i < problem.nodes[chosen[place].node].options.size(); ++i) {
      chosen[place].option = i;
      options(place + 1);
    }
  };
  const std::function<void(std::size_t)> select = [&](std::size_t layer) {
    while (layer < problem.layers && taken[layer]) ++layer;
    if (layer == problem.layers) {
      std::vector<std::size_t> nodes;
      for (const ChosenNode& choice : chosen) nodes.push_back(choice.node);
      if (CanRun(problem, nodes)) options(0);
      return;
    }
    for (std::size_t node = 0; node < problem.nodes.size(); ++node) {
      const std::vector<std::size_t>& layers = problem.nodes[node].layers;
      if (layers[0] != layer || std::ranges::any_of(layers, [&](std::size_t one) { return taken[one]; })) continue;
      for (std::size_t one : layers) taken[one] = true;
      chosen.push_back({node, 0});
      select(layer + 1);
      chosen.pop_back();
      for (std::size_t one : layers) taken[one] = false;
    }
  };
  select(0);
  return best;
}

// What the choice says about itself is true.
void ExpectConsistent(const LayoutProblem& problem, const LayoutChoice& choice) {
  std::vector<std::size_t> layers;
  std::vector<unsigned> there(problem.tensors.size(), 0);
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = problem.tensors[i].is_given ? 1 : 0;
  double cost = 0;
  std::size_t next = 0;
  const auto change = [&](std::size_t node) {
    for (; next < choice.reorders.size() && choice.reorders[next].node == node; ++next) {
      const ChosenReorder& made = choice.reorders[next];
      const LayoutTensor& tensor = problem.tensors[made.tensor];
      EXPECT_NE(there[made.tensor] >> made.from & 1, 0u);
      there[made.tensor] |= 1u << made.to;
      cost += tensor.reorder[made.from * tensor.layouts + made.to].count();
    }
  };
  for (const ChosenNode& chosen : choice.chosen) {
    const LayoutNode& node = problem.nodes[chosen.node];
    const LayoutOption& option = node.options[chosen.option];
    layers.insert(layers.end(), node.layers.begin(), node.layers.end());
    change(chosen.node);
    for (std::size_t k = 0; k < node.reads.size(); ++k) {
      const bool is_there =
          problem.tensors[node.reads[k]].layouts == 1 || (there[node.reads[k]] >> option.reads[k] & 1);
      EXPECT_TRUE(is_there) << "node " << chosen.node << " reads what is not there";
    }
    for (std::size_t k = 0; k < node.writes.size(); ++k) there[node.writes[k]] = 1u << option.writes[k];
    cost += option.cost.count();
  }
  change(problem.nodes.size());
  EXPECT_EQ(next, choice.reorders.size());
  EXPECT_NEAR(cost, choice.cost.count(), 1e-9);
  std::ranges::sort(layers);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < problem.layers; ++i) all.push_back(i);
  EXPECT_EQ(layers, all);
}

TEST(LayoutChoice, IsTheBestOfAllSelectionsAndOptions) {
  int exact = 0, with_regions = 0, with_reorders = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const LayoutProblem problem = Random(seed, 6, 3, 3);
    const LayoutChoice choice = ChooseLayouts(problem);
    const double best = BruteForce(problem);
    SCOPED_TRACE(seed);
    ExpectConsistent(problem, choice);
    if (choice.exact) {
      ASSERT_NEAR(choice.cost.count(), best, 1e-9);
      ++exact;
    } else {
      ASSERT_GE(choice.cost.count(), best - 1e-9);
    }
    with_regions += choice.chosen.size() < problem.layers;
    with_reorders += !choice.reorders.empty();
  }
  EXPECT_GT(exact, 5700);
  EXPECT_GT(with_regions, 600);
  EXPECT_GT(with_reorders, 2000);
}

TEST(LayoutChoice, OfFourLayoutsIsTheBestToo) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const LayoutProblem problem = Random(seed, 5, 0, 4);
    const LayoutChoice choice = ChooseLayouts(problem);
    ASSERT_TRUE(choice.exact);
    ASSERT_NEAR(choice.cost.count(), BruteForce(problem), 1e-9) << seed;
  }
}

// Where every tensor has one layout, it is the choice of regions; where it has several, never below that.
TEST(LayoutChoice, IsNeverBelowTheChoiceOfRegions) {
  int equal = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const LayoutProblem problem = Random(seed, 40, 12, seed % 2 == 0 ? 1 : 3);
    std::vector<Latency> costs;
    std::vector<FusionCandidate> regions;
    for (const LayoutNode& node : problem.nodes) {
      Latency best = node.options[0].cost;
      for (const LayoutOption& option : node.options) best = std::min(best, option.cost);
      if (node.layers.size() == 1) {
        costs.push_back(best);
      } else {
        regions.push_back({node.layers, best});
      }
    }
    const FusionChoice fused = ChooseRegions(costs, regions);
    const LayoutChoice choice = ChooseLayouts(problem);
    SCOPED_TRACE(seed);
    ExpectConsistent(problem, choice);
    ASSERT_GE(choice.cost.count(), fused.cost.count() - 1e-9);
    if (seed % 2 == 0 && choice.exact) {
      ASSERT_NEAR(choice.cost.count(), fused.cost.count(), 1e-9);
      ++equal;
    }
  }
  EXPECT_GT(equal, 1000);
}

TEST(LayoutChoice, CutOffIsStillASelection) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const LayoutProblem problem = Random(seed, 30, 10, 4);
    const LayoutChoice choice = ChooseLayouts(problem, 1), best = ChooseLayouts(problem);
    SCOPED_TRACE(seed);
    ExpectConsistent(problem, choice);
    EXPECT_GE(choice.cost.count(), best.cost.count() - 1e-9);
  }
}

}  // namespace
}  // namespace infimum::layout_solver_test
