#include "analyzer/bounds.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

// The worked example of bounds.h.
const std::vector<std::vector<LayerId>> kDiamond = {{}, {LayerId(0)}, {LayerId(0)}, {LayerId(1), LayerId(2)}};

LayerTimes Times(double best, double core_time) {
  return {Latency(best), {Latency(best * 0.9), Latency(best * 1.1)}, Latency(core_time)};
}

TEST(Bounds, LayersThatEachUseAllCoresGainNothingByRunningAtOnce) {
  const std::vector<LayerTimes> times = {Times(2, 8), Times(3, 12), Times(1, 4), Times(1, 4)};
  const CombinedBounds bounds = CombineBounds(DagView(kDiamond), times, 4);
  EXPECT_EQ(bounds.sequential, Latency(7));
  EXPECT_EQ(bounds.longest_path.latency, Latency(6));
  EXPECT_EQ(bounds.parallel, Latency(7));
  EXPECT_FALSE(bounds.path_decides_parallel);
}

TEST(Bounds, ALayerThatUsesOneCoreWellLeavesTheOthersToItsNeighbours) {
  const std::vector<LayerTimes> times = {Times(2, 8), Times(3, 4), Times(1, 4), Times(1, 4)};
  const CombinedBounds bounds = CombineBounds(DagView(kDiamond), times, 4);
  EXPECT_EQ(bounds.parallel, Latency(6));
  EXPECT_TRUE(bounds.path_decides_parallel);
}

TEST(Bounds, OnOneCoreParallelEqualsSequential) {
  const std::vector<LayerTimes> times = {Times(2, 2), Times(3, 3), Times(1, 1), Times(1, 1)};
  const CombinedBounds bounds = CombineBounds(DagView(kDiamond), times, 1);
  EXPECT_EQ(bounds.parallel, bounds.sequential);
}

TEST(Bounds, IntervalsCombineAsTheLatenciesDo) {
  const std::vector<LayerTimes> times = {Times(2, 8), Times(3, 4), Times(1, 4), Times(1, 4)};
  const CombinedBounds bounds = CombineBounds(DagView(kDiamond), times, 4);
  EXPECT_NEAR(bounds.sequential_interval.low.count(), 6.3, 1e-9);
  EXPECT_NEAR(bounds.sequential_interval.high.count(), 7.7, 1e-9);
  EXPECT_NEAR(bounds.parallel_interval.low.count(), 5.4, 1e-9);
  EXPECT_NEAR(bounds.parallel_interval.high.count(), 6.6, 1e-9);
}

}  // namespace
}  // namespace infimum
