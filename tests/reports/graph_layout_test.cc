// Laws of the picture of a graph, on chains, networks and random graphs.
#include "reports/graph_drawing/graph_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "reports/graph_drawing/graph_steps.h"
#include "tests/reports/layout_graphs.h"

namespace infimum {
namespace {

constexpr LayoutOptions kOneColumn = {.aspect = 1e-6};

// Every fifth node small, as free layers are.
std::vector<NodeSize> Nodes(std::size_t count) {
  std::vector<NodeSize> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(i % 5 == 4 ? NodeSize{70, 16} : NodeSize{140, 40});
  return nodes;
}

std::vector<LayoutEdge> Edges(const std::vector<ReportEdge>& edges) {
  std::vector<LayoutEdge> made;
  for (const ReportEdge& edge : edges) made.push_back({edge.from, edge.to});
  return made;
}

struct Sample {
  std::size_t nodes;
  std::vector<LayoutEdge> edges;
};

std::vector<Sample> Samples() {
  std::vector<Sample> samples = {{0, {}},
                                 {1, {}},
                                 {7, {}},
                                 {60, Edges(ChainGraph(60))},
                                 {120, Edges(DenseGraph(120))},
                                 {223, Edges(TransformerGraph(223))},
                                 {80, Edges(UNetGraph(80))}};
  for (std::uint64_t seed = 0; seed < 25; ++seed)
    samples.push_back({40 + seed, Edges(RandomDag(40 + seed, 0.7 + 0.1 * static_cast<double>(seed), 3 + seed, seed))});
  return samples;
}

RankedGraph Ordered(const Sample& sample) {
  RankedGraph graph = RankGraph(sample.nodes, sample.edges, 60'000);
  OrderByDiscovery(graph);
  return graph;
}

double Right(const GraphLayout& layout, const std::vector<NodeSize>& nodes, std::size_t i) {
  return layout.nodes[i].x + nodes[i].width / 2;
}

TEST(GraphRanks, EveryEdgeGoesDownAtLeastARank) {
  for (const Sample& sample : Samples()) {
    const RankedGraph graph = Ordered(sample);
    for (std::size_t i = 0; i < sample.edges.size(); ++i) {
      const LayoutEdge& edge = sample.edges[i];
      EXPECT_LT(graph.rank[edge.from], graph.rank[edge.to]);
      EXPECT_EQ(graph.bends[i].size() + 1, graph.rank[edge.to] - graph.rank[edge.from]);
    }
    // And every segment exactly one.
    for (Vertex above = 0; above < graph.rank.size(); ++above)
      for (const Vertex below : graph.lower[above]) EXPECT_EQ(graph.rank[below], graph.rank[above] + 1);
  }
}

TEST(GraphRanks, WhatFeedsOneLayerOnlyStandsRightAboveIt) {
  // 0 -> 1 -> 2 -> 3, and 4 -> 5 -> 3 beside it.
  const RankedGraph graph = RankGraph(6, Edges({{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 3}}), 100);
  EXPECT_EQ(graph.rank[5], graph.rank[3] - 1);
  EXPECT_EQ(graph.rank[4], graph.rank[3] - 2);
}

TEST(GraphRanks, EdgesOfOneLayerShareTheirBends) {
  const RankedGraph graph = RankGraph(5, Edges({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 3}, {0, 4}}), 100);
  ASSERT_EQ(graph.bends[5].size(), 3u);
  ASSERT_EQ(graph.bends[4].size(), 2u);
  EXPECT_TRUE(std::equal(graph.bends[4].begin(), graph.bends[4].end(), graph.bends[5].begin()));
  EXPECT_EQ(graph.rank.size(), 5u + 3u);
}

TEST(GraphOrdering, CrossingsAreNeverMoreThanBefore) {
  std::size_t before_all = 0, after_all = 0;
  for (const Sample& sample : Samples()) {
    RankedGraph graph = Ordered(sample);
    const std::size_t before = Crossings(graph);
    ReduceCrossings(graph);
    EXPECT_LE(Crossings(graph), before);
    before_all += before;
    after_all += Crossings(graph);
  }
  EXPECT_LT(after_all, before_all * 3 / 4);
}

// Sweeps may make a good order worse: the best of all is what counts.
TEST(GraphOrdering, AGoodOrderIsNeverLost) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RankedGraph graph = Ordered({60, Edges(RandomDag(60, 2.5, 20, seed))});
    for (int again = 0; again < 4; ++again) {
      const std::size_t reduced = Crossings(graph);
      ReduceCrossings(graph);
      EXPECT_LE(Crossings(graph), reduced) << "seed " << seed;
    }
  }
}

