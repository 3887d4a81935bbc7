// The laws of bounds, on thousands of random graphs. Seeds stand in the failure messages. What compares optima is of
// given times: each candidate takes the same in all its repetitions. What holds of cross-fitted times as well is asked
// of repetitions that have nothing in common.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "tests/analyzer/known_rows.h"
#include "tests/support/cases.h"

namespace infimum::laws_test {
namespace {

constexpr double kRounding = 1e-9;

struct Case {
  ModelGraph graph;
  testing::KnownRows source;
  Selection selection;
};

using testing::Repetitions;

// Rows of every layer and of half of the fusable regions, on fewer cores too where asked for.
Case MakeCase(std::uint64_t seed, std::size_t most_layers, bool fewer_cores,
              Repetitions repetitions = Repetitions::kAlike) {
  std::mt19937_64 random(seed);
  Case made;
  testing::RandomGraphOptions options;
  options.layers = 1 + random() % most_layers;
  options.reach = random() % 2 == 0 ? 0 : 1 + random() % 6;
  made.graph = testing::MakeRandomGraph(random, options);
  const std::int64_t threads = std::int64_t{1} << (random() % 3);
  std::vector<WorkloadKey> keys = testing::WorkloadKeys(made.graph);
  for (WorkloadKey& key : testing::RegionKeys(made.graph))
    if (random() % 2 == 0) keys.push_back(std::move(key));
  testing::AddRandomRows(random, keys, threads, made.source, repetitions);
  if (fewer_cores)
    for (std::int64_t fewer = 1; fewer < threads; fewer *= 2)
      if (random() % 2 == 0) testing::AddRandomRows(random, keys, fewer, made.source, repetitions);
  made.selection = testing::TestSelection(threads);
  return made;
}

Bracket Compute(Case& made, const BracketOptions& options = {}) {
  return testing::BracketOf(made.graph, made.source, made.selection, options);
}

Latency Of(BoundVariant variant, const Bracket& bracket) {
  const Bound* bound = bracket.Find(variant);
  EXPECT_NE(bound, nullptr) << Name(variant);
  return bound == nullptr ? Latency(-1) : bound->latency;
}
Latency Sequential(const Bracket& bracket) { return Of(BoundVariant::kSequential, bracket); }
Latency Parallel(const Bracket& bracket) { return Of(BoundVariant::kParallel, bracket); }
Latency FusedSequential(const Bracket& bracket) { return Of(BoundVariant::kFusedSequential, bracket); }
Latency FusedParallel(const Bracket& bracket) { return Of(BoundVariant::kFusedParallel, bracket); }

TEST(Laws, RandomGraphsAreValid) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Status status = Validate(MakeCase(seed, 30, false).graph);
    ASSERT_TRUE(status.ok()) << seed << ": " << status.error().message;
  }
}

TEST(Laws, VariantsAreOrdered) {
  std::size_t fused = 0, fused_parallel = 0, relaxed = 0, choices = 0;
  for (std::uint64_t seed = 0; seed < testing::Cases(3000); ++seed) {
    Case made = MakeCase(seed, 40, true, seed % 2 == 0 ? Repetitions::kAlike : Repetitions::kDrawn);
    const Bracket bracket = Compute(made);
    ASSERT_LE(Parallel(bracket), Sequential(bracket)) << seed;
    ASSERT_LE(FusedSequential(bracket), Sequential(bracket)) << seed;
    ASSERT_LE(FusedParallel(bracket), Parallel(bracket)) << seed;
    ASSERT_LE(FusedParallel(bracket).count(), FusedSequential(bracket).count() * (1 + kRounding)) << seed;
    if (const Bound* heuristic = bracket.Find(BoundVariant::kHeuristic)) {
      ASSERT_GE(heuristic->latency.count(), Sequential(bracket).count() * (1 - kRounding)) << seed;
      ++choices;
    }
    fused += FusedSequential(bracket) < Sequential(bracket);
    fused_parallel += FusedParallel(bracket) < Parallel(bracket);
    for (const Bound& bound : bracket.bounds)
      relaxed += std::ranges::count(bound.assumptions, std::string("relaxed-selection"));
    for (const Bound& bound : bracket.bounds) {
      ASSERT_GE(bound.interval.low, Latency(0)) << seed;
      ASSERT_LE(bound.interval.low, bound.latency) << seed << ' ' << Name(bound.variant);
      ASSERT_LE(bound.latency, bound.interval.high) << seed << ' ' << Name(bound.variant);
      ASSERT_TRUE(std::isfinite(bound.interval.high.count())) << seed;
    }
  }
  // The laws above say something only where the variants differ.
  EXPECT_GT(fused, testing::Cases(1000));
  EXPECT_GT(fused_parallel, testing::Cases(300));
  EXPECT_GT(relaxed, testing::Cases(20));
  EXPECT_GT(choices, testing::Cases(1000));
}

