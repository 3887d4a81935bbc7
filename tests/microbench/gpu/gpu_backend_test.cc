// The CUDA runner's backend on a pretended GPU: memory, kernels and timing are those of the real one, with known times.
#include "microbench/gpu/gpu_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/gpu/gpu_peaks.h"
#include "microbench/gpu/gpu_run.h"
#include "microbench/gpu/kernel_program.h"
#include "microbench/gpu/product_offers.h"
#include "microbench/harness/sampling/sampler.h"
#include "microbench/reference/statistic_product.h"
#include "tests/microbench/gpu/pretended_gpu.h"
#include "tests/microbench/gpu/reference_library.h"

namespace infimum::cuda::gpu_backend_test {
namespace {

using std::chrono::microseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRelu = "pointwise kind=relu dtype=f32:-:f32 in=4096";
constexpr const char* kScale = "normalization kind=layer dtype=f32:f32:f32 in=16x64 axis=1 scale=yes bias=yes";

cpu::ValuedRegion Parsed(const std::string& text) { return BenchmarkedRegion(*ParseWorkload(text)); }

// A GPU with its faults, which are read when it is made.
std::unique_ptr<PretendedGpu> MakeGpu(const char* faults = "", Bytes most_memory = {}) {
  setenv("PRETENDED_GPU", faults, 1);
  auto gpu = std::make_unique<PretendedGpu>(GpuOptions{0, most_memory});
  unsetenv("PRETENDED_GPU");
  return gpu;
}

std::unique_ptr<PreparedRun> MakeRun(Gpu& gpu, const std::string& text, const GpuRunOptions& options = {}) {
  const cpu::ValuedRegion region = Parsed(text);
  const std::vector<GpuOffer> offers = KernelOffers(region);
  EXPECT_FALSE(offers.empty()) << text;
  Result<std::unique_ptr<PreparedRun>> run = PrepareGpuRun(gpu, region, offers.front(), options);
  EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().message);
  return *std::move(run);
}

TEST(GpuRun, ResultsAreHeldAgainstTheReference) {
  const auto gpu = MakeGpu();
  for (const std::string& text :
       {std::string(kRelu), std::string(kScale),
        std::string("movement kind=transpose dtype=f16:-:f16 in=12x8x64 out=8x12x64 perm=1,0,2"),
        std::string("region [pointwise kind=add dtype=f16:f16:f16 in=128x64,64](in0,w0) ; "
                    "[pointwise kind=relu dtype=f16:-:f16 in=8192](%0)")}) {
    const std::unique_ptr<PreparedRun> run = MakeRun(*gpu, text);
    const Result<std::optional<double>> error = run->NumericError();
    ASSERT_TRUE(error.ok()) << text;
    ASSERT_TRUE(error->has_value()) << text;
    EXPECT_LE(**error, Tolerance(NativeContract(*ParseWorkload(text)), *ParseWorkload(text))) << text;
  }
}

// Enqueues nothing: what was in the output before must not pass for a result.
class IdleProgram : public GpuProgram {
 public:
  using GpuProgram::GpuProgram;
  Status Enqueue(Gpu::Stream) override { return {}; }
};

TEST(GpuRun, AResultLeftOverDoesNotPass) {
  const auto gpu = MakeGpu();
  const cpu::ValuedRegion region = Parsed(kRelu);
  GpuOffer offer = KernelOffers(region).front();
  const std::vector<GpuBinding> bindings = (*offer.make(*gpu))->bindings();
  offer.make = [bindings](Gpu&) -> Result<std::unique_ptr<GpuProgram>> {
    return std::unique_ptr<GpuProgram>(std::make_unique<IdleProgram>(bindings));
  };
  const auto run = *PrepareGpuRun(*gpu, region, offer, {});
  EXPECT_GT(**run->NumericError(), 0.1);
}

TEST(GpuRun, SumsAndRunningSumsAreProductsWithAConstantToo) {
  const auto gpu = MakeGpu();
  const std::unique_ptr<GpuLibraries> libraries = MakeReferenceLibrary(*gpu);
  for (const std::string text :
       {"reduction kind=sum dtype=f32:-:f32 in=5x16 axes=1", "reduction kind=mean dtype=f32:-:f32 in=17x5 axes=0",
        "reduction kind=mean dtype=f16:-:f16 in=3x16x5 axes=1", "scan kind=sum dtype=f32:-:f32 in=3x17x1 axis=1",
        "scan kind=sum dtype=f16:-:f16 in=3x16x5 axis=1"}) {
    SCOPED_TRACE(text);
    const cpu::ValuedRegion region = Parsed(text);
    const Workload workload = *ParseWorkload(text);
    const NumericContract contract = NativeContract(workload);
    const auto as_product = [](const GpuOffer& offer) { return offer.candidate.algorithm.starts_with("as-matmul/"); };
    const std::vector<GpuOffer> offers = *libraries->Offers(workload, contract, CandidateTier::kEngine);
    const auto offer = std::ranges::find_if(offers, as_product);
    ASSERT_NE(offer, offers.end());
    EXPECT_LT(**(*PrepareGpuRun(*gpu, region, *offer, {}))->NumericError(), Tolerance(contract, workload));
    EXPECT_TRUE(*libraries->Find(workload, contract, offer->candidate));
  }
  for (const std::string text :
       {"reduction kind=max dtype=f32:-:f32 in=5x16 axes=1", "reduction kind=sum dtype=s32:-:s32 in=5x16 axes=1",
        "reduction kind=sum dtype=f32:-:f32 in=5x16x3 axes=0,2", "reduction kind=mean dtype=f16:-:f16 in=5x17 axes=1",
        "reduction kind=mean dtype=f16:-:f16 in=5x33554432 axes=1",
        "scan kind=product dtype=f32:-:f32 in=3x17x1 axis=1", "scan kind=sum dtype=f32:-:f32 in=3x1000x1 axis=1"}) {
    EXPECT_FALSE(cpu::StatisticProductOf(*ParseLayerConfig(text))) << text;
  }
}

TEST(GpuRun, ProductsWithStoredWeightsAreDequantizedForAnotherProductToo) {
  const auto gpu = MakeGpu();
  const std::unique_ptr<GpuLibraries> libraries = MakeReferenceLibrary(*gpu);
  const std::pair<std::string, int> layers[] = {
      {"dtype=f32:s4:f32 a=1x70x64 b=1x64x48 bias=no weights=const scales=16x1:f32", 1536 + 768},
      {"dtype=f16:u4:f16 a=1x3x64 b=1x64x40 bias=column weights=const scales=32x1:f16:u4", 1280 + 80 + 160 + 40},
      {"dtype=bf16:u8:bf16 a=2x5x16 b=1x16x8 bias=no weights=const scales=16x1:f32:u8", 128 + 32 + 8}};
  for (const auto& [text, constants] : layers) {
    SCOPED_TRACE(text);
    const cpu::ValuedRegion region = Parsed("matmul " + text);
    const Workload workload = *ParseWorkload("matmul " + text);
    const NumericContract contract = NativeContract(workload);
    const auto is_dequantized = [](const GpuOffer& offer) {
      return offer.candidate.algorithm.starts_with("dequantized/");
    };
    const std::vector<GpuOffer> offers = *libraries->Offers(workload, contract, CandidateTier::kHeuristic);
    const auto offer = std::ranges::find_if(offers, is_dequantized);
    ASSERT_NE(offer, offers.end());
    const auto run = *PrepareGpuRun(*gpu, region, *offer, {});
    EXPECT_LT(**run->NumericError(), Tolerance(contract, workload));
    EXPECT_EQ(run->constants().value, constants) << "as they are stored";
    EXPECT_TRUE(*libraries->Find(workload, contract, offer->candidate));
  }
  for (const std::string text : {"dtype=f32:f32:f32 a=1x70x64 b=1x64x48 bias=no weights=const",
                                 "dtype=bf16:u8:f32 a=2x5x16 b=1x16x8 bias=no weights=const scales=16x1:f32:u8",
                                 "dtype=f32:s4:f32 a=1x70x64 b=1x64x48 bias=no weights=variable scales=16x1:f32",
                                 "dtype=f32:s4:f32 a=1x70x64 b=1x64x45 bias=no weights=const scales=16x1:f32"})
    EXPECT_FALSE(DerivedProductOf(*ParseWorkload("matmul " + text), CandidateTier::kExhaustive)) << text;
}

TEST(GpuRun, TimesAreMarginalAndColdOnesAreNotWarm) {
  const auto gpu = MakeGpu();
  const auto run = MakeRun(*gpu, kRelu);
  // A kernel takes 2 us, 3 after the caches were emptied; starting a graph is in neither.
  EXPECT_EQ(**run->TimeLaunches(100), microseconds(200));
  EXPECT_EQ(**run->TimeColdLaunch(false), microseconds(3));
  EXPECT_EQ(**run->TimeColdLaunch(true), microseconds(2)) << "behind a launch that has brought its operands back";
  EXPECT_THAT(run->TimingFlags(), IsEmpty());
  gpu->captures = false;
  const auto other = MakeRun(*gpu, kRelu);
  EXPECT_EQ(**other->TimeLaunches(100), microseconds(700)) << "with what each launch costs the host";
  EXPECT_THAT(other->TimingFlags(), ElementsAre("uncaptured"));
}

TEST(GpuRun, TheFloorIsAnEmptyKernelAndRowsNearItAreBoundByLaunching) {
  FakeClock clock;
  const auto gpu = std::make_unique<PretendedGpu>(GpuOptions{}, &clock);
  const Latency floor = *MeasureLaunchFloor(*gpu);
  EXPECT_DOUBLE_EQ(floor.count(), 2);
  const auto run = MakeRun(*gpu, kRelu, {1, floor});
  NoInterference interference;
  CacheFlusher flusher(Bytes{1 << 20});
  SamplerOptions options;
  options.most_samples = 20;
  const Result<SampleSet> set = TakeSamples(*run, CacheState::kWarm, options, clock, interference, flusher);
  ASSERT_TRUE(set.ok());
  EXPECT_TRUE(set->launch_bound);
  EXPECT_EQ(set->samples.front(), Latency(2));
}

TEST(GpuRun, ASlowedDeviceIsTold) {
  const auto gpu = MakeGpu("slow");
  const auto run = MakeRun(*gpu, kRelu);
  EXPECT_TRUE(run->TimeLaunches(10).ok());
  EXPECT_THAT(run->TimingFlags(), Contains("throttled"));
}

TEST(GpuRun, ColdWeightsGoThroughAllCopiesInEachGraph) {
  const auto gpu = MakeGpu();
  const auto run = MakeRun(*gpu, kScale);
  EXPECT_EQ(run->constants(), Bytes{2 * 64 * 4});
  const std::size_t before = gpu->live_allocations();
  ASSERT_TRUE(run->RotateConstants(5).ok());
  EXPECT_EQ(gpu->live_allocations(), before + 2) << "one for all copies of a constant";
  const std::int64_t kernels = gpu->kernels_run();
  EXPECT_EQ(**run->TimeLaunches(7), microseconds(14));
  // Graphs of 10 and of 20 launches: multiples of the copies.
  EXPECT_EQ(gpu->kernels_run() - kernels, 30);
  EXPECT_LT(**run->NumericError(), 1e-5);
  ASSERT_TRUE(run->RotateConstants(1).ok());
  EXPECT_EQ(gpu->live_allocations(), before);
}

TEST(GpuRun, NothingIsLeftBehind) {
  const auto gpu = MakeGpu();
  for (int i = 0; i < 3; ++i) {
    const auto run = MakeRun(*gpu, kRelu);
    EXPECT_TRUE(run->TimeLaunches(3).ok());
    EXPECT_TRUE(run->NumericError().ok());
    EXPECT_GT(gpu->live_allocations(), 0u);
    EXPECT_GT(gpu->live_graphs(), 0u);
  }
  EXPECT_EQ(gpu->live_allocations(), 0u);
  EXPECT_EQ(gpu->live_graphs(), 0u);
}

GpuParts PretendedParts() {
  GpuParts parts;
  parts.open = [](const GpuOptions& options) -> Result<std::unique_ptr<Gpu>> {
    if (options.device > 0) return Error{"there is no GPU " + std::to_string(options.device)};
    return std::unique_ptr<Gpu>(std::make_unique<PretendedGpu>(options));
  };
  parts.libraries = [](Gpu&) { return MakeOwnLibrary(); };
  return parts;
}

TEST(GpuBackend, DescribesADeviceThatTwoGpusDoNotShare) {
  GpuBackend backend({}, PretendedParts());
  const Result<Device> device = backend.DescribeDevice();
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(device->Key().text, "gpu/NVIDIA/compute_capability=9.0/multiprocessors=4/memory=0G/l1=2048K/l2=4M");
  EXPECT_EQ(device->generation, "Hopper");
  EXPECT_EQ(device->last_level_cache, Bytes{4 << 20});
  const Environment environment = *backend.DescribeEnvironment();
  EXPECT_EQ(environment.libraries.at("cuda"), "13.0");
  EXPECT_EQ(environment.libraries.at("cuda-driver"), "1.0");
  EXPECT_EQ(FactOf(environment.evidence, evidence::kUuid), "GPU-00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(FactOf(environment.evidence, evidence::kPowerLimit), "700 W");
}

TEST(GpuBackend, OptionsAreItsOwn) {
  const auto error = [](const std::string& name, const std::string& value) {
    BackendOptions options;
    options.settings[name] = value;
    GpuBackend backend(options, PretendedParts());
    const Result<Device> device = backend.DescribeDevice();
    return device.ok() ? "" : device.error().message;
  };
  EXPECT_EQ(error("device", "0"), "");
  EXPECT_THAT(error("device", "1"), HasSubstr("no GPU 1"));
  EXPECT_THAT(error("device", "-1"), HasSubstr("no number of a GPU"));
  EXPECT_THAT(error("device", "one"), HasSubstr("no number of a GPU"));
  EXPECT_THAT(error("busy", "yes"), HasSubstr("not 'allow'"));
  EXPECT_THAT(error("blue", "yes"), HasSubstr("no option blue"));
}

TEST(GpuBackend, ADeviceThatOthersUseIsRefusedUnlessToldOtherwise) {
  setenv("PRETENDED_GPU", "company", 1);
  GpuBackend refusing({}, PretendedParts());
  const Result<Device> refused = refusing.DescribeDevice();
  BackendOptions options;
  options.settings["busy"] = "allow";
  GpuBackend allowing(options, PretendedParts());
  const bool allowed = allowing.DescribeDevice().ok();
  unsetenv("PRETENDED_GPU");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("1 other process uses this GPU (12 GiB)"));
  EXPECT_THAT(refused.error().message, HasSubstr("busy=allow"));
  EXPECT_TRUE(allowed);
}

TEST(GpuBackend, ItsMemoryIsBounded) {
  BackendOptions options;
  options.most_device_memory = Bytes{16 << 10};
  GpuBackend backend(options, PretendedParts());
  const Workload small = *ParseWorkload(kRelu);
  const Workload large = *ParseWorkload("pointwise kind=relu dtype=f32:-:f32 in=4096x4");
  const Candidate candidate = backend.Candidates(large, NumericContract::kStrictF32, CandidateTier::kEngine)->front();
  const auto run = backend.Prepare(large, candidate, NumericContract::kStrictF32);
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message, HasSubstr("out of device memory"));
}