TEST(GraphOrdering, CountsCrossingsAsPairsDo) {
  for (const Sample& sample : Samples()) {
    const RankedGraph graph = Ordered(sample);
    std::size_t pairs = 0;
    for (std::size_t rank = 0; rank + 1 < graph.ranks.size(); ++rank) {
      std::vector<std::pair<std::size_t, std::size_t>> segments;
      const auto& below = graph.ranks[rank + 1];
      for (std::size_t i = 0; i < graph.ranks[rank].size(); ++i)
        for (const Vertex end : graph.lower[graph.ranks[rank][i]])
          segments.emplace_back(i, std::find(below.begin(), below.end(), end) - below.begin());
      for (const auto& a : segments)
        for (const auto& b : segments) pairs += a.first < b.first && a.second > b.second;
    }
    EXPECT_EQ(Crossings(graph), pairs);
  }
}

TEST(GraphOrdering, UntanglesWhatNeedNotCross) {
  RankedGraph graph = RankGraph(6, Edges({{0, 4}, {1, 3}, {2, 5}, {0, 3}}), 100);
  graph.ranks = {{0, 1, 2}, {5, 4, 3}};
  EXPECT_EQ(Crossings(graph), 3u);
  ReduceCrossings(graph);
  EXPECT_EQ(Crossings(graph), 0u);
}

TEST(GraphLayout, NoTwoNodesOverlapAndAllAreInside) {
  for (const Sample& sample : Samples()) {
    for (const double aspect : {1e-6, 1.8}) {
      const std::vector<NodeSize> nodes = Nodes(sample.nodes);
      LayoutOptions options;
      options.aspect = aspect;
      const GraphLayout layout = LayOutGraph(nodes, sample.edges, options);
      ASSERT_EQ(layout.nodes.size(), nodes.size());
      ASSERT_EQ(layout.routes.size(), sample.edges.size());
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        const LayoutPoint& at = layout.nodes[a];
        EXPECT_GE(at.x - nodes[a].width / 2, -1e-6);
        EXPECT_LE(at.x + nodes[a].width / 2, layout.width + 1e-6);
        EXPECT_GE(at.y - nodes[a].height / 2, -1e-6);
        EXPECT_LE(at.y + nodes[a].height / 2, layout.height + 1e-6);
        for (std::size_t b = a + 1; b < nodes.size(); ++b) {
          const double aside = std::abs(at.x - layout.nodes[b].x) - (nodes[a].width + nodes[b].width) / 2;
          const double apart = std::abs(at.y - layout.nodes[b].y) - (nodes[a].height + nodes[b].height) / 2;
          EXPECT_TRUE(aside > 9 || apart > 9) << a << " and " << b << " of " << nodes.size();
        }
      }
    }
  }
}

