// The laws of bounds, on thousands of random graphs. Seeds stand in the failure messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "infimum/analyzer/bracket.h"
#include "tests/support/random_graph.h"

namespace infimum {
namespace {

constexpr double kRounding = 1e-9;

struct Case {
  ModelGraph graph;
  MemorySource source;
  Selection selection;
};

Case MakeCase(std::uint64_t seed, std::size_t most_layers, bool fewer_cores) {
  std::mt19937_64 random(seed);
  Case made;
  testing::RandomGraphOptions options;
  options.layers = 1 + random() % most_layers;
  options.reach = random() % 2 == 0 ? 0 : 1 + random() % 6;
  made.graph = testing::MakeRandomGraph(random, options);
  const std::int64_t threads = std::int64_t{1} << (random() % 3);
  testing::AddRandomRows(random, made.graph, threads, made.source);
  if (fewer_cores)
    for (std::int64_t fewer = 1; fewer < threads; fewer *= 2)
      if (random() % 2 == 0) testing::AddRandomRows(random, made.graph, fewer, made.source);
  made.source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  made.selection = testing::TestSelection(threads);
  return made;
}

Bracket Compute(Case& made) {
  Result<Bracket> bracket = ComputeBracket(made.graph, made.source, made.selection);
  EXPECT_TRUE(bracket.ok()) << (bracket.ok() ? "" : bracket.error().message);
  return std::move(*bracket);
}

Latency Sequential(const Bracket& bracket) { return bracket.bounds[0].latency; }
Latency Parallel(const Bracket& bracket) { return bracket.bounds[1].latency; }

TEST(Laws, RandomGraphsAreValid) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Status status = Validate(MakeCase(seed, 30, false).graph);
    ASSERT_TRUE(status.ok()) << seed << ": " << status.error().message;
  }
}

TEST(Laws, ParallelNeverExceedsSequential) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Case made = MakeCase(seed, 40, true);
    const Bracket bracket = Compute(made);
    ASSERT_LE(Parallel(bracket), Sequential(bracket)) << seed;
    for (const Bound& bound : bracket.bounds) {
      ASSERT_LE(bound.interval.low, bound.latency * (1 + kRounding)) << seed;
      ASSERT_GE(bound.interval.high * (1 + kRounding), bound.latency) << seed;
    }
  }
}

TEST(Laws, WithoutRowsOfFewerCoresParallelEqualsSequential) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Case made = MakeCase(seed, 40, false);
    const Bracket bracket = Compute(made);
    ASSERT_NEAR(Parallel(bracket).count(), Sequential(bracket).count(), kRounding * Sequential(bracket).count())
        << seed;
  }
}

TEST(Laws, ANewRowOfAMeasuredLayerNeverRaisesABound) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Case made = MakeCase(seed, 25, true);
    const Bracket before = Compute(made);
    std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15);
    const std::vector<WorkloadKey> keys = testing::WorkloadKeys(made.graph);
    if (keys.empty()) continue;
    made.source.Add(testing::MeasuredRow(keys[random() % keys.size()], "new_candidate",
                                         {Latency(1.0 + static_cast<double>(random() % 2000))}),
                    testing::TestEnvironment(made.selection.threads));
    const Bracket after = Compute(made);
    ASSERT_LE(Sequential(after), Sequential(before)) << seed;
    ASSERT_LE(Parallel(after).count(), Parallel(before).count() * (1 + kRounding)) << seed;
  }
}

TEST(Laws, AnAddedEdgeNeverLowersParallel) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Case made = MakeCase(seed, 25, true);
    if (made.graph.layers.size() < 2) continue;
    const Bracket before = Compute(made);
    std::mt19937_64 random(seed ^ 0x51ed270b);
    const std::size_t to = 1 + random() % (made.graph.layers.size() - 1);
    const std::size_t from = random() % to;
    made.graph.layers[to].inputs.push_back(made.graph.layers[from].outputs[0]);
    const Bracket after = Compute(made);
    ASSERT_GE(Parallel(after), Parallel(before)) << seed;
    ASSERT_EQ(Sequential(after), Sequential(before)) << seed;
  }
}

TEST(Laws, CoverageAddsUpToOneWhateverIsMissing) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    testing::RandomGraphOptions options;
    options.layers = random() % 30;
    options.unknown_share = 0.1;
    Case made;
    made.graph = testing::MakeRandomGraph(random, options);
    for (const WorkloadKey& key : testing::WorkloadKeys(made.graph))
      if (random() % 2 == 0) made.source.Add(testing::MeasuredRow(key, "a", {Latency(5)}), testing::TestEnvironment(1));
    made.source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
    made.selection = testing::TestSelection(1);
    const Coverage coverage = Compute(made).coverage;
    ASSERT_NEAR(coverage.measured + coverage.estimated + coverage.free + coverage.missing, 1.0, 1e-12) << seed;
    for (double share : {coverage.measured, coverage.estimated, coverage.free, coverage.missing}) {
      ASSERT_GE(share, 0) << seed;
      ASSERT_LE(share, 1) << seed;
    }
  }
}

// Every path, one by one.
double LongestPathByBruteForce(const std::vector<std::vector<LayerId>>& predecessors,
                               const std::vector<double>& times) {
  std::function<double(std::size_t)> ending_at = [&](std::size_t layer) {
    double longest = 0;
    for (LayerId before : predecessors[layer]) longest = std::max(longest, ending_at(before.index()));
    return longest + times[layer];
  };
  double longest = 0;
  for (std::size_t i = 0; i < times.size(); ++i) longest = std::max(longest, ending_at(i));
  return longest;
}

TEST(Laws, UpToEightLayersBothBoundsEqualBruteForce) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Case made = MakeCase(seed, 8, true);
    const Bracket bracket = Compute(made);
    const double cores = static_cast<double>(made.selection.threads);
    double sum = 0, core_time = 0;
    std::vector<double> times;
    for (const Layer& layer : made.graph.layers) {
      double best = 0, least_core_time = 0;
      if (layer.workload) {
        best = least_core_time = 1e300;
        const std::vector<WorkloadKey> key{KeyOf(*layer.workload)};
        for (std::int64_t threads = 1; threads <= made.selection.threads; threads *= 2) {
          const Result<std::vector<Measurement>> rows = made.source.Find(key, testing::TestSelection(threads));
          ASSERT_TRUE(rows.ok());
          for (const Measurement& row : *rows)
            for (const Repetition& repetition : row.repetitions) {
              if (threads == made.selection.threads) best = std::min(best, repetition.median.count());
              least_core_time = std::min(least_core_time, repetition.median.count() * static_cast<double>(threads));
            }
        }
      }
      times.push_back(best);
      sum += best;
      core_time += least_core_time;
    }
    const double path = LongestPathByBruteForce(Predecessors(made.graph), times);
    ASSERT_NEAR(Sequential(bracket).count(), sum, kRounding * sum) << seed;
    ASSERT_NEAR(Parallel(bracket).count(), std::max(path, core_time / cores), kRounding * sum) << seed;
    double flagged = 0;
    for (std::size_t i = 0; i < times.size(); ++i) flagged += bracket.layers[i].on_critical_path ? times[i] : 0;
    ASSERT_NEAR(flagged, path, kRounding * sum) << seed;
  }
}

}  // namespace
}  // namespace infimum
