#include "analyzer/bounds/fusion_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace infimum::fusion_choice_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Latency> Costs(std::initializer_list<double> costs) {
  std::vector<Latency> result;
  for (double cost : costs) result.emplace_back(cost);
  return result;
}

TEST(FusionChoice, TheWorkedExample) {
  const std::vector<Latency> costs = Costs({10, 2, 3, 2});
  const std::vector<FusionCandidate> candidates = {
      {{0, 1}, Latency(10.5)}, {{0, 1, 2}, Latency(14)}, {{2, 3}, Latency(4)}};
  const FusionChoice choice = ChooseRegions(costs, candidates);
  EXPECT_THAT(choice.chosen, ElementsAre(0, 2));
  EXPECT_DOUBLE_EQ(choice.cost.count(), 14.5);
  EXPECT_EQ(choice.lower, choice.cost);
  EXPECT_TRUE(choice.exact);
}

TEST(FusionChoice, ARegionThatWinsNothingIsNotChosen) {
  const FusionChoice choice = ChooseRegions(Costs({1, 1}), std::vector<FusionCandidate>{{{0, 1}, Latency(2)}});
  EXPECT_THAT(choice.chosen, IsEmpty());
  EXPECT_EQ(choice.cost, Latency(2));
}

TEST(FusionChoice, OfTwoRegionsThatShareALayerTheBetterSelectionIsNotTheGreedyOne) {
  // {1, 2} saves most by itself; {0, 1} and {2, 3} save more together.
  const FusionChoice choice =
      ChooseRegions(Costs({10, 10, 10, 10}),
                    std::vector<FusionCandidate>{{{1, 2}, Latency(10)}, {{0, 1}, Latency(13)}, {{2, 3}, Latency(13)}});
  EXPECT_THAT(choice.chosen, ElementsAre(1, 2));
  EXPECT_EQ(choice.cost, Latency(26));
}

TEST(FusionChoice, WithoutLayersThereIsNothingToChoose) {
  const FusionChoice choice = ChooseRegions({}, {});
  EXPECT_EQ(choice.cost, Latency(0));
  EXPECT_TRUE(choice.exact);
}

struct Instance {
  std::vector<Latency> costs;
  std::vector<FusionCandidate> candidates;
};

Instance Random(std::uint64_t seed, std::size_t most_layers, std::size_t most_regions) {
  std::mt19937_64 random(seed);
  Instance instance;
  const std::size_t layers = 1 + random() % most_layers;
  for (std::size_t i = 0; i < layers; ++i)
    instance.costs.emplace_back(random() % 5 == 0 ? 0.0 : static_cast<double>(1 + random() % 100));
  const std::size_t regions = random() % (most_regions + 1);
  for (std::size_t i = 0; i < regions; ++i) {
    FusionCandidate candidate;
    double sum = 0;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      if (random() % 3 != 0 || candidate.layers.size() == 5) continue;
      candidate.layers.push_back(layer);
      sum += instance.costs[layer].count();
    }
    if (candidate.layers.empty()) continue;
    candidate.cost = Latency(sum * (0.4 + 0.01 * static_cast<double>(random() % 70)));
    instance.candidates.push_back(std::move(candidate));
  }
  return instance;
}

// Every selection, one by one.
double LeastByBruteForce(const Instance& instance) {
  std::vector<bool> taken(instance.costs.size(), false);
  const std::function<double(std::size_t)> least = [&](std::size_t region) {
    if (region == instance.candidates.size()) {
      double sum = 0;
      for (std::size_t i = 0; i < taken.size(); ++i) sum += taken[i] ? 0 : instance.costs[i].count();
      return sum;
    }
    double best = least(region + 1);
    const FusionCandidate& candidate = instance.candidates[region];
    for (std::size_t layer : candidate.layers)
      if (taken[layer]) return best;
    for (std::size_t layer : candidate.layers) taken[layer] = true;
    best = std::min(best, candidate.cost.count() + least(region + 1));
    for (std::size_t layer : candidate.layers) taken[layer] = false;
    return best;
  };
  return least(0);
}

