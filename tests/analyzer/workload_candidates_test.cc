#include "analyzer/rows/workload_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/analyzer/known_rows.h"

namespace infimum::workload_candidates_test {
namespace {

using testing::MeasuredRow;
using testing::TestEnvironment;

const WorkloadCandidates* Find(const CandidatesOfModel& known, const WorkloadKey& key) {
  const auto found = std::ranges::find(known.workloads, key, &WorkloadCandidates::workload);
  return found == known.workloads.end() ? nullptr : &*found;
}

// Two environments of one library, of which the bound takes one: the other's rows, though faster, are not shown.
TEST(WorkloadCandidates, TheBestOneIsTheOneThatTheBoundCounts) {
  std::size_t regions = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    testing::RandomGraphOptions options;
    options.layers = 25;
    const ModelGraph graph = testing::MakeRandomGraph(random, options);
    testing::KnownRows source;
    const std::vector<WorkloadKey> layers = testing::WorkloadKeys(graph), fused = testing::RegionKeys(graph);
    const std::int64_t threads = seed % 2 == 0 ? 1 : 4;
    for (std::int64_t count = 1; count <= threads; count *= 2) {
      testing::AddRandomRows(random, layers, count, source);
      testing::AddRandomRows(random, fused, count, source);
    }
    Environment newer = TestEnvironment(threads);
    newer.libraries["another"] = "newer";
    Measurement failed = MeasuredRow(layers.front(), "crashes", {});
    failed.outcome = Outcome::kFailed;
    failed.reason = "signal 11";
    source.Add(failed, TestEnvironment(threads));
    source.Add(MeasuredRow(layers.front(), "a", {Latency(0.001)}), newer);
    const Selection selection = testing::TestSelection(threads);
    const Result<Bracket> bracket = ComputeBracket(graph, source, selection);
    const Result<CandidatesOfModel> known = CandidatesOf(graph, source, selection);
    ASSERT_TRUE(bracket.ok() && known.ok());
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      const LayerLatency& layer = bracket->layers[i];
      if (layer.status != LatencyStatus::kMeasured) continue;
      const WorkloadCandidates* found = Find(*known, KeyOf(*graph.layers[i].workload));
      ASSERT_TRUE(found != nullptr && found->best);
      EXPECT_EQ(found->candidates[*found->best].row.candidate, *layer.candidate);
      // Its own time; that of the layer is of repetitions that did not name it.
      EXPECT_LE(found->candidates[*found->best].latency->count(), layer.latency->count() * (1 + 1e-12));
      EXPECT_EQ(*found->best, 0u);
      ASSERT_EQ(found->choice.has_value(), layer.choice.has_value());
      if (layer.choice) {
        EXPECT_EQ(found->candidates[*found->choice].row.candidate, layer.choice->candidate);
        EXPECT_EQ(found->regret, layer.choice->regret);
        EXPECT_EQ(found->regret_is_validated, layer.choice->is_validated);
      }
    }
    for (const RegionLatency& region : bracket->regions) {
      const WorkloadCandidates* found = Find(*known, KeyOf(region.region->workload));
      ASSERT_TRUE(found != nullptr && found->best);
      EXPECT_EQ(found->candidates[*found->best].row.candidate, region.candidate);
      EXPECT_LE(found->candidates[*found->best].latency->count(), region.latency.count() * (1 + 1e-12));
      ++regions;
    }
    const WorkloadCandidates* first = Find(*known, layers.front());
    ASSERT_NE(first, nullptr);
    const KnownCandidate& last = first->candidates.back();
    EXPECT_EQ(last.row.outcome, Outcome::kFailed);
    EXPECT_EQ(last.row.reason, "signal 11");
    EXPECT_FALSE(last.latency || last.interval);
    for (const WorkloadCandidates& workload : known->workloads)
      EXPECT_TRUE(std::ranges::is_sorted(workload.candidates, {}, [](const KnownCandidate& candidate) {
        return candidate.latency.value_or(Latency(1e300));
      }));
  }
  EXPECT_GT(regions, 0u);
}

TEST(WorkloadCandidates, SayWhenTheNewestRowThatCountsWasMeasured) {
  std::mt19937_64 random(3);
  const ModelGraph graph = testing::MakeRandomGraph(random, {});
  const WorkloadKey key = testing::WorkloadKeys(graph).front();
  MemorySource source;
  for (const char* time : {"2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z", "2026-11-21T00:00:00Z"}) {
    Measurement row = MeasuredRow(key, time, {Latency(2)});
    row.measured_at = time;
    source.Add(row, TestEnvironment(1));
  }
  Measurement elsewhere = MeasuredRow(key, "other", {Latency(1)});
  elsewhere.device = DeviceKey{"cpu/another"};
  elsewhere.measured_at = "2026-11-23T00:00:00Z";
  source.Add(elsewhere, TestEnvironment(1));
  const Result<CandidatesOfModel> known = CandidatesOf(graph, source, testing::TestSelection(1));
  ASSERT_TRUE(known.ok());
  EXPECT_EQ(known->newest, "2026-11-22T00:00:00Z");
  EXPECT_EQ(CandidatesOf(graph, source, testing::TestSelection(2))->newest, "");
}

}  // namespace
}  // namespace infimum::workload_candidates_test
