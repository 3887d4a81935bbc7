// How long the bounds of all variants take, and how that grows with the graph:
//
//   benchmarks bounds [largest]        (default 100,000 layers; 1,000,000 takes some minutes and 10 GB for its rows)
//
//    layers  regions  candidates   bracket      find     fetch   resolve   combine   layouts       sum  walks  ns each
//                                       ms        ms        ms        ms        ms        ms        ms
//      1002      668        5020      51.5      11.6      15.2       1.8       0.8       3.1       5.7   40.1     2639
//     10002     6668       50020     726.3      74.2     227.4      27.6       9.3      42.0      79.0   19.2     3646
//    100002    66668      500020    6868.4    1024.5    1833.0     312.3     112.1     615.6    1039.9   26.5     4800
//   1000002   666668     5000020   77472.5   11015.1   23900.7    4676.7    1800.3    9991.9   16468.9   35.8     7601
//
// on one core of an Intel Xeon (Sapphire Rapids class) virtual machine that shares its memory with others: of the same
// binary 10,000 layers took 71 to 148 ms within an hour, so that a time is only worth something beside `walks`: the sum
// by the time that one look at every candidate and repetition takes on the same machine in the same minute.
//
// `bracket` is everything that ComputeBracket does with rows in memory; of it: regions found (`find`), rows copied out
// of the source, on four cores three times (`fetch`), best times, regrets and intervals (`resolve`), all variants and
// marginal gains (`combine`), the plan that pays for layouts (`layouts`). `sum` is of the last three: what the
// requirement is about, all bounds of 10,000 layers within 100 ms. Where that size takes longer the program ends
// with 1. `ns each`: the sum for each layer and edge; read it down, it should stay where it is. Every layer and every
// region has five candidates of three repetitions, and no two workloads are equal: the worst case.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "analyzer/bounds/bounds.h"
#include "analyzer/bracket/bracket.h"
#include "analyzer/bracket/bracket_parts.h"
#include "analyzer/bracket/sensitivity.h"
#include "analyzer/layouts/layout_planner.h"
#include "tests/support/benchmark.h"
#include "tests/support/graph_builder.h"
#include "tests/support/random_graph.h"