TEST(Laws, APointLiesInItsInterval) {
  std::size_t wide = 0;
  for (std::uint64_t seed = 0; seed < testing::Cases(1000); ++seed) {
    Case made = MakeCase(seed, 30, true, Repetitions::kDrawn);
    const Bracket bracket = Compute(made);
    for (const LayerLatency& layer : bracket.layers) {
      if (!layer.interval) continue;
      ASSERT_LE(layer.interval->low, *layer.latency) << seed;
      ASSERT_LE(*layer.latency, layer.interval->high) << seed;
      wide += layer.interval->low < *layer.latency && *layer.latency < layer.interval->high;
    }
    for (const RegionLatency& region : bracket.regions) {
      ASSERT_LE(region.interval.low, region.latency) << seed;
      ASSERT_LE(region.latency, region.interval.high) << seed;
    }
  }
  EXPECT_GT(wide, testing::Cases(5000));
}

TEST(Laws, WithoutRowsOfFewerCoresParallelEqualsSequential) {
  for (std::uint64_t seed = 0; seed < testing::Cases(1000); ++seed) {
    Case made = MakeCase(seed, 40, false);
    const Bracket bracket = Compute(made);
    ASSERT_NEAR(Parallel(bracket).count(), Sequential(bracket).count(), kRounding * Sequential(bracket).count())
        << seed;
  }
}

TEST(Laws, ANewRowNeverRaisesABound) {
  for (std::uint64_t seed = 0; seed < testing::Cases(1500); ++seed) {
    Case made = MakeCase(seed, 25, true);
    const Bracket before = Compute(made);
    std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15);
    std::vector<WorkloadKey> keys = testing::WorkloadKeys(made.graph);
    for (WorkloadKey& key : testing::RegionKeys(made.graph)) keys.push_back(std::move(key));
    if (keys.empty()) continue;
    made.source.Add(testing::MeasuredRow(keys[random() % keys.size()], "new_candidate",
                                         {Latency(1.0 + static_cast<double>(random() % 2000))}),
                    testing::TestEnvironment(made.selection.threads));
    const Bracket after = Compute(made);
    ASSERT_LE(Sequential(after), Sequential(before)) << seed;
    ASSERT_LE(Parallel(after).count(), Parallel(before).count() * (1 + kRounding)) << seed;
    ASSERT_LE(FusedSequential(after).count(), FusedSequential(before).count() * (1 + kRounding)) << seed;
    // A relaxation is as tight as its prices, which may get looser.
    const Bound* fused_parallel = before.Find(BoundVariant::kFusedParallel);
    const bool was_exact = std::ranges::count(fused_parallel->assumptions, std::string("relaxed-selection")) == 0;
    if (was_exact) {
      ASSERT_LE(FusedParallel(after).count(), FusedParallel(before).count() * (1 + kRounding)) << seed;
    }
  }
}