TEST(GraphLayout, EdgesPassBesideNodesInOneColumnDownwards) {
  for (const Sample& sample : Samples()) {
    const std::vector<NodeSize> nodes = Nodes(sample.nodes);
    const GraphLayout layout = LayOutGraph(nodes, sample.edges, kOneColumn);
    EXPECT_EQ(layout.columns, 1u);
    for (std::size_t i = 0; i < sample.edges.size(); ++i) {
      const LayoutEdge& edge = sample.edges[i];
      std::vector<LayoutPoint> way = layout.routes[i];
      way.insert(way.begin(), {layout.nodes[edge.from].x, layout.nodes[edge.from].y + nodes[edge.from].height / 2});
      way.push_back({layout.nodes[edge.to].x, layout.nodes[edge.to].y - nodes[edge.to].height / 2});
      for (std::size_t step = 0; step + 1 < way.size(); ++step) {
        EXPECT_LE(way[step].y, way[step + 1].y);
        // Whoever stands where the edge runs upright is none of its business.
        for (std::size_t node = 0; node < nodes.size(); ++node) {
          const double top = layout.nodes[node].y - nodes[node].height / 2;
          const double bottom = layout.nodes[node].y + nodes[node].height / 2;
          if (way[step].x != way[step + 1].x || way[step].y >= bottom || way[step + 1].y <= top) continue;
          EXPECT_GT(std::abs(layout.nodes[node].x - way[step].x), nodes[node].width / 2) << "edge " << i;
        }
      }
    }
  }
}

TEST(GraphLayout, TheSameInputGivesTheSameOutput) {
  for (const Sample& sample : Samples()) {
    const GraphLayout one = LayOutGraph(Nodes(sample.nodes), sample.edges);
    const GraphLayout other = LayOutGraph(Nodes(sample.nodes), sample.edges);
    EXPECT_EQ(one.nodes, other.nodes);
    EXPECT_EQ(one.routes, other.routes);
  }
}

TEST(GraphLayout, AChainIsStraight) {
  const GraphLayout layout = LayOutGraph(Nodes(200), Edges(ChainGraph(200)), kOneColumn);
  for (const LayoutPoint& node : layout.nodes) EXPECT_EQ(node.x, layout.nodes.front().x);
  for (const auto& route : layout.routes) EXPECT_TRUE(route.empty());
}

// Edges from a deepest node up to a source, each to a neighbour one rank above.
void MarkMainPath(Sample& sample) {
  const RankedGraph graph = Ordered(sample);
  if (graph.ranks.empty()) return;
  const auto is_node = [&graph](Vertex vertex) { return !graph.is_bend(vertex); };
  Vertex at = *std::ranges::find_if(graph.ranks.back(), is_node);
  while (true) {
    const auto above = std::ranges::find_if(graph.upper[at], is_node);
    if (above == graph.upper[at].end()) return;
    for (LayoutEdge& edge : sample.edges)
      if (edge.from == *above && edge.to == at) edge.is_main = true;
    at = *above;
  }
}

TEST(GraphLayout, AMainPathIsStraightInEveryGraph) {
  std::size_t longest = 0;
  std::vector<Sample> samples = Samples();
  for (Sample& sample : samples) {
    MarkMainPath(sample);
    const GraphLayout layout = LayOutGraph(Nodes(sample.nodes), sample.edges, kOneColumn);
    std::size_t length = 0;
    for (const LayoutEdge& edge : sample.edges) {
      if (!edge.is_main) continue;
      ++length;
      EXPECT_EQ(layout.nodes[edge.from].x, layout.nodes[edge.to].x) << edge.from << " to " << edge.to;
    }
    longest = std::max(longest, length);
  }
  EXPECT_GT(longest, 100u);
}

// A skip over a main path leaves that path straight, and is straight itself where it passes.
TEST(GraphLayout, TheMainPathIsStraight) {
  std::vector<LayoutEdge> edges = Edges(UNetGraph(60));
  for (LayoutEdge& edge : edges) edge.is_main = edge.to == edge.from + 1;
  const GraphLayout layout = LayOutGraph(Nodes(60), edges, kOneColumn);
  for (const LayoutPoint& node : layout.nodes) EXPECT_NEAR(node.x, layout.nodes.front().x, 1e-9);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].is_main) continue;
    EXPECT_EQ(layout.routes[i].size(), 2u) << "edge " << i;
  }
}