double CostOf(const Instance& instance, const std::vector<std::size_t>& chosen) {
  std::vector<bool> taken(instance.costs.size(), false);
  double cost = 0;
  for (std::size_t region : chosen) {
    cost += instance.candidates[region].cost.count();
    for (std::size_t layer : instance.candidates[region].layers) {
      EXPECT_FALSE(taken[layer]) << "a layer that two chosen regions have";
      taken[layer] = true;
    }
  }
  for (std::size_t i = 0; i < taken.size(); ++i) cost += taken[i] ? 0 : instance.costs[i].count();
  return cost;
}

TEST(FusionChoice, EqualsBruteForce) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const Instance instance = Random(seed, 10, 12);
    const FusionChoice choice = ChooseRegions(instance.costs, instance.candidates);
    ASSERT_TRUE(choice.exact) << seed;
    ASSERT_NEAR(choice.cost.count(), LeastByBruteForce(instance), 1e-9) << seed;
    ASSERT_NEAR(choice.cost.count(), CostOf(instance, choice.chosen), 1e-9) << seed;
    ASSERT_EQ(choice.lower, choice.cost) << seed;
  }
}

TEST(FusionChoice, CutOffItBracketsTheBestFromBothSides) {
  std::size_t cut = 0, loose = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Instance instance = Random(seed, 12, 14);
    const FusionChoice choice = ChooseRegions(instance.costs, instance.candidates, 2);
    const double least = LeastByBruteForce(instance);
    ASSERT_LE(choice.lower.count(), least + 1e-9) << seed;
    ASSERT_GE(choice.cost.count(), least - 1e-9) << seed;
    ASSERT_NEAR(choice.cost.count(), CostOf(instance, choice.chosen), 1e-9) << seed;
    cut += !choice.exact;
    loose += choice.lower < choice.cost;
  }
  EXPECT_GT(cut, 100u);
  EXPECT_GT(loose, 10u);
}

TEST(FusionChoice, PricesAreAtMostTheLayersCostsAndAddUpToAtMostEachRegions) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Instance instance = Random(seed, 14, 14);
    const std::vector<Latency> prices = LayerPrices(instance.costs, instance.candidates);
    double total = 0;
    for (std::size_t i = 0; i < prices.size(); ++i) {
      ASSERT_GE(prices[i], Latency(0)) << seed;
      ASSERT_LE(prices[i], instance.costs[i]) << seed;
      total += prices[i].count();
    }
    for (const FusionCandidate& candidate : instance.candidates) {
      double sum = 0;
      for (std::size_t layer : candidate.layers) sum += prices[layer].count();
      ASSERT_LE(sum, candidate.cost.count() * (1 + 1e-12) + 1e-12) << seed;
    }
    ASSERT_LE(total, ChooseRegions(instance.costs, instance.candidates).cost.count() + 1e-9) << seed;
  }
}

TEST(FusionChoice, ALongChainOfOverlappingRegionsIsSolvedExactly) {
  // 10,000 layers; every window of two to five saves a little: the best tiles the chain.
  std::mt19937_64 random(3);
  std::vector<Latency> costs(10000, Latency(10));
  std::vector<FusionCandidate> candidates;
  std::vector<double> least(costs.size() + 1, 0);  // by dynamic programming over the windows' ends
  std::vector<std::vector<std::pair<std::size_t, double>>> ending(costs.size() + 1);
  for (std::size_t first = 0; first < costs.size(); ++first) {
    for (std::size_t length = 2; length <= 5 && first + length <= costs.size(); ++length) {
      FusionCandidate window{{}, Latency(10.0 * static_cast<double>(length) - static_cast<double>(random() % 10))};
      for (std::size_t i = 0; i < length; ++i) window.layers.push_back(first + i);
      ending[first + length].emplace_back(first, window.cost.count());
      candidates.push_back(std::move(window));
    }
  }
  for (std::size_t end = 1; end <= costs.size(); ++end) {
    least[end] = least[end - 1] + 10;
    for (const auto& [first, cost] : ending[end]) least[end] = std::min(least[end], least[first] + cost);
  }
  const FusionChoice choice = ChooseRegions(costs, candidates);
  EXPECT_TRUE(choice.exact);
  EXPECT_NEAR(choice.cost.count(), least.back(), 1e-6);
}

}  // namespace
}  // namespace infimum::fusion_choice_test
