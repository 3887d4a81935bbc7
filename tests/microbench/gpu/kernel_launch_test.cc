// Launches link, and without a driver they are errors, not crashes.
#include <gtest/gtest.h>

#include "microbench/kernels/cuda/kernel_call.h"
#include "microbench/kernels/cuda/timing_kernels.h"

namespace infimum::cuda {
namespace {

bool HasDevice() { return ArithmeticBlocks(ArithmeticPeak::kF32) > 0; }

TEST(KernelLaunches, AreErrorsWithoutADevice) {
  if (HasDevice()) GTEST_SKIP() << "there is a device";
  FlatCopyCall copy;
  copy.bytes = 16;
  EXPECT_NE(LaunchOnDevice(copy, nullptr), 0);
  TransposeCall transpose;
  transpose.rows = transpose.columns = 1;
  EXPECT_NE(LaunchOnDevice(transpose, nullptr), 0);
  PointwiseCall pointwise;
  pointwise.count = 4;
  EXPECT_NE(LaunchOnDevice(pointwise, nullptr), 0);
  RowCall row;
  row.space.rows = row.space.length = 1;
  EXPECT_NE(LaunchOnDevice(row, nullptr), 0);
  ReduceCall reduce;
  reduce.kept_count = 1;
  EXPECT_NE(LaunchOnDevice(reduce, nullptr), 0);
  EXPECT_NE(LaunchEmpty(nullptr), 0);
  EXPECT_NE(LaunchBandwidth(BandwidthCall(), nullptr), 0);
  EXPECT_NE(LaunchArithmetic(ArithmeticCall(), nullptr), 0);
  const std::uint32_t flag = 1;
  EXPECT_NE(LaunchHold(&flag, 1000, nullptr), 0);
}

TEST(KernelLaunches, OfNothingAreNoLaunches) {
  EXPECT_EQ(LaunchOnDevice(FlatCopyCall(), nullptr), 0);
  EXPECT_EQ(LaunchOnDevice(PointwiseCall(), nullptr), 0);
  EXPECT_EQ(LaunchOnDevice(PoolCall(), nullptr), 0);
}

}  // namespace
}  // namespace infimum::cuda
