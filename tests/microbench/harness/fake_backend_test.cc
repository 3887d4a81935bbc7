#include "microbench/fake/fake_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "microbench/fake/fake_machine.h"
#include "tests/support/parsed_workload.h"

namespace infimum {
namespace {

const char* const kConvolution =
    "convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
    "groups=1 bias=no weights=const";

TEST(FakeMachine, TimesAreTheDocumentedFormula) {
  // 802816 f32 read and written: 6422528 bytes at 10 GB/s, and a microsecond.
  const double roofline_us = 6422528 / 1e4 + 1;
  const auto simd = *FakeLatency(testing::ParsedWorkload("pointwise kind=relu dtype=f32:-:f32 in=802816"),
                                 {"fake", "simd", "any", "any", true}, 1, 0);
  EXPECT_GE(Latency(simd).count(), roofline_us * 1.05);
  EXPECT_LE(Latency(simd).count(), roofline_us * 1.3 + 0.001);
  // 2 x 64 x 64 x 9 x 3136 FLOPs at 100 GFLOP/s and a microsecond, 40 times.
  const auto ref = *FakeLatency(testing::ParsedWorkload(kConvolution), {"fake", "ref", "any", "any", false}, 1, 0);
  EXPECT_NEAR(Latency(ref).count(), 40 * (231211008 / 1e5 + 1), 0.01);
  const auto two_threads =
      *FakeLatency(testing::ParsedWorkload(kConvolution), {"fake", "ref", "any", "any", false}, 2, 0);
  EXPECT_NEAR(Latency(two_threads).count(), 40 * (231211008 / 2e5 + 1), 0.01);
}

TEST(FakeMachine, OffersEachFamilyItsCandidates) {
  const auto names = [](const char* text) {
    std::vector<std::string> found;
    for (const Candidate& candidate : FakeCandidates(testing::ParsedWorkload(text), CandidateTier::kEngine))
      found.push_back(candidate.algorithm);
    return found;
  };
  EXPECT_THAT(names(kConvolution), ::testing::ElementsAre("direct", "winograd", "gemm", "sparse", "ref"));
  EXPECT_THAT(names("matmul dtype=f32:f32:f32 a=1x8x8 b=1x8x8 bias=no weights=const"),
              ::testing::ElementsAre("direct", "gemm", "sparse", "ref"));
  EXPECT_THAT(names("pointwise kind=relu dtype=f32:-:f32 in=8"), ::testing::ElementsAre("simd", "scalar"));
}

TEST(FakeBackend, MachinesDiffer) {
  EXPECT_NE(FakeDevice(0).Key(), FakeDevice(1).Key());
  const Candidate direct{"fake", "direct", "any", "any", true};
  EXPECT_NE(*FakeLatency(testing::ParsedWorkload(kConvolution), direct, 1, 0),
            *FakeLatency(testing::ParsedWorkload(kConvolution), direct, 1, 1));
}

TEST(FakeBackend, ALaunchsNoiseOnlySlowsDownAndRepeatsWithItsSeed) {
  BackendOptions options;
  options.settings = {{"noise", "0.1"}};
  const Candidate direct{"fake", "direct", "any", "any", true};
  const auto time_of = [&] {
    FakeBackend backend(options);
    auto run = backend.Prepare(testing::ParsedWorkload(kConvolution), direct, NumericContract::kStrictF32);
    EXPECT_TRUE((*run)->Run().ok());
    return backend.clock().Now();
  };
  const Clock::Duration first = time_of();
  EXPECT_EQ(time_of(), first);
  EXPECT_GT(first, *FakeLatency(testing::ParsedWorkload(kConvolution), direct, 1, 0));
  options.process = 1;
  EXPECT_NE(time_of(), first);
}

TEST(FakeBackend, AProcessIsSlowerOrFasterAsAWhole) {
  BackendOptions options;
  options.settings = {{"process-noise", "0.05"}};
  const Candidate direct{"fake", "direct", "any", "any", true};
  const Clock::Duration exact = *FakeLatency(testing::ParsedWorkload(kConvolution), direct, 1, 0);
  int slower = 0;
  for (options.process = 0; options.process < 100; ++options.process) {
    FakeBackend backend(options);
    auto run = backend.Prepare(testing::ParsedWorkload(kConvolution), direct, NumericContract::kStrictF32);
    EXPECT_TRUE((*run)->Run().ok());
    const Clock::Duration once = backend.clock().Now();
    EXPECT_TRUE((*run)->Run().ok());
    EXPECT_EQ(backend.clock().Now(), 2 * once);
    slower += once > exact;
  }
  EXPECT_GT(slower, 30);
  EXPECT_LT(slower, 70);
}

TEST(FakeBackend, AnUnknownSettingIsAnErrorWhenTheDeviceIsDescribed) {
  BackendOptions options;
  options.settings = {{"crashh", "gemm"}};
  EXPECT_EQ(FakeBackend(options).DescribeDevice().error().message,
            "--backend-option: unknown option 'crashh', did you mean 'crash'?");
  options.settings = {{"noise", "loud"}};
  EXPECT_EQ(FakeBackend(options).DescribeDevice().error().message, "--backend-option: noise='loud' is not a number");
}

TEST(FakeFaults, AffectOnlyCandidatesOfTheirPattern) {
  FakeFaults faults;
  faults.Add(FakeFault::kWrong, "gemm@1x64");
  const Candidate gemm{"fake", "gemm", "any", "any", false};
  EXPECT_TRUE(faults.Has(FakeFault::kWrong, "matmul a=1x64", gemm));
  EXPECT_FALSE(faults.Has(FakeFault::kWrong, "matmul a=1x32", gemm));
  EXPECT_FALSE(faults.Has(FakeFault::kWrong, "matmul a=1x64", Candidate{"fake", "direct", "", "", false}));
  EXPECT_FALSE(faults.Has(FakeFault::kCrash, "matmul a=1x64", gemm));
}

}  // namespace
}  // namespace infimum
