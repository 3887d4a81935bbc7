// Kernels as a device gets them: every launch of sampled layers compiles for four generations of GPUs by NVRTC, which
// needs no GPU; without NVRTC those tests skip themselves.
#include "microbench/gpu/device/kernel_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "infimum/base/file_text.h"
#include "microbench/gpu/device/kernel_loader.h"
#include "microbench/kernels/cuda/kernel_offers.h"
#include "microbench/kernels/cuda/pointwise_constants.h"
#include "tests/support/cases.h"
#include "tests/support/folders.h"
#include "tests/support/random_layer.h"
#include "tests/support/temporary_folder.h"

namespace infimum::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t kTuring = 750, kAmpere = 800, kHopper = 900, kBlackwell = 1000;

std::unique_ptr<KernelCompiler> CompilerFor(std::int64_t capability, const std::filesystem::path& cache = {}) {
  Result<std::unique_ptr<KernelCompiler>> compiler = KernelCompiler::Open(capability, CodeCache(cache));
  return compiler.ok() ? *std::move(compiler) : nullptr;
}

// All that kernels of ours launch for the layers that they are tested with and for random ones, by key.
const std::map<std::string, KernelLaunch>& AllLaunches() {
  static const std::map<std::string, KernelLaunch> all = [] {
    std::map<std::string, KernelLaunch> launches;
    // Of a layer or a region.
    const auto add_kernels_of = [&](const auto& config, std::size_t outputs) {
      KernelBuffers buffers;
      std::uintptr_t address = 1 << 20;
      const auto next = [&] { return reinterpret_cast<void*>(address += 1 << 20); };
      for (std::size_t i = 0; i < 16; ++i) buffers.operands.push_back(next());
      for (std::size_t i = 0; i < outputs; ++i) buffers.outputs.push_back(next());
      buffers.scratch = next();
      for (const KernelOffer& offer : KernelsFor(config))
        for (const KernelCall& call : offer.make(buffers))
          if (std::optional<KernelLaunch> launch = LaunchOf(call)) launches.emplace(launch->key(), *launch);
    };
    const auto add_layer = [&](const LayerConfig& config) { add_kernels_of(config, OutputsOf(config).size()); };
    testing::RandomLayers random(7);
    for (std::size_t i = 0; i < testing::Cases(2000); ++i) add_layer(random.Layer());
    for (const char* file :
         {"cpu/layers/movement.txt", "cpu/layers/normalization.txt", "cpu/layers/pointwise_binary.txt",
          "cpu/layers/pointwise_conversion.txt", "cpu/layers/pointwise_unary.txt", "cpu/layers/pooling.txt",
          "cpu/layers/reduction.txt", "cpu/layers/region.txt", "cpu/layers/resample.txt", "gpu/layers/kernels.txt"}) {
      std::ifstream stream(testing::SourceFolder() + "/tests/microbench/" + file);
      for (std::string line; std::getline(stream, line);) {
        const Result<LayerConfig> config = ParseLayerConfig(line);
        if (config.ok()) add_layer(*config);
        if (const Result<Region> region = ParseRegion(line); region.ok())
          add_kernels_of(*region, region->outputs.size());
      }
    }
    const auto add = [&](KernelLaunch launch) { launches.emplace(launch.key(), std::move(launch)); };
    add(LaunchOf(EmptyCall()));
    add(LaunchOf(HoldCall()));
    for (const int units : {1, 2, 4, 8}) {
      BandwidthCall bandwidth;
      bandwidth.units_in_flight = units;
      add(LaunchOf(bandwidth));
    }
    for (const ArithmeticPeak kind : {ArithmeticPeak::kF32, ArithmeticPeak::kF64}) {
      ArithmeticCall arithmetic;
      arithmetic.kind = kind;
      add(LaunchOf(arithmetic));
    }
    return launches;
  }();
  return all;
}

// A seeded sample, of each header one at least; of a long run fifty times as many.
std::vector<const KernelLaunch*> Sampled(std::size_t count) {
  std::vector<const KernelLaunch*> sample;
  for (const auto& [key, launch] : AllLaunches()) sample.push_back(&launch);
  std::mt19937_64 random(7);
  std::ranges::shuffle(sample, random);
  std::set<std::string> headers;
  std::ranges::stable_partition(sample,
                                [&](const KernelLaunch* launch) { return headers.insert(launch->header).second; });
  sample.resize(std::min(std::getenv("INFIMUM_LONG") != nullptr ? 50 * count : count, sample.size()));
  return sample;
}

