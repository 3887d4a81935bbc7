// How long the bounds of all variants take, and how that grows with the graph:
//
//   bounds_benchmark [largest]        (default 100,000 layers; 1,000,000 takes some minutes and 10 GB for its rows)
//
//   layers  regions  candidates   bracket     of it: regions found  combined  ns a layer and edge
//   10,000    5,600      78,000     95 ms                    24 ms      6 ms                  210
//
// `bracket` is everything that ComputeBracket does (find regions, fetch rows, best times, floors, bounds, marginal gains)
// with rows in memory; `combined` are the variants alone. Every layer and every region has five candidates of three
// repetitions, and no two workloads are equal: the worst case. Read the last column down: it should stay where it is.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "analyzer/bounds.h"
#include "analyzer/marginal_gain.h"
#include "infimum/analyzer/bracket.h"
#include "tests/support/graph_builder.h"
#include "tests/support/random_graph.h"

namespace infimum {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Blocks of a residual network: two products with an activation each, a sum, an activation; now and then a branch.
ModelGraph Network(std::size_t layers) {
  testing::GraphBuilder model;
  ValueId value = model.Input("x", {1, 64});
  std::size_t made = 0;
  const auto next = [&](const char* kind) { return fmt::format("{}_{}", kind, made++); };
  std::int64_t rows = 1;
  while (made < layers) {
    // Another size for each block, so that no two workloads are equal.
    const ValueId wide = model.View(next("view"), value, {1, 64});
    const std::int64_t inner = 16 + rows++;
    const ValueId first = model.MatMul(next("fc"), wide, model.Weight(fmt::format("w{}", made), {64, inner}));
    const ValueId relu = model.Unary(next("relu"), PointwiseKind::kRelu, first);
    const ValueId second = model.MatMul(next("fc"), relu, model.Weight(fmt::format("w{}", made), {inner, 64}));
    value = model.Unary(next("tanh"), PointwiseKind::kTanh,
                        model.Binary(next("add"), PointwiseKind::kAdd, second, wide));
  }
  model.Output(value);
  return model.Take();
}

void AddRows(const WorkloadKey& key, std::uint64_t seed, MemorySource& source) {
  std::mt19937_64 random(seed);
  for (int candidate = 0; candidate < 5; ++candidate) {
    std::vector<Latency> medians;
    for (int i = 0; i < 3; ++i) medians.emplace_back(10 + static_cast<double>(random() % 1000) / 100);
    source.Add(testing::MeasuredRow(key, "candidate_" + std::to_string(candidate), std::move(medians)),
               testing::TestEnvironment(4));
  }
}

void Measure(std::size_t layers) {
  const ModelGraph graph = Network(layers);
  const auto before_regions = Clock::now();
  const std::vector<FusableRegion> regions = FindFusableRegions(graph);
  const double finding = MillisecondsSince(before_regions);

  MemorySource source;
  source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  std::uint64_t seed = 0;
  const std::vector<WorkloadKey> keys = testing::WorkloadKeys(graph);
  for (const WorkloadKey& key : keys) AddRows(key, ++seed, source);
  const std::vector<WorkloadKey> region_keys = testing::RegionKeys(graph);
  for (const WorkloadKey& key : region_keys) AddRows(key, ++seed, source);
  // On four cores of which nothing is known: the longest path and the cores' time both have to be found.
  const auto before_bracket = Clock::now();
  const Result<Bracket> bracket = ComputeBracket(graph, source, testing::TestSelection(4));
  const double whole = MillisecondsSince(before_bracket);
  if (!bracket.ok()) {
    fmt::print(stderr, "{}\n", bracket.error().message);
    std::exit(1);
  }

  BoundsProblem problem;
  problem.predecessors = Predecessors(graph);
  problem.resources = {"core-time"};
  for (const LayerLatency& layer : bracket->layers) {
    const Latency time = layer.latency.value_or(Latency(0));
    problem.layers.push_back({time, {time / 2}, {}});
  }
  for (const RegionLatency& region : bracket->regions) {
    RegionTimes times{{}, {region.latency, {region.latency / 2}, {}}};
    for (LayerId layer : region.layers) times.layers.push_back(layer.index());
    problem.regions.push_back(std::move(times));
  }
  const auto before_bounds = Clock::now();
  const CombinedBounds combined = CombineBounds(problem);
  const double bounds = MillisecondsSince(before_bounds);
  std::size_t edges = 0;
  for (const auto& before : problem.predecessors) edges += before.size();
  fmt::print("{:>9} {:>9} {:>11} {:>9.1f} ms {:>9.1f} ms {:>9.1f} ms {:>8.0f}   {}\n", graph.layers.size(),
             bracket->regions.size(), 5 * (keys.size() + region_keys.size()), whole, finding, bounds,
             1e6 * whole / static_cast<double>(graph.layers.size() + edges),
             combined.fused_sequential.latency < combined.sequential.latency ? "" : "(nothing was fused)");
  std::fflush(stdout);
}

}  // namespace
}  // namespace infimum

int main(int argc, char** argv) {
  const std::size_t largest = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  fmt::print("{:>9} {:>9} {:>11} {:>12} {:>12} {:>12} {:>8}\n", "layers", "regions", "candidates", "bracket",
             "regions", "combined", "ns each");
  for (std::size_t layers = 1000; layers <= largest; layers *= 10) infimum::Measure(layers);
  return 0;
}
