// What emitted programs say a launch takes, on a GPU that is only a clock.
#include "src/emit/emitted/cuda_timing.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/emit/fake_cuda_runtime.h"

namespace infimum::testing {
namespace {

gpu::GpuTimes Measure(FakeGpu fake) {
  FakeGpu::Get() = fake;
  const gpu::Stream stream;
  gpu::GpuTimes times = gpu::TakeGpuSamples(LaunchOnFake, stream.get());
  EXPECT_EQ(FakeGpu::Get().graphs, 0);
  EXPECT_FALSE(FakeGpu::Get().is_capturing);
  return times;
}

TEST(CudaTiming, IsWhatOneMoreLaunchCosts) {
  const gpu::GpuTimes result = Measure({.kernel_us = 3, .gap_us = 2, .graph_us = 6, .node_us = 0.5});
  EXPECT_TRUE(result.captured);
  EXPECT_NEAR(result.times.median_us, 3, 1e-3);      // neither what launches cost the host nor the graph's 6
  EXPECT_EQ(result.times.launches_per_sample, 400);  // 2 ms of launches into a stream
  EXPECT_GE(result.times.samples, 30U);
  EXPECT_EQ(result.times.disturbed, 0U);
}

// Without those that are not positive half of the rest would be too long.
TEST(CudaTiming, DifferencesThatAreNotPositiveCountToo) {
  const gpu::GpuTimes result = Measure({.kernel_us = 3, .wander_us = 5000});
  EXPECT_NEAR(result.times.median_us, 3, 1e-2);
  EXPECT_GT(result.times.disturbed, 0U);
  EXPECT_GT(result.times.min_us, 0);
}

TEST(CudaTiming, WhatCannotBeCapturedIsLaunchedIntoAStreamAndSaysSo) {
  const gpu::GpuTimes result = Measure({.kernel_us = 3, .gap_us = 2, .can_capture = false});
  EXPECT_FALSE(result.captured);
  EXPECT_NEAR(result.times.median_us, 5, 1e-3);  // the host's part is in it
}

TEST(CudaTiming, SlowLaunchesAreFewAndAlone) {
  const gpu::GpuTimes result = Measure({.kernel_us = 150'000});
  EXPECT_EQ(result.times.launches_per_sample, 1);
  EXPECT_EQ(result.times.samples, 3U);
  EXPECT_NEAR(result.times.median_us, 150'000, 50);  // events are floats of milliseconds
}

TEST(CudaTiming, ALaunchThatFailsThrowsItsWords) {
  const gpu::Stream stream;
  EXPECT_THROW(gpu::TakeGpuSamples([](cudaStream_t) { throw std::runtime_error("CUDNN_STATUS_EXECUTION_FAILED"); },
                                   stream.get()),
               std::runtime_error);
}

TEST(CudaMemory, NumbersAreRandomInTheirRangeAndTheSameEachTime) {
  const gpu::Buffer first(4 << 20), second(4 << 20);
  gpu::FillRandomly(first, CUDA_R_16F, 0.25, 4, 7);
  gpu::FillRandomly(second, CUDA_R_16F, 0.25, 4, 7);
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.bytes()), 0);
  const auto* const halves = static_cast<const __half*>(first.data());
  double sum = 0;
  for (std::size_t i = 0; i < first.bytes() / sizeof(__half); ++i) {
    const float value = __half2float(halves[i]);
    ASSERT_GE(value, 0.25F);
    ASSERT_LE(value, 4.0F);
    sum += static_cast<double>(value);
  }
  EXPECT_NEAR(sum / static_cast<double>(first.bytes() / sizeof(__half)), 2.125, 0.01);
}

TEST(CudaMemory, NumbersHaveTheBytesOfTheirType) {
  unsigned char bytes[8];
  for (const auto& [type, size] : {std::pair(CUDA_R_64F, 8U),
                                   {CUDA_R_32F, 4U},
                                   {CUDA_R_16BF, 2U},
                                   {CUDA_R_8F_E4M3, 1U},
                                   {CUDA_R_8F_E5M2, 1U},
                                   {CUDA_R_64I, 8U},
                                   {CUDA_R_32I, 4U},
                                   {CUDA_R_8I, 1U}})
    EXPECT_EQ(gpu::Encode(type, 1, bytes), size);
  EXPECT_THROW(gpu::Encode(CUDA_C_32F, 1, bytes), std::runtime_error);
  gpu::Encode(CUDA_R_8I, -3, bytes);
  EXPECT_EQ(static_cast<signed char>(bytes[0]), -3);
}

}  // namespace
}  // namespace infimum::testing