TEST(GpuBackend, CandidatesCanAllBePreparedAndOthersAreRefused) {
  GpuBackend backend({}, PretendedParts());
  const Workload workload = *ParseWorkload(kRelu);
  const auto candidates = *backend.Candidates(workload, NumericContract::kStrictF32, CandidateTier::kEngine);
  ASSERT_FALSE(candidates.empty());
  for (const Candidate& candidate : candidates)
    EXPECT_TRUE(backend.Prepare(workload, candidate, NumericContract::kStrictF32).ok()) << candidate.name();
  Candidate other = candidates.front();
  other.algorithm = "something-else";
  const auto refused = backend.Prepare(workload, other, NumericContract::kStrictF32);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("unsupported: "));
}

// What a library returns may be what an earlier kernel has done: the wait behind it ends the process where the context
// is lost, while this candidate is the one to blame.
TEST(GpuRun, WaitsForTheDeviceBehindALaunchThatFailed) {
  class Failing : public GpuProgram {
    Status Enqueue(Gpu::Stream) override { return Error{"cuDNN: CUDNN_STATUS_EXECUTION_FAILED"}; }
  };
  const auto gpu = MakeGpu();
  const GpuOffer offer{{"cudnn-graph", "eng0", "plain", "plain", false},
                       [](Gpu&) -> Result<std::unique_ptr<GpuProgram>> {
                         return std::unique_ptr<GpuProgram>(std::make_unique<Failing>());
                       }};
  const std::int64_t waits = gpu->waits();
  const auto run = PrepareGpuRun(*gpu, Parsed(kRelu), offer, {});
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message, HasSubstr("CUDNN_STATUS_EXECUTION_FAILED"));
  EXPECT_GT(gpu->waits(), waits);
}

TEST(GpuPeaks, EachProbeMeasuresWhatItSays) {
  GpuBackend backend({}, PretendedParts());
  const std::vector<std::string> probes = backend.PeakProbes(PeakDetail::kWhole);
  EXPECT_THAT(probes, Contains("memory"));
  for (const std::string& probe : probes) {
    const Result<std::vector<PeakRate>> rates = backend.MeasurePeaks(probe);
    ASSERT_TRUE(rates.ok()) << probe << ": " << rates.error().message;
    for (const PeakRate& rate : *rates) EXPECT_GT(rate.per_second, 0) << probe;
  }
  const std::vector<PeakRate> memory = *backend.MeasurePeaks("memory");
  // From 1 MiB to a quarter of 256 MiB, each in three ways; 1 us for each MiB, without the 2 us of a launch.
  EXPECT_EQ(memory.size(), 7u * 3);
  EXPECT_NEAR(memory.front().per_second, 256.0 * (1 << 20) / 256e-6, 1e9);
  EXPECT_THAT(backend.MeasurePeaks("blue").error().message, HasSubstr("no probe"));
}

}  // namespace
}  // namespace infimum::cuda::gpu_backend_test
