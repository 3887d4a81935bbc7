#include "tests/reports/layout_graphs.h"

#include <algorithm>
#include <random>

namespace infimum {
namespace {

std::vector<ReportEdge> Sorted(std::vector<ReportEdge> edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

std::vector<ReportEdge> ChainGraph(std::size_t nodes) {
  std::vector<ReportEdge> edges;
  for (std::size_t node = 1; node < nodes; ++node) edges.push_back({node - 1, node});
  return edges;
}

std::vector<ReportEdge> DenseGraph(std::size_t nodes) {
  constexpr std::size_t kBlock = 24;
  std::vector<ReportEdge> edges = ChainGraph(nodes);
  for (std::size_t start = 0; start < nodes; start += kBlock) {
    const std::size_t end = std::min(nodes, start + kBlock);
    for (std::size_t from = start; from < end; from += 2)
      for (std::size_t to = from + 2; to < end; to += 2) edges.push_back({from, to});
  }
  return Sorted(std::move(edges));
}

std::vector<ReportEdge> TransformerGraph(std::size_t nodes) {
  constexpr std::size_t kLayer = 20;
  std::vector<ReportEdge> edges;
  if (nodes > 2) edges = {{0, 1}, {0, 2}};  // 1 is the mask, 2 the embedding
  for (std::size_t start = 2; start + kLayer < nodes; start += kLayer) {
    const auto add = [&](std::size_t from, std::size_t to) { edges.push_back({start + from, start + to}); };
    for (const std::size_t projection : {1, 2, 3}) {
      add(0, projection);                   // matmul
      add(projection, projection + 3);      // bias
      add(projection + 3, projection + 6);  // reshape
    }
    add(7, 10), add(8, 10);  // query by key
    edges.push_back({1, start + 11});
    add(10, 11), add(11, 12), add(12, 13), add(9, 13);  // mask, softmax, by value
    add(13, 14), add(14, 15), add(0, 15);               // projection, first skip
    add(15, 16), add(16, 17), add(17, 18), add(18, 19), add(15, 19);
    add(19, kLayer);
  }
  return Sorted(std::move(edges));
}

std::vector<ReportEdge> UNetGraph(std::size_t nodes) {
  std::vector<ReportEdge> edges = ChainGraph(nodes);
  for (std::size_t level = 3; 2 * level < nodes; level += 6) edges.push_back({level, nodes - level});
  return Sorted(std::move(edges));
}

std::vector<ReportEdge> RandomDag(std::size_t nodes, double degree, std::size_t reach, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ReportEdge> edges;
  const auto count = static_cast<std::size_t>(degree * static_cast<double>(nodes));
  for (std::size_t i = 0; nodes > 1 && i < count; ++i) {
    const std::size_t from = random() % (nodes - 1);
    edges.push_back({from, std::min(nodes - 1, from + 1 + random() % reach)});
  }
  return Sorted(std::move(edges));
}

}  // namespace infimum
