// How long the layout of a report's graph takes, and how its time grows:
//
//   benchmarks graph_layout [largest]        (default 5,000 layers)
//
//       graph  layers   edges   bends discovered  crossings  columns       ms
//       chain     500     499       0          0          0       18      0.4
//       dense     500    1864    2501       3384       1538       11      3.1
// transformer     500     602     662         48         24        8      1.1
//       u-net     500     541   10374          0          0        7      5.2
//       chain    2000    1999       0          0          0       36      1.5
//       dense    2000    7483   10052      13696       6226       21     17.1
// transformer    2000    2477    2762        198         99       17      4.9
//       u-net    2000    2166   59500          0          0       14     51.9
//      random    2000    3136   22374      18695      11649        1     45.4
//       dense    5000   18733   25177      34321      15601       35     82.5
//      random    5000    7824   59944      40254      25530        1    260.3
//
// on one core of an Intel Xeon (Sapphire Rapids class) virtual machine that others used meanwhile.
//
// A graph of 2,000 layers has to be laid out within 300 ms, a chain of 5,000 as well: where that takes longer the
// program ends with 1. `bends`: places where an edge passes a rank; `crossings` as discovered and in the picture.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "reports/graph_drawing/graph_layout.h"
#include "reports/graph_drawing/graph_steps.h"
#include "tests/reports/layout_graphs.h"
#include "tests/support/benchmark.h"

namespace infimum {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMostMilliseconds = 300;
constexpr int kRepetitions = 3;

bool Measure(const char* name, std::size_t nodes, const std::vector<ReportEdge>& graph) {
  const std::vector<NodeSize> sizes(nodes, NodeSize{148, 40});
  std::vector<LayoutEdge> edges;
  for (const ReportEdge& edge : graph) edges.push_back({edge.from, edge.to});
  double best = std::numeric_limits<double>::infinity();
  GraphLayout layout;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = Clock::now();
    layout = LayOutGraph(sizes, edges);
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  RankedGraph ranked = RankGraph(nodes, edges, LayoutOptions().most_bends);
  OrderByDiscovery(ranked);
  const std::size_t discovered = Crossings(ranked);
  ReduceCrossings(ranked);
  const bool is_required = nodes <= 2000 || graph.size() < nodes;
  const bool is_in_time = best < kMostMilliseconds || !is_required;
  fmt::print("{:>12}{:>8}{:>8}{:>8}{:>11}{:>11}{:>9}{:>9.1f}{}\n", name, nodes, edges.size(),
             ranked.rank.size() - nodes, discovered, Crossings(ranked), layout.columns, best,
             is_in_time ? "" : fmt::format("  (more than {:.0f} ms)", kMostMilliseconds));
  return is_in_time;
}

}  // namespace
}  // namespace infimum

INFIMUM_BENCHMARK(graph_layout, "[LARGEST]") {
  const std::size_t largest = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5000;
  fmt::print("{:>12}{:>8}{:>8}{:>8}{:>11}{:>11}{:>9}{:>9}\n", "graph", "layers", "edges", "bends", "discovered",
             "crossings", "columns", "ms");
  bool is_in_time = true;
  for (const std::size_t nodes : {500, 2000, 5000}) {
    if (nodes > largest) break;
    is_in_time &= infimum::Measure("chain", nodes, infimum::ChainGraph(nodes));
    is_in_time &= infimum::Measure("dense", nodes, infimum::DenseGraph(nodes));
    is_in_time &= infimum::Measure("transformer", nodes, infimum::TransformerGraph(nodes));
    is_in_time &= infimum::Measure("u-net", nodes, infimum::UNetGraph(nodes));
    is_in_time &= infimum::Measure("random", nodes, infimum::RandomDag(nodes, 1.6, 40, 1));
  }
  return is_in_time ? 0 : 1;
}