TEST(GraphLayout, ADeepGraphStandsInColumns) {
  const std::vector<NodeSize> nodes = Nodes(100);
  const GraphLayout strip = LayOutGraph(nodes, Edges(ChainGraph(100)), kOneColumn);
  const GraphLayout layout = LayOutGraph(nodes, Edges(ChainGraph(100)));
  EXPECT_GT(layout.columns, 3u);
  EXPECT_LT(layout.height, strip.height / 3);
  EXPECT_NEAR(layout.width / layout.height, 1.8, 0.6);
  // Read as text: further on is further down, or in a column further right.
  for (std::size_t node = 1; node < nodes.size(); ++node) {
    const LayoutPoint& before = layout.nodes[node - 1];
    const LayoutPoint& at = layout.nodes[node];
    EXPECT_TRUE((at.x == before.x && at.y > before.y) || at.x - nodes[node].width / 2 > Right(layout, nodes, node - 1));
  }
}

TEST(GraphLayout, WhatBelongsTogetherIsNotCut) {
  std::vector<LayoutEdge> edges = Edges(ChainGraph(120));
  for (LayoutEdge& edge : edges) edge.is_joined = edge.from % 3 != 2;
  const GraphLayout layout = LayOutGraph(Nodes(120), edges);
  EXPECT_GT(layout.columns, 3u);
  for (const LayoutEdge& edge : edges) {
    if (!edge.is_joined) continue;
    EXPECT_EQ(layout.nodes[edge.from].x, layout.nodes[edge.to].x) << edge.from;
  }
}

TEST(GraphColumns, AreOneWhereTheSpaceIsNarrow) {
  const std::vector<ColumnRank> ranks(20, ColumnRank{50, 0, 100, 1, 0});
  EXPECT_EQ(ColumnStarts(ranks, 0.1), std::vector<std::size_t>{0});
  EXPECT_GT(ColumnStarts(ranks, 2).size(), 2u);
  EXPECT_EQ(ColumnStarts({}, 2), std::vector<std::size_t>{0});
}

TEST(GraphLayout, CyclesAndEndsOutOfRangeAreSurvived) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<LayoutEdge> edges;
    for (int i = 0; i < 80; ++i) edges.push_back({random() % 32, random() % 32});
    const GraphLayout layout = LayOutGraph(Nodes(30), edges);
    ASSERT_EQ(layout.routes.size(), edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].from < 30 && edges[i].to < 30) continue;
      EXPECT_TRUE(layout.routes[i].empty());
    }
    for (const LayoutPoint& node : layout.nodes) EXPECT_TRUE(std::isfinite(node.x) && std::isfinite(node.y));
  }
  const GraphLayout ring = LayOutGraph(Nodes(3), {{0, 1}, {1, 2}, {2, 0}}, kOneColumn);
  EXPECT_LT(ring.nodes[0].y, ring.nodes[1].y);
  EXPECT_LT(ring.nodes[1].y, ring.nodes[2].y);
}

// A file may hold any graph: what would need a bend for each rank and node goes straight instead.
TEST(GraphLayout, BendsAreLimited) {
  std::vector<LayoutEdge> edges = Edges(ChainGraph(400));
  for (std::size_t from = 0; from < 400; ++from)
    for (std::size_t to = from + 2; to < 400; to += 7) edges.push_back({from, to});
  const RankedGraph graph = RankGraph(400, edges, 1000);
  EXPECT_LE(graph.rank.size(), 1400u);
  LayoutOptions options;
  options.most_bends = 1000;
  const GraphLayout layout = LayOutGraph(Nodes(400), edges, options);
  EXPECT_EQ(layout.routes.size(), edges.size());
}

}  // namespace
}  // namespace infimum
