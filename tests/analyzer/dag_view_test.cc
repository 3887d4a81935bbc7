#include "analyzer/bounds/dag_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace infimum {
namespace {

std::vector<std::vector<LayerId>> Edges(std::vector<std::vector<std::size_t>> predecessors) {
  std::vector<std::vector<LayerId>> edges(predecessors.size());
  for (std::size_t i = 0; i < predecessors.size(); ++i)
    for (std::size_t before : predecessors[i]) edges[i].push_back(LayerId(before));
  return edges;
}

TEST(DagView, AnEmptyGraphHasAnEmptyPath) {
  const LongestPath path = DagView({}).FindLongestPath({});
  EXPECT_EQ(path.latency, Latency(0));
  EXPECT_TRUE(path.layers.empty());
}

TEST(DagView, TheLongestPathGoesThroughTheSlowerBranch) {
  const DagView dag(Edges({{}, {0}, {0}, {1, 2}}));
  const LongestPath path = dag.FindLongestPath(std::vector<Latency>{Latency(2), Latency(3), Latency(1), Latency(1)});
  EXPECT_EQ(path.latency, Latency(6));
  EXPECT_EQ(path.layers, (std::vector<std::size_t>{0, 1, 3}));
}

TEST(DagView, LayersWithoutEdgesRunAtOnce) {
  const LongestPath path =
      DagView(Edges({{}, {}, {}})).FindLongestPath(std::vector<Latency>{Latency(1), Latency(5), Latency(2)});
  EXPECT_EQ(path.latency, Latency(5));
  EXPECT_EQ(path.layers, std::vector<std::size_t>{1});
}

TEST(DagView, LayersThatAreNotListedInOrderAreSorted) {
  const DagView dag(Edges({{1}, {2}, {}}));
  const LongestPath path = dag.FindLongestPath(std::vector<Latency>{Latency(1), Latency(1), Latency(1)});
  EXPECT_EQ(path.layers, (std::vector<std::size_t>{2, 1, 0}));
}

TEST(DagView, APathBetweenTwoLayersKnowsNoOtherBeginningAndNoOtherEnd) {
  // 4 -> 2 is the slower way into 2, 2 -> 5 the slower one out of it.
  const DagView dag(Edges({{}, {0}, {1, 4, 0}, {2}, {}, {2}}));
  const std::vector<Latency> times = {Latency(1), Latency(0), Latency(2), Latency(3), Latency(50), Latency(60)};
  const std::optional<LongestPath> path = dag.FindLongestPath(times, 0, 3);
  ASSERT_TRUE(path);
  EXPECT_EQ(path->latency, Latency(6));
  EXPECT_EQ(path->layers, (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(dag.FindLongestPath(times).latency, Latency(112));
}

TEST(DagView, APathFromALayerToItselfIsThatLayer) {
  const std::optional<LongestPath> path =
      DagView(Edges({{}, {0}})).FindLongestPath(std::vector<Latency>{Latency(1), Latency(2)}, 1, 1);
  ASSERT_TRUE(path);
  EXPECT_EQ(path->latency, Latency(2));
  EXPECT_EQ(path->layers, std::vector<std::size_t>{1});
}

TEST(DagView, BetweenLayersThatNoEdgesConnectThereIsNoPath) {
  const DagView dag(Edges({{}, {0}, {0}}));
  const std::vector<Latency> times(3, Latency(1));
  EXPECT_FALSE(dag.FindLongestPath(times, 1, 2));
  EXPECT_FALSE(dag.FindLongestPath(times, 1, 0));  // against the edge
}

TEST(DagView, TheLongestPathOfAHundredThousandLayersIsThatOfTheRecurrence) {
  std::mt19937_64 random(1);
  std::vector<std::vector<LayerId>> edges(100'000);
  for (std::size_t i = 1; i < edges.size(); ++i)
    for (int k = 0; k < 3; ++k) edges[i].push_back(LayerId(random() % i));
  std::vector<std::int64_t> longest(edges.size(), 1);
  for (std::size_t i = 1; i < edges.size(); ++i)
    for (const LayerId before : edges[i]) longest[i] = std::max(longest[i], longest[before.index()] + 1);
  const std::vector<Latency> times(edges.size(), Latency(1));
  EXPECT_EQ(DagView(edges).FindLongestPath(times).latency, Latency(*std::max_element(longest.begin(), longest.end())));
}

}  // namespace
}  // namespace infimum
