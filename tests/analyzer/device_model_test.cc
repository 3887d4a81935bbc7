#include "analyzer/types/device_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random_graph.h"

namespace infimum::device_model_test {
namespace {

using ::testing::HasSubstr;

constexpr double kMiB = 1 << 20;

DeviceModel Model(const DevicePeaks& peaks, std::int64_t threads = 1) {
  Result<DeviceModel> model = DeviceModel::Make(testing::TestDeviceKey(), peaks, threads);
  EXPECT_TRUE(model.ok());
  return *model;
}

double Seconds(Latency latency) { return latency.count() * 1e-6; }

TEST(DeviceModel, CachesAreReadFromTheDevicesKey) {
  const std::vector<CacheSize> caches = CachesOf(testing::TestDeviceKey());
  ASSERT_EQ(caches.size(), 3u);
  EXPECT_EQ(caches[0].name, "l1");
  EXPECT_EQ(caches[0].bytes, 32768);
  EXPECT_EQ(caches[2].bytes, 8 * kMiB);
  EXPECT_TRUE(CachesOf({"cpu/x/l1=/l2=-3K/lx=3K/l4"}).empty());
}

TEST(DeviceModel, BytesBeyondAllCachesMoveAtTheRateOfTheLargestWorkingSets) {
  const MemoryFloor floor = Model(testing::TestPeaks()).Memory(128 * kMiB, 0);
  const double caches = 32768 + 524288 + 8 * kMiB;
  EXPECT_EQ(floor.level, "memory");
  EXPECT_NEAR(Seconds(floor.latency), (128 * kMiB - caches) / 20e9, 1e-12);
}

TEST(DeviceModel, WhatFitsIntoTheNearestCacheMovesAtTheBestRateSeen) {
  const MemoryFloor floor = Model(testing::TestPeaks()).Memory(8192, 0);
  EXPECT_EQ(floor.level, "l1");
  EXPECT_NEAR(Seconds(floor.latency), 8192 / 200e9, 1e-15);
}

TEST(DeviceModel, AnEvenMixtureOfReadsAndWritesMovesAtTheRateOfACopy) {
  const double half = 4096;
  EXPECT_NEAR(Seconds(Model(testing::TestPeaks()).Memory(half, half).latency), 2 * half / 160e9, 1e-15);
}

TEST(DeviceModel, TheBytesThatPayMostStayInTheCache) {
  // 4 MiB more than the caches hold, all of them may be reads, which are cheaper than copies.
  const double caches = 32768 + 524288 + 8 * kMiB;
  const double beyond = 4 * kMiB;
  const MemoryFloor floor = Model(testing::TestPeaks()).Memory(caches, beyond);
  EXPECT_LE(Seconds(floor.latency), beyond / 20e9 + caches / 60e9);
}

TEST(DeviceModel, Tf32IsFasterUnderItsContractAlone) {
  DevicePeaks peaks = testing::TestPeaks();
  peaks.rates.push_back({PeakRate::Kind::kTf32, Bytes{}, DataType::kF32, 1, 800e9, "measured"});
  EXPECT_EQ(Model(peaks).Arithmetic(DataType::kF32)->value, 100e9);
  const Result<DeviceModel> model = DeviceModel::Make(testing::TestDeviceKey(), peaks, 1, NumericContract::kTf32);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->Arithmetic(DataType::kF32)->value, 800e9);
  // Not known: no rate of plain f32 stands for it, that of a narrower type is no less than it.
  const auto unknown = [](const DevicePeaks& known) {
    return *DeviceModel::Make(testing::TestDeviceKey(), known, 1, NumericContract::kTf32);
  };
  EXPECT_FALSE(unknown(testing::TestPeaks()).Arithmetic(DataType::kF32).has_value());
  DevicePeaks halves = testing::TestPeaks();
  halves.rates.push_back({PeakRate::Kind::kArithmetic, Bytes{}, DataType::kF16, 1, 900e9, "measured"});
  EXPECT_EQ(unknown(halves).Arithmetic(DataType::kF32)->value, 900e9);
  EXPECT_FALSE(unknown(halves).HasArithmetic(DataType::kF32));
}

TEST(DeviceModel, TheFastestLaunchCounts) {
  DevicePeaks peaks = testing::TestPeaks();
  EXPECT_EQ(Model(peaks).launch(), Latency(0));
  peaks.rates.push_back({PeakRate::Kind::kLaunch, Bytes{}, DataType::kF32, 1, 250e3, "measured"});
  peaks.rates.push_back({PeakRate::Kind::kLaunch, Bytes{}, DataType::kF32, 1, 500e3, "measured"});
  EXPECT_NEAR(Model(peaks).launch().count(), 2, 1e-9);
}

TEST(DeviceModel, ADataSheetThatPromisesMoreRaisesTheRate) {
  DevicePeaks peaks = testing::TestPeaks();
  PeakRate sheet;
  sheet.kind = PeakRate::Kind::kRead;
  sheet.per_second = 30e9;
  sheet.source = "data sheet: a test";
  peaks.rates.push_back(sheet);
  const DeviceModel model = Model(peaks);
  EXPECT_TRUE(model.memory_data_sheet());
  const double caches = 32768 + 524288 + 8 * kMiB;
  EXPECT_NEAR(Seconds(model.Memory(64 * kMiB, 64 * kMiB).latency), (128 * kMiB - caches) / 30e9, 1e-12);
}

TEST(DeviceModel, AFasterMeasurementOfALayerRaisesTheRateSoThatItsFloorHolds) {
  DeviceModel model = Model(testing::TestPeaks());
  PointwiseConfig config;
  config.inputs = {Shape{{32 << 20}}};  // 128 MiB read, 128 MiB written
  const Work work = WorkOf(config);
  const Latency fast = model.Memory(128 * kMiB, 128 * kMiB).latency * 0.5;
  model.Observe(LayerConfig(config), work, "fast", fast);
  EXPECT_NEAR(model.Memory(128 * kMiB, 128 * kMiB).latency.count(), fast.count(), 1e-6 * fast.count());
}

TEST(DeviceModel, ASlowMeasurementOfALayerChangesNothing) {
  DeviceModel model = Model(testing::TestPeaks());
  PointwiseConfig config;
  config.inputs = {Shape{{32 << 20}}};
  const Latency before = model.Memory(1e9, 0).latency;
  model.Observe(LayerConfig(config), WorkOf(config), "slow", Latency(1e6));
  EXPECT_EQ(model.Memory(1e9, 0).latency, before);
}

TEST(DeviceModel, WinogradShowsNoRateOfArithmetic) {
  DeviceModel model = Model(testing::TestPeaks());
  ConvolutionConfig config;
  config.input = Shape{{1, 64, 56, 56}};
  config.output_channels = 64;
  config.kernel = Shape{{3, 3}};
  config.stride = config.dilation = Shape{{1, 1}};
  config.padding = {1, 1, 1, 1};
  const Work work = WorkOf(config);
  const Latency fast = work.direct / FlopsPerSecond{200e9};
  model.Observe(LayerConfig(config), work, "jit_wino:avx512", fast);
  EXPECT_EQ(model.Arithmetic(DataType::kF32)->value, 100e9);
  model.Observe(LayerConfig(config), work, "brgconv:avx512", fast);
  EXPECT_GT(model.Arithmetic(DataType::kF32)->value, 150e9);
}

TEST(DeviceModel, RatesOfOneCoreBoundManyInProportion) {
  const DeviceModel model = Model(testing::TestPeaks(), 4);
  EXPECT_EQ(model.Arithmetic(DataType::kF32)->value, 400e9);
}

TEST(DeviceModel, ATypeWithoutAPeakBorrowsTheBestOfThoseThatAreNoWider) {
  const DeviceModel model = Model(testing::TestPeaks());
  EXPECT_FALSE(model.HasArithmetic(DataType::kF64));
  EXPECT_EQ(model.Arithmetic(DataType::kF64)->value, 100e9);
  // Nothing says that bf16 is no faster than f32.
  EXPECT_EQ(model.Arithmetic(DataType::kBF16), std::nullopt);
}

TEST(DeviceModel, TheCopyCurveIsInterpolatedInLogarithms) {
  const DeviceModel model = Model(testing::TestPeaks());
  EXPECT_NEAR(Seconds(*model.CopyTime(16384)), 16384 / 160e9, 1e-15);
  // Half-way between 16 KiB and 1 MiB is 128 KiB, half-way between 160 and 40 GB/s is 80 GB/s.
  EXPECT_NEAR(Seconds(*model.CopyTime(131072)), 131072 / 80e9, 1e-14);
  EXPECT_NEAR(Seconds(*model.CopyTime(1e9)), 1e9 / 16e9, 1e-9);
  EXPECT_EQ(*model.CopyTime(0), Latency(0));
}

TEST(DeviceModel, ALevelWithoutAMeasuredPointIsNotGivenAFartherOnesRate) {
  DevicePeaks peaks = testing::TestPeaks();
  std::erase_if(peaks.rates, [](const PeakRate& rate) { return rate.working_set.value == 1 << 20; });
  // Nothing is known of L3: 4 MiB may come from it, at any rate up to L1's.
  EXPECT_NEAR(Seconds(Model(peaks).Memory(4 * kMiB, 0).latency), 4 * kMiB / 200e9, 1e-12);
}

TEST(DeviceModel, WithoutAnyRateTheErrorSaysWhatToDo) {
  const Result<DeviceModel> model = DeviceModel::Make(testing::TestDeviceKey(), {}, 1);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().message, HasSubstr("run `infimum analyze` on it with the same --threads"));
}

TEST(DeviceModel, RatesThatAreNoNumbersAreLeftOut) {
  DevicePeaks peaks = testing::TestPeaks();
  for (double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    PeakRate rate = peaks.rates[0];
    rate.per_second = bad;
    peaks.rates.push_back(rate);
  }
  EXPECT_NEAR(Seconds(Model(peaks).Memory(8192, 0).latency), 8192 / 200e9, 1e-15);
}

}  // namespace
}  // namespace infimum::device_model_test