class KernelsOf : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(KernelsOf, CompileForTheDevice) {
  const std::unique_ptr<KernelCompiler> compiler = CompilerFor(GetParam());
  if (compiler == nullptr) GTEST_SKIP() << "there is no NVRTC for it";
  EXPECT_GT(AllLaunches().size(), 300u);
  const std::vector<const KernelLaunch*> sample = Sampled(GetParam() == kHopper ? 40 : 8);
  RecordProperty("kernels", static_cast<int>(sample.size()));
  for (const KernelLaunch* launch : sample) {
    ASSERT_THAT(launch->name, Not(IsEmpty()));
    const Result<CompiledKernel> kernel = compiler->Compile(SourceOf(*launch), launch->name);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message << "\n" << SourceOf(*launch);
    EXPECT_THAT(kernel->code, StartsWith("\177ELF"));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, KernelsOf, ::testing::Values(kTuring, kAmpere, kHopper, kBlackwell),
                         [](const auto& capability) { return "sm_" + std::to_string(capability.param / 10); });

TEST(KernelCompiler, OfADeviceThatItDoesNotKnowItMakesCodeThatTheDriverTranslates) {
  const std::unique_ptr<KernelCompiler> compiler = CompilerFor(9990);
  if (compiler == nullptr) GTEST_SKIP() << "there is no NVRTC";
  EXPECT_THAT(compiler->architecture(), StartsWith("compute_"));
  const KernelLaunch launch = LaunchOf(EmptyCall());
  const Result<CompiledKernel> kernel = compiler->Compile(SourceOf(launch), launch.name);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_THAT(kernel->code, HasSubstr(".version"));
  EXPECT_THAT(kernel->code, HasSubstr(kernel->entry));
  EXPECT_FALSE(KernelCompiler::Open(100, CodeCache(std::filesystem::path())).ok())
      << "older than any that it compiles for";
}

TEST(KernelCompiler, WhatItMadeIsKeptAndWhatIsDamagedIsMadeAnew) {
  const testing::TemporaryFolder folder;
  const std::unique_ptr<KernelCompiler> compiler = CompilerFor(kHopper, folder.path() / "kernels");
  if (compiler == nullptr) GTEST_SKIP() << "there is no NVRTC";
  const KernelLaunch launch = LaunchOf(EmptyCall());
  const CompiledKernel first = *compiler->Compile(SourceOf(launch), launch.name);
  std::filesystem::path kept;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "kernels")) kept = entry.path();
  const std::string text = *ReadFile(kept);
  ASSERT_TRUE(WriteFile(kept, text.substr(0, text.size() / 2)).ok());
  const CompiledKernel again = *compiler->Compile(SourceOf(launch), launch.name);
  EXPECT_EQ(again.entry, first.entry);
  EXPECT_EQ(again.code.size(), first.code.size());
  EXPECT_EQ(ReadFile(kept)->size(), text.size()) << "and kept again";
  EXPECT_NE(CompilerFor(kAmpere, folder.path() / "kernels")->Compile(SourceOf(launch), launch.name)->code, first.code);
}

TEST(KernelCompiler, AnErrorHoldsTheCompilersWords) {
  const std::unique_ptr<KernelCompiler> compiler = CompilerFor(kHopper);
  if (compiler == nullptr) GTEST_SKIP() << "there is no NVRTC";
  const Result<CompiledKernel> kernel = compiler->Compile("__global__ void Broken() { undefined_thing(); }", "Broken");
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(kernel.error().message, HasSubstr("undefined_thing"));
}

TEST(KernelLaunches, OfNothingAreNone) {
  EXPECT_FALSE(LaunchOf(FlatCopyCall()));
  EXPECT_FALSE(LaunchOf(PointwiseCall()));
  EXPECT_FALSE(LaunchOf(PoolCall()));
}

TEST(KernelLaunches, HaveTheGeometryOfTheirCalls) {
  FlatCopyCall copy;
  copy.bytes = 1 << 20;
  copy.units_per_thread = 8;
  const KernelLaunch launch = *LaunchOf(copy);
  EXPECT_EQ(launch.name, "infimum::cuda::FlatCopyKernel<infimum::cuda::Bytes16, 8, false>");
  EXPECT_EQ(launch.blocks[0], (1 << 20) / 16 / 8 / 256);
  EXPECT_EQ(launch.threads[0], 256);
  EXPECT_EQ(launch.argument.size(), sizeof copy);
  PointwiseCall none;
  none.count = 4;
  none.width = 3;
  EXPECT_THAT(LaunchOf(none)->name, IsEmpty()) << "no kernel takes three elements at a time";
}

TEST(KernelLoader, WithoutADriverALaunchSaysWhatIsMissing) {
  KernelLoader loader(kHopper);
  const Result<int> launched = loader.Launch(LaunchOf(EmptyCall()), nullptr);
  if (launched.ok()) GTEST_SKIP() << "there is a driver";
  EXPECT_THAT(launched.error().message, Not(IsEmpty()));
  EXPECT_EQ(loader.Launch(LaunchOf(EmptyCall()), nullptr).error().message, launched.error().message);
}

// The compiler of the host reads the texts of programs too: what it makes of them has the same text again.
TEST(PointwiseConstants, AreTheCallThatTheyAreOf) {
  const testing::TemporaryFolder folder;
  std::vector<std::string> texts;
  for (const auto& [key, launch] : AllLaunches()) {
    const std::size_t begin = launch.constants.find("kCall = ");
    if (begin == std::string::npos) continue;
    const std::string text = launch.constants.substr(begin + 8);
    texts.push_back(text.substr(0, text.rfind(";\n};")));
  }
  std::mt19937_64 random(7);
  std::ranges::shuffle(texts, random);
  texts.resize(std::min<std::size_t>(texts.size(), testing::Cases(600)));
  ASSERT_THAT(texts, Not(IsEmpty()));
  std::string program =
      "#include <cstdio>\n#include \"microbench/kernels/cuda/pointwise_constants.cc\"\n"
      "namespace infimum::cuda {\nconstexpr PointwiseCall kCalls[] = {\n";
  for (const std::string& text : texts) program += text + ",\n";
  program +=
      "};\n}\nint main() {\n  for (const auto& call : infimum::cuda::kCalls)\n"
      "    std::printf(\"%s\\n\\n\", infimum::cuda::ConstantText(call).c_str());\n}\n";
  ASSERT_TRUE(WriteFile(folder.path() / "program.cc", program).ok());
  const std::string made = (folder.path() / "program").string(), said = (folder.path() / "said.txt").string();
  const std::string command =
      "c++ -std=c++20 -I" + testing::SourceFolder() + " " + made + ".cc -o " + made + " && " + made + " >" + said;
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::string expected;
  for (const std::string& text : texts) expected += text + "\n\n";
  EXPECT_EQ(*ReadFile(said), expected);
}

}  // namespace
}  // namespace infimum::cuda