TEST(Laws, WhatAFrameworkRanChangesNoBoundButItsOwn) {
  std::size_t lower = 0;
  for (std::uint64_t seed = 0; seed < testing::Cases(500); ++seed) {
    Case made = MakeCase(seed, 25, true);
    const Bracket before = Compute(made);
    std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15);
    std::vector<WorkloadKey> keys = testing::WorkloadKeys(made.graph);
    for (WorkloadKey& key : testing::RegionKeys(made.graph)) keys.push_back(std::move(key));
    if (keys.empty()) continue;
    for (const WorkloadKey& key : keys) {
      if (random() % 3 != 0) continue;
      Measurement row = testing::MeasuredRow(key, "framework-1", {Latency(1.0 + static_cast<double>(random() % 2000))});
      row.candidate.library = kObservedLibrary;
      made.source.Add(std::move(row), testing::TestEnvironment(made.selection.threads));
    }
    const Bracket after = Compute(made);
    ASSERT_EQ(before.Find(BoundVariant::kBestKnownOrObserved), nullptr) << seed;
    for (const Bound& bound : before.bounds) {
      const Bound* same = after.Find(bound.variant);
      ASSERT_NE(same, nullptr) << seed;
      ASSERT_EQ(same->latency, bound.latency) << seed << ' ' << Name(bound.variant);
      ASSERT_EQ(same->interval.high, bound.interval.high) << seed << ' ' << Name(bound.variant);
    }
    const Bound* observed = after.Find(BoundVariant::kBestKnownOrObserved);
    if (observed == nullptr) continue;
    ASSERT_LE(observed->latency.count(), FusedSequential(after).count() * (1 + kRounding)) << seed;
    // What it saves is what the layers and groups that it takes save at most.
    Latency saved{0};
    for (const ObservedNode& node : after.observed) saved += *node.known - node.latency;
    ASSERT_GE(observed->latency.count(), (Sequential(after) - saved).count() * (1 - kRounding) -
                                             (Sequential(after) - FusedSequential(after)).count())
        << seed;
    lower += observed->latency < FusedSequential(after);
  }
  EXPECT_GT(lower, testing::Cases(150));
}