namespace infimum {
namespace {

using Clock = std::chrono::steady_clock;

// All bounds of so many layers with five candidates each.
constexpr std::size_t kRequiredLayers = 10'000;
constexpr double kRequiredMilliseconds = 100;
constexpr int kRepetitions = 5;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

ValueId Convolve(const std::string& name, ValueId input, std::int64_t channels, std::int64_t outputs,
                 testing::GraphBuilder& model) {
  ConvolutionConfig config;
  config.input = Shape{{1, channels, 8, 8}};
  config.output_channels = outputs;
  config.kernel = config.stride = config.dilation = Shape{{1, 1}};
  config.padding = {0, 0, 0, 0};
  return model.Measurable(name, "Conv", {input, model.Weight("weights of " + name, {outputs, channels, 1, 1})}, config);
}

// Blocks of a residual network: two convolutions with an activation each, a sum, an activation.
ModelGraph Network(std::size_t layers) {
  testing::GraphBuilder model;
  ValueId value = model.Input("x", {1, 64, 8, 8});
  std::size_t made = 0;
  const auto next = [&](const char* kind) { return fmt::format("{}_{}", kind, made++); };
  std::int64_t blocks = 1;
  while (made < layers) {
    // Another size for each block, so that no two workloads are equal.
    const ValueId same = model.View(next("view"), value, {1, 64, 8, 8});
    const std::int64_t inner = 16 + blocks++;
    const ValueId first = Convolve(next("conv"), same, 64, inner, model);
    const ValueId relu = model.Unary(next("relu"), PointwiseKind::kRelu, first);
    const ValueId second = Convolve(next("conv"), relu, inner, 64, model);
    value =
        model.Unary(next("tanh"), PointwiseKind::kTanh, model.Binary(next("add"), PointwiseKind::kAdd, second, same));
  }
  model.Output(value);
  return model.Take();
}

void AddRows(const WorkloadKey& key, std::uint64_t seed, MemorySource& source) {
  std::mt19937_64 random(seed);
  for (int candidate = 0; candidate < 5; ++candidate) {
    std::vector<Latency> medians;
    for (int i = 0; i < 3; ++i) medians.emplace_back(10 + static_cast<double>(random() % 1000) / 100);
    Measurement row = testing::MeasuredRow(key, "candidate_" + std::to_string(candidate), std::move(medians));
    // Of regions the residual operand as well.
    row.candidate.input_layout = candidate % 2 == 0 ? "abcd,abcd" : "acdb,acdb";
    row.candidate.output_layout = candidate < 3 ? "abcd" : "acdb";
    source.Add(row, testing::TestEnvironment(4));
  }
}

// Every candidate and every repetition looked at once, in the order of the bounds: what a machine cannot do without, by
// which times of one machine, or of one hour, compare with those of another.
double Walk(const MeasuredRows& rows, std::int64_t threads) {
  const auto before = Clock::now();
  double sum = 0;
  for (const auto& [key, entry] : rows.all())
    for (const TimedRow& timed : entry.On(threads)) {
      sum += static_cast<double>(timed.row->candidate.algorithm.size() + timed.row->candidate.input_layout.size());
      for (const Repetition& repetition : timed.row->repetitions) sum += repetition.median.count();
    }
  const double took = MillisecondsSince(before);
  if (!(sum > 0)) fmt::print(stderr, "there are no rows\n");
  return took;
}

// False where the bounds of a graph of the required size take too long.
bool Measure(std::size_t layers) {
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

  // The same step by step.
  const RegionSet known(graph);
  const Selection selection = testing::TestSelection(4);
  const auto before_rows = Clock::now();
  Result<DeviceModel> device = DeviceModel::Make(source, selection);
  const Residency residency(graph, *device);
  const Result<MeasuredRows> rows = MeasuredRows::Fetch(graph, known, source, selection, &residency);
  ObserveRows(*rows, *device);
  const double fetching = MillisecondsSince(before_rows);
  const std::vector<EnvironmentKey> environments(rows->environments().begin(), rows->environments().end());
  constexpr double kNever = std::numeric_limits<double>::infinity();
  double walking = kNever, resolving = kNever, combining = kNever, planning = kNever;
  BoundsProblem problem;
  bool is_fused = false, is_exact = false;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    walking = std::min(walking, Walk(*rows, selection.threads));
    const auto before_bounds = Clock::now();
    const LatencyResolver resolver(*rows, known, selection, *device, residency);
    std::vector<ResolvedLayer> resolved = resolver.Layers(graph);
    const std::vector<ResolvedRegion> resolved_regions = resolver.Regions(graph);
    problem = resolver.Problem(graph, resolved, resolved_regions);
    resolving = std::min(resolving, MillisecondsSince(before_bounds));
    const auto before_combining = Clock::now();
    const CombinedBounds combined = CombineBounds(problem);
    SetMarginalGains(problem, combined.parallel.latency, resolved);
    combining = std::min(combining, MillisecondsSince(before_combining));
    is_fused = combined.fused_sequential.latency < combined.sequential.latency;
    const auto before_layouts = Clock::now();
    const auto plan =
        LayoutPlanner(graph, selection, resolved, resolved_regions).Plan(source, selection, environments, *device);
    planning = std::min(planning, MillisecondsSince(before_layouts));
    is_exact = plan.ok() && *plan && (*plan)->is_exact;
  }
  if (!is_exact) fmt::print(stderr, "the plan of layouts is not exact\n");
  std::size_t edges = 0;
  for (const auto& before : problem.predecessors) edges += before.size();
  const double sum = resolving + combining + planning;
  const bool is_in_time = graph.layers.size() < kRequiredLayers || graph.layers.size() >= 2 * kRequiredLayers ||
                          sum < kRequiredMilliseconds;
  fmt::print("{:>9}{:>9}{:>12}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>7.1f}{:>9.0f}{}{}\n",
             graph.layers.size(), bracket->regions.size(), 5 * (keys.size() + region_keys.size()), whole, finding,
             fetching, resolving, combining, planning, sum, sum / walking,
             1e6 * sum / static_cast<double>(graph.layers.size() + edges), is_fused ? "" : "  (nothing was fused)",
             is_in_time ? "" : fmt::format("  (more than {:.0f} ms)", kRequiredMilliseconds));
  std::fflush(stdout);
  return is_in_time;
}

}  // namespace
}  // namespace infimum

INFIMUM_BENCHMARK(bounds, "[LARGEST]") {
  const std::size_t largest = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  fmt::print("{:>9}{:>9}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>7}{:>9}\n", "layers", "regions",
             "candidates", "bracket", "find", "fetch", "resolve", "combine", "layouts", "sum", "walks", "ns each");
  fmt::print("{:>30}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "", "ms", "ms", "ms", "ms", "ms", "ms", "ms");
  bool is_in_time = true;
  for (std::size_t layers = 1000; layers <= largest; layers *= 10) is_in_time &= infimum::Measure(layers);
  return is_in_time ? 0 : 1;
}
