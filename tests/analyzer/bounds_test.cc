#include "analyzer/bounds/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/bounds/dag_view.h"

namespace infimum::bounds_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The worked example of bounds.h.
const std::vector<std::vector<LayerId>> kDiamond = {{}, {LayerId(0)}, {LayerId(0)}, {LayerId(1), LayerId(2)}};

// On `cores` cores; `core_time` is cores x time.
NodeTimes Times(double best, double core_time, double cores = 4) {
  return {Latency(best), {Latency(core_time / cores)}};
}

BoundsProblem Diamond(std::vector<NodeTimes> layers, std::vector<RegionTimes> regions = {}) {
  return {kDiamond, std::move(layers), std::move(regions), {"core-time"}};
}

TEST(Bounds, LayersThatEachUseAllCoresGainNothingByRunningAtOnce) {
  const CombinedBounds bounds = CombineBounds(Diamond({Times(2, 8), Times(3, 12), Times(1, 4), Times(1, 4)}));
  EXPECT_EQ(bounds.sequential.latency, Latency(7));
  EXPECT_EQ(bounds.longest_path.latency, Latency(6));
  EXPECT_EQ(bounds.parallel.latency, Latency(7));
  EXPECT_EQ(bounds.parallel.decided_by, "core-time");
}

TEST(Bounds, ALayerThatUsesOneCoreWellLeavesTheOthersToItsNeighbours) {
  const CombinedBounds bounds = CombineBounds(Diamond({Times(2, 8), Times(3, 4), Times(1, 4), Times(1, 4)}));
  EXPECT_EQ(bounds.parallel.latency, Latency(6));
  EXPECT_EQ(bounds.parallel.decided_by, "longest-path");
}

TEST(Bounds, OnOneCoreParallelEqualsSequential) {
  const CombinedBounds bounds =
      CombineBounds(Diamond({Times(2, 2, 1), Times(3, 3, 1), Times(1, 1, 1), Times(1, 1, 1)}));
  EXPECT_EQ(bounds.parallel.latency, bounds.sequential.latency);
}

TEST(Bounds, OfSeveralResourcesTheBusiestDecides) {
  BoundsProblem problem = Diamond({});
  problem.resources = {"memory", "arithmetic-f32"};
  for (double best : {2.0, 3.0, 3.0, 1.0})
    problem.layers.push_back({Latency(best), {Latency(best * 0.9), Latency(0.1)}});
  const CombinedBounds bounds = CombineBounds(problem);
  EXPECT_DOUBLE_EQ(bounds.parallel.latency.count(), 8.1);
  EXPECT_EQ(bounds.parallel.decided_by, "memory");
}

TEST(Bounds, ARegionIsRunOnlyWhereItHelps) {
  const CombinedBounds bounds =
      CombineBounds(Diamond({Times(2, 8), Times(3, 4), Times(1, 4), Times(1, 4)}, {{{1, 3}, Times(3.2, 5)}}));
  EXPECT_NEAR(bounds.fused_sequential.latency.count(), 6.2, 1e-9);
  EXPECT_THAT(bounds.chosen, ElementsAre(0));
  EXPECT_EQ(bounds.fused_parallel.latency, Latency(6));
}

// A -> B and A -> C; one look at the sequential gain fuses A with B and makes 11 into 20.5.
TEST(Bounds, FusingWhatOthersWaitForIsLeftAlone) {
  BoundsProblem problem;
  problem.predecessors = {{}, {LayerId(0)}, {LayerId(0)}};
  problem.resources = {"core-time"};
  problem.layers = {Times(1, 0.1), Times(10, 1), Times(10, 1)};
  problem.regions = {{{0, 1}, Times(10.5, 1.1)}};
  const CombinedBounds bounds = CombineBounds(problem);
  EXPECT_EQ(bounds.parallel.latency, Latency(11));
  EXPECT_EQ(bounds.fused_parallel.latency, Latency(11));
  EXPECT_TRUE(bounds.fused_parallel.exact);
  EXPECT_EQ(bounds.fused_sequential.latency, Latency(20.5));
  const std::vector<FusionCandidate> region = {{{0, 1}, Latency(10.5)}};
  const std::vector<Latency> times = {Latency(1), Latency(10), Latency(10)};
  EXPECT_EQ(FusedPath(problem.predecessors, times, region, std::vector<std::size_t>{0}), Latency(20.5));
  EXPECT_EQ(FusedPath(problem.predecessors, times, region, {}), Latency(11));
}

TEST(Bounds, RegionsThatWaitForEachOtherAreNoSelection) {
  // 0 -> 3 and 1 -> 2 as edges between {0, 2} and {1, 3}: each is convex, both together are a circle.
  const std::vector<std::vector<LayerId>> predecessors = {{}, {}, {LayerId(1)}, {LayerId(0)}};
  const std::vector<Latency> times(4, Latency(1));
  const std::vector<FusionCandidate> regions = {{{0, 2}, Latency(1)}, {{1, 3}, Latency(1)}};
  EXPECT_EQ(FusedPath(predecessors, times, regions, std::vector<std::size_t>{0, 1}), std::nullopt);
  EXPECT_EQ(FusedPath(predecessors, times, regions, std::vector<std::size_t>{1}), Latency(3));
}

TEST(Bounds, ManyRegionsAreRelaxedAndSaySo) {
  // Forty diamonds in a row, each with the region of the instance above: no selection is as good as its relaxation.
  BoundsProblem problem;
  problem.resources = {"core-time"};
  for (std::size_t i = 0; i < 40; ++i) {
    const std::size_t first = 3 * i;
    problem.predecessors.push_back(i == 0 ? std::vector<LayerId>{}
                                          : std::vector<LayerId>{LayerId(first - 2), LayerId(first - 1)});
    problem.predecessors.push_back({LayerId(first)});
    problem.predecessors.push_back({LayerId(first)});
    for (double best : {1.0, 10.0, 10.0}) problem.layers.push_back(Times(best, best / 10));
    problem.regions.push_back({{first, first + 1}, Times(10.5, 1.05)});
  }
  const CombinedBounds bounds = CombineBounds(problem);
  EXPECT_NEAR(bounds.parallel.latency.count(), 40 * 11, 1e-9);
  EXPECT_LE(bounds.fused_parallel.latency, bounds.parallel.latency);
  EXPECT_GT(bounds.fused_parallel.latency.count(), 40 * 10.9);
  EXPECT_FALSE(bounds.fused_parallel.exact);
}

TEST(Bounds, WithoutRegionsTheFusedOnesEqualTheOthers) {
  const CombinedBounds bounds = CombineBounds(Diamond({Times(2, 8), Times(3, 4), Times(1, 4), Times(1, 4)}));
  EXPECT_EQ(bounds.fused_sequential.latency, bounds.sequential.latency);
  EXPECT_EQ(bounds.fused_parallel.latency, bounds.parallel.latency);
  EXPECT_THAT(bounds.chosen, IsEmpty());
}

}  // namespace
}  // namespace infimum::bounds_test