TEST(Laws, AnAddedEdgeNeverLowersParallel) {
  for (std::uint64_t seed = 0; seed < testing::Cases(1500); ++seed) {
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
  for (std::uint64_t seed = 0; seed < testing::Cases(1000); ++seed) {
    std::mt19937_64 random(seed);
    testing::RandomGraphOptions options;
    options.layers = random() % 30;
    options.unknown_share = 0.1;
    Case made;
    made.graph = testing::MakeRandomGraph(random, options);
    for (const WorkloadKey& key : testing::WorkloadKeys(made.graph))
      if (random() % 2 == 0) made.source.Add(testing::MeasuredRow(key, "a", {Latency(5)}), testing::TestEnvironment(1));
    made.selection = testing::TestSelection(1);
    const Coverage coverage = Compute(made).coverage;
    ASSERT_NEAR(coverage.measured + coverage.estimated + coverage.free + coverage.missing, 1.0, 1e-12) << seed;
    for (double share : {coverage.measured, coverage.estimated, coverage.free, coverage.missing}) {
      ASSERT_GE(share, 0) << seed;
      ASSERT_LE(share, 1) << seed;
    }
  }
}

// What all candidates of a workload say, by brute force.
struct Times {
  double best = 0;
  double core_time = 0;
  bool is_measured = false;
};

Times TimesOf(Case& made, const WorkloadKey& key) {
  Times times;
  times.best = times.core_time = 1e300;
  const std::vector<WorkloadKey> keys{key};
  for (std::int64_t threads = 1; threads <= made.selection.threads; threads *= 2) {
    const Result<std::vector<Measurement>> rows = made.source.Find(keys, testing::TestSelection(threads));
    EXPECT_TRUE(rows.ok());
    for (const Measurement& row : *rows) {
      for (const Repetition& repetition : row.repetitions) {
        const double median = repetition.median.count();
        if (threads == made.selection.threads) times.best = std::min(times.best, median);
        times.core_time = std::min(times.core_time, median * static_cast<double>(threads));
      }
      times.is_measured |= threads == made.selection.threads;
    }
  }
  if (!times.is_measured) times = {};
  return times;
}

// One selection of regions in place of their layers: its sum, its longest path (nothing where its regions wait for each
// other), its cores' time.
struct Selected {
  double sum = 0;
  std::optional<double> path;
  double core_time = 0;
};

Selected Evaluate(const std::vector<std::vector<LayerId>>& predecessors, const std::vector<Times>& layers,
                  const std::vector<std::pair<std::vector<std::size_t>, Times>>& regions,
                  const std::vector<std::size_t>& chosen) {
  std::vector<std::size_t> node(layers.size());
  std::vector<Times> times = layers;
  for (std::size_t i = 0; i < node.size(); ++i) node[i] = i;
  for (std::size_t region : chosen) {
    for (std::size_t layer : regions[region].first) {
      node[layer] = regions[region].first.front();
      times[layer] = {};
    }
    times[regions[region].first.front()] = regions[region].second;
  }
  Selected selected;
  for (const Times& time : times) {
    selected.sum += time.best;
    selected.core_time += time.core_time;
  }
  // Relaxed edge by edge; still growing after as many rounds as there are layers means a circle.
  std::vector<double> finish(layers.size(), 0);
  for (std::size_t i = 0; i < finish.size(); ++i) finish[i] = times[i].best;
  for (std::size_t round = 0; round <= layers.size(); ++round) {
    bool grows = false;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (LayerId before : predecessors[i]) {
        const std::size_t from = node[before.index()], to = node[i];
        if (from == to || finish[to] >= finish[from] + times[to].best) continue;
        finish[to] = finish[from] + times[to].best;
        grows = true;
      }
    }
    if (!grows) {
      selected.path = *std::ranges::max_element(finish);
      break;
    }
  }
  return selected;
}

TEST(Laws, UpToEightLayersEachVariantEqualsBruteForce) {
  std::size_t fused = 0;
  for (std::uint64_t seed = 0; seed < testing::Cases(3000); ++seed) {
    Case made = MakeCase(seed, 8, true);
    const Bracket bracket = Compute(made);
    const double cores = static_cast<double>(made.selection.threads);
    std::vector<Times> layers;
    for (const Layer& layer : made.graph.layers)
      layers.push_back(layer.workload ? TimesOf(made, KeyOf(*layer.workload)) : Times{});
    std::vector<std::pair<std::vector<std::size_t>, Times>> regions;
    for (const FusableRegion& region : FindFusableRegions(made.graph)) {
      std::vector<std::size_t> members;
      for (LayerId layer : region.layers) members.push_back(layer.index());
      const Times times = TimesOf(made, KeyOf(region.workload));
      if (times.is_measured) regions.emplace_back(std::move(members), times);
    }
    const auto predecessors = Predecessors(made.graph);
    double sequential = 1e300, parallel = 1e300;
    for (std::uint64_t mask = 0; mask < (std::uint64_t{1} << regions.size()); ++mask) {
      std::vector<std::size_t> chosen;
      std::set<std::size_t> taken;
      bool is_selection = true;
      for (std::size_t i = 0; i < regions.size(); ++i) {
        if ((mask >> i & 1) == 0) continue;
        chosen.push_back(i);
        for (std::size_t layer : regions[i].first) is_selection &= taken.insert(layer).second;
      }
      if (!is_selection) continue;
      const Selected selected = Evaluate(predecessors, layers, regions, chosen);
      sequential = std::min(sequential, selected.sum);
      if (selected.path) parallel = std::min(parallel, std::max(*selected.path, selected.core_time / cores));
    }
    const Selected none = Evaluate(predecessors, layers, regions, {});
    ASSERT_NEAR(Sequential(bracket).count(), none.sum, kRounding * none.sum) << seed;
    ASSERT_NEAR(Parallel(bracket).count(), std::max(*none.path, none.core_time / cores), kRounding * none.sum) << seed;
    ASSERT_NEAR(FusedSequential(bracket).count(), sequential, kRounding * none.sum) << seed;
    ASSERT_NEAR(FusedParallel(bracket).count(), parallel, kRounding * none.sum) << seed;
    fused += sequential < none.sum;
    double flagged = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) flagged += bracket.layers[i].on_critical_path ? layers[i].best : 0;
    ASSERT_NEAR(flagged, *none.path, kRounding * none.sum) << seed;
  }
  EXPECT_GT(fused, testing::Cases(500));
}

