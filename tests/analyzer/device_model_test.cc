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

TEST(DeviceModel, AMeasuredWorkingSetTakesTheTimeThatWasMeasured) {
  const MemoryFloor floor = Model(testing::TestPeaks()).Memory(128 * kMiB, 0);
  EXPECT_EQ(floor.level, "memory");
  EXPECT_NEAR(Seconds(floor.latency), 128 * kMiB / 20e9, 1e-12);
}

PeakRate Rate(PeakRate::Kind kind, double mib, double per_second, std::int64_t threads = 1) {
  return {kind, Bytes{static_cast<std::int64_t>(mib * kMiB)}, DataType::kNone, threads, per_second, "measured"};
}

// Sixteen cores of an EPYC 7003 on two complexes with a last-level cache of 32 MiB each. 64 MiB of weights lie in both.
TEST(DeviceModel, WhatFitsTheCachesOfSeveralComplexesIsNotChargedToMemory) {
  DevicePeaks peaks;
  for (double mib = 0.25; mib <= 64; mib *= 2) peaks.rates.push_back(Rate(PeakRate::Kind::kRead, mib, 400e9, 16));
  for (double mib = 128; mib <= 512; mib *= 2) peaks.rates.push_back(Rate(PeakRate::Kind::kRead, mib, 80e9, 16));
  const Result<DeviceModel> model = DeviceModel::Make({"cpu/AuthenticAMD/l1=32K/l2=512K/l3=32M/cores=64"}, peaks, 16);
  ASSERT_TRUE(model.ok());
  EXPECT_LE(Seconds(model->Memory(64 * kMiB, 0).latency), 64 * kMiB / 400e9 * 1.001);
}

// A level of 480 MiB is what the processor says; what others leave of it is a part.
TEST(DeviceModel, ACacheThatHoldsLessThanItsSizeKeepsNoBytesFree) {
  DevicePeaks peaks;
  const auto seconds = [](double mib) { return (std::min(mib, 32.0) / 30e9 + std::max(mib - 32, 0.0) / 10e9) * kMiB; };
  for (double mib = 1; mib <= 2048; mib *= 2)
    peaks.rates.push_back(Rate(PeakRate::Kind::kRead, mib, mib * kMiB / seconds(mib)));
  const Result<DeviceModel> model = DeviceModel::Make({"cpu/x/l1=48K/l2=2M/l3=480M/cores=2"}, peaks, 1);
  ASSERT_TRUE(model.ok());
  EXPECT_NEAR(Seconds(model->Memory(250 * kMiB, 0).latency), seconds(250), 1e-6 * seconds(250));
}

TEST(DeviceModel, WhatFitsIntoTheNearestCacheMovesAtTheBestRateSeen) {
  const MemoryFloor floor = Model(testing::TestPeaks()).Memory(8192, 0);
  EXPECT_NEAR(Seconds(floor.latency), 8192 / 200e9, 1e-15);
}

TEST(DeviceModel, AnEvenMixtureOfReadsAndWritesMovesAtTheRateOfACopy) {
  const double half = 4096;
  EXPECT_NEAR(Seconds(Model(testing::TestPeaks()).Memory(half, half).latency), 2 * half / 160e9, 1e-15);
}

TEST(DeviceModel, OfAMixtureEachPartTakesAtLeastItsOwnTime) {
  const DeviceModel model = Model(testing::TestPeaks());
  // Which bytes stay near is the program's choice: what is written may, so that the reads alone are sure.
  EXPECT_NEAR(Seconds(model.Memory(128 * kMiB, 4096).latency), (128 * kMiB + 4096) / 20e9, 1e-12);
  EXPECT_GE(model.Memory(96 * kMiB, 64 * kMiB).latency, model.Memory(64 * kMiB, 64 * kMiB).latency);
  EXPECT_EQ(Seconds(model.Memory(64 * kMiB, 64 * kMiB).latency), 128 * kMiB / 16e9);
}

TEST(DeviceModel, FewWorkingSetsAreACoarseCurve) {
  EXPECT_TRUE(Model(testing::TestPeaks()).coarse_memory());
  DevicePeaks peaks;
  for (double mib = 0.015625; mib <= 256; mib *= 1.42) peaks.rates.push_back(Rate(PeakRate::Kind::kRead, mib, 20e9));
  EXPECT_FALSE(Model(peaks).coarse_memory());
  EXPECT_TRUE(Model(peaks, 2).coarse_memory());
  std::erase_if(peaks.rates, [](const PeakRate& rate) {
    return rate.working_set.value > 40 << 20 && rate.working_set.value < 60 << 20;
  });
  EXPECT_TRUE(Model(peaks).coarse_memory());
}

TEST(DeviceModel, CoresThatWereNotTriedTogetherHaveTheirShareOfTheBytesEach) {
  DevicePeaks peaks;
  for (double mib = 1; mib <= 64; mib *= 2) peaks.rates.push_back(Rate(PeakRate::Kind::kRead, mib, 16 / mib * 1e9));
  // Each of four cores goes through 4 MiB, in no less time than it takes alone.
  EXPECT_NEAR(Seconds(Model(peaks, 4).Memory(16 * kMiB, 0).latency), Seconds(Model(peaks).Memory(4 * kMiB, 0).latency),
              1e-12);
  // Of eight nothing is scaled down: fewer are no faster.
  for (PeakRate& rate : peaks.rates) rate.threads = 8;
  EXPECT_NEAR(Seconds(Model(peaks, 4).Memory(16 * kMiB, 0).latency), 16 * kMiB / 1e9, 1e-12);
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
  peaks.nearer_than_memory = Bytes{40 << 20};
  const Result<DeviceModel> model = DeviceModel::Make({"gpu/Test/l2=8M"}, peaks, 1);
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(model->memory_data_sheet());
  EXPECT_NEAR(Seconds(model->Memory(64 * kMiB, 64 * kMiB).latency), (128 - 40) * kMiB / 30e9, 1e-12);
  // Registers and the like are nearer than the second level, too.
  EXPECT_NEAR(Seconds(model->Memory(40 * kMiB, 0).latency), 8 * kMiB / 200e9, 1e-12);
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

TEST(DeviceModel, BetweenDistantWorkingSetsBytesMayMoveAsFastAsInTheSmallerOne) {
  DevicePeaks peaks = testing::TestPeaks();
  std::erase_if(peaks.rates, [](const PeakRate& rate) { return rate.working_set.value == 1 << 20; });
  // Nothing is known of what lies between: 4 MiB may come from it, at any rate up to the nearest cache's.
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