// One layer at a time free, or at its floor, and everything solved again.
TEST(Laws, MarginalGainsEqualSolvingAgain) {
  std::size_t gains = 0;
  for (std::uint64_t seed = 0; seed < testing::Cases(600); ++seed) {
    Case made = MakeCase(seed, 20, true);
    const Bracket bracket = Compute(made);
    const double cores = static_cast<double>(made.selection.threads);
    std::vector<Times> layers;
    for (const Layer& layer : made.graph.layers)
      layers.push_back(layer.workload ? TimesOf(made, KeyOf(*layer.workload)) : Times{});
    const auto predecessors = Predecessors(made.graph);
    const auto parallel = [&](const std::vector<Times>& times) {
      const Selected all = Evaluate(predecessors, times, {}, {});
      return std::max(*all.path, all.core_time / cores);
    };
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (const bool at_floor : {false, true}) {
        std::vector<Times> changed = layers;
        const double floor = std::min(layers[i].best, bracket.layers[i].floor.count());
        changed[i].best = at_floor ? floor : 0;
        changed[i].core_time = std::min(layers[i].core_time, changed[i].best * cores);
        const double gain = parallel(layers) - parallel(changed);
        const Latency told =
            at_floor ? bracket.layers[i].parallel_gain_at_floor : bracket.layers[i].parallel_gain_if_free;
        ASSERT_NEAR(told.count(), gain, 1e-6) << seed << " layer " << i;
        gains += gain > 0;
      }
    }
  }
  EXPECT_GT(gains, testing::Cases(1000));
}

// The same gains by the mechanism that a user asks.
TEST(Laws, MarginalGainsEqualWhatIfs) {
  std::size_t gains = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Case made = MakeCase(seed, 12, true);
    BracketOptions options;
    for (std::size_t i = 0; i < made.graph.layers.size(); ++i)
      for (const LayerChange::Kind kind : {LayerChange::Kind::kFree, LayerChange::Kind::kFloor})
        options.what_ifs.push_back({"one", {{LayerId(i), kind, 0}}});
    const Bracket bracket = Compute(made, options);
    for (std::size_t i = 0; i < made.graph.layers.size(); ++i) {
      const LayerLatency& layer = bracket.layers[i];
      const auto gain = [&](std::size_t place) {
        for (const WhatIfBound& bound : bracket.what_ifs[place].bounds)
          if (bound.variant == BoundVariant::kParallel) return bound.gain->count();
        return -1.0;
      };
      if (bracket.what_ifs[2 * i].bounds.empty()) continue;
      ASSERT_NEAR(layer.parallel_gain_if_free.count(), gain(2 * i), 1e-6) << seed << " layer " << i;
      ASSERT_NEAR(layer.parallel_gain_at_floor.count(), gain(2 * i + 1), 1e-6) << seed << " layer " << i;
      gains += gain(2 * i + 1) > 0;
    }
  }
  EXPECT_GT(gains, testing::Cases(300));
}

}  // namespace
}  // namespace infimum::laws_test
