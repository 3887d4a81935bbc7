// trtexec is an outside program, and here a stand-in in /bin/sh: it notes how it was called, writes small files of the
// kinds that trtexec writes where it is told to, and prints the lines that are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "src/app/runners/framework_run.h"
#include "src/readers/read_profile.h"
#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kTrtexec = R"sh(#!/bin/sh
if [ "$1" = --help ]; then cat "$0.help"; exit; fi
echo "$*" >>"$0.log"
echo '[11/23/2026-08:00:00] [I] Selected Device: NVIDIA H200'
echo '[11/23/2026-08:00:00] [I] TensorRT version: 10.9.0'
for argument; do
  case $argument in
    --exportTimes=*) calls=$(grep -c exportTimes "$0.log")
      printf '[{"startComputeMs":1,"computeMs":9,"latencyMs":9},{"startComputeMs":300,"computeMs":%s.5,"latencyMs":2}]' "$calls" >"${argument#*=}" ;;
    --exportLayerInfo=*) printf '%s' '{"Layers":[{"Name":"Conv_0","LayerType":"CaskConvolution","Inputs":[],"Outputs":[]}],"Bindings":["x"]}' >"${argument#*=}" ;;
    --exportProfile=*) printf '%s' '[{"count":10},{"name":"Conv_0","timeMs":12,"averageMs":1.2,"medianMs":1.1,"percentage":100}]' >"${argument#*=}" ;;
    --onnx=*bad.onnx) echo "[11/23/2026-08:00:01] [E] In node 0: UNSUPPORTED_NODE" >&2; echo "[E] Engine set up failed" >&2; exit 1 ;;
  esac
done
)sh";

class TensorRt : public ::testing::Test {
 protected:
  TensorRt() {
    if (const char* path = std::getenv("PATH"); path != nullptr) path_ = path;
    setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
    std::ofstream(folder_ / "model.onnx") << "abc";
    options_.framework = "tensorrt";
    options_.device = DeviceKind::kGpu;
    options_.device_name = "NVIDIA H200";
    options_.repetitions = 2;
    options_.sampling = std::chrono::milliseconds(1500);
  }
  ~TensorRt() override { setenv("PATH", path_.c_str(), 1); }

  // `help` is what it says of its options.
  void Install(const std::string& help = "--noTF32 --fp16 --bf16 --int8 --fp8") const {
    std::ofstream(folder_ / "trtexec") << kTrtexec;
    std::ofstream(folder_ / "trtexec.help") << help << "\n";
    std::filesystem::permissions(folder_ / "trtexec", std::filesystem::perms::owner_all);
  }
  Result<RunProfile> Measure(const std::string& model = "model.onnx") {
    ProgressLog log(Loudness::kNormal, true, [this](std::string_view part) { said_ += part; });
    return MeasureFramework(Installation(folder_ / "bin"), folder_ / model, options_, log);
  }
  // Line by line how it was called, without the folder that its files are in.
  std::vector<std::string> Calls() const {
    std::ifstream log(folder_ / "trtexec.log");
    std::vector<std::string> calls;
    for (std::string line; std::getline(log, line);) calls.push_back(line);
    return calls;
  }

  const testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  std::string path_;
  FrameworkOptions options_;
  std::string said_;
};

TEST_F(TensorRt, TimesAreOfProcessesWithoutTheProfilerAndLayersOfOneWithIt) {
  Install();
  const Result<RunProfile> run = Measure();
  ASSERT_TRUE(run.ok()) << run.error().message;
  // What began within the warm-up is left out.
  ASSERT_THAT(run->end_to_end, SizeIs(2));
  EXPECT_THAT(run->end_to_end[0].samples, ElementsAre(Latency(1500)));
  EXPECT_THAT(run->end_to_end[1].samples, ElementsAre(Latency(2500)));
  ASSERT_THAT(run->layers, SizeIs(1));
  EXPECT_EQ(run->layers[0].name, "Conv_0");
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(1100)));
  EXPECT_TRUE(run->profiled.empty());
  EXPECT_EQ(run->framework, "tensorrt");
  EXPECT_EQ(run->framework_version, "10.9.0");
  EXPECT_EQ(run->contract, "strict-f32");
  EXPECT_EQ(run->model_sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(run->settings.at("device_name"), "NVIDIA H200");
  EXPECT_EQ(run->settings.at("precision"), "--noTF32");
  EXPECT_EQ(run->settings.at("warm_up"), "200 ms");

  const std::vector<std::string> calls = Calls();
  ASSERT_THAT(calls, SizeIs(4));
  EXPECT_THAT(calls[0], AllOf(HasSubstr("/model.onnx --saveEngine="), HasSubstr("--skipInference"),
                              EndsWith("--profilingVerbosity=detailed --noTF32")));
  for (const std::size_t i : {1, 2}) {
    EXPECT_THAT(calls[i], AllOf(HasSubstr("--loadEngine="), HasSubstr("--warmUp=200 --duration=2 "),
                                HasSubstr("--exportTimes="), Not(HasSubstr("Profile"))));
  }
  EXPECT_THAT(calls[3], AllOf(HasSubstr("--exportProfile="), HasSubstr("--exportLayerInfo=")));
  EXPECT_THAT(said_, HasSubstr("measuring tensorrt, building the engine 0/4"));
}

TEST_F(TensorRt, ContractModeAndDimensionsBecomeItsFlags) {
  Install();
  options_.converted = NumericContract::kF16;
  options_.mode = "cuda-graph";
  options_.dims = {{"batch", 8}};
  options_.input_shapes = {{"x", Shape{{8, 3, 224, 224}}}, {"scale", Shape{}}, {"mask", Shape{{8, 128}}}};
  const Result<RunProfile> run = Measure();
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->contract, "f16");
  for (const std::string& call : Calls()) EXPECT_THAT(call, HasSubstr(" --shapes=x:8x3x224x224,mask:8x128"));
  EXPECT_THAT(Calls()[0], AllOf(HasSubstr(" --fp16"), Not(HasSubstr("noTF32")), Not(HasSubstr("--useCudaGraph"))));
  EXPECT_THAT(Calls()[1], HasSubstr(" --useCudaGraph"));
}

// Since version 11 there are no flags of precision.
TEST_F(TensorRt, WithoutAFlagTheModelsOwnTypesDecide) {
  Install("--onnx=<file>");
  options_.contract = NumericContract::kF16;
  const Result<RunProfile> own = Measure();
  ASSERT_TRUE(own.ok()) << own.error().message;
  EXPECT_EQ(own->contract, "f16");
  EXPECT_THAT(Calls()[0], Not(HasSubstr("--fp16")));

  options_.contract = NumericContract::kStrictF32;
  const Result<RunProfile> rounded = Measure();
  ASSERT_TRUE(rounded.ok()) << rounded.error().message;
  EXPECT_EQ(rounded->contract, "tf32");
  EXPECT_THAT(rounded->warnings, ElementsAre(HasSubstr("no --noTF32")));

  options_.converted = NumericContract::kF16;
  EXPECT_THAT(Measure().error().message, AllOf(HasSubstr("this trtexec has no --fp16"), HasSubstr("autocast")));
}

TEST_F(TensorRt, ItsFirstErrorIsTheMessage) {
  Install();
  std::ofstream(folder_ / "bad.onnx") << "abc";
  EXPECT_EQ(Measure("bad.onnx").error().message,
            "tensorrt could not be measured on NVIDIA H200: trtexec, building the engine: In node 0: UNSUPPORTED_NODE");
}

TEST_F(TensorRt, ARunOnAnotherGpuIsNoRun) {
  Install();
  options_.device_name = "NVIDIA A100-SXM4-40GB";
  EXPECT_EQ(Measure().error().message,
            "tensorrt could not be measured on NVIDIA A100-SXM4-40GB: it ran on NVIDIA H200");
}

TEST_F(TensorRt, WithoutTrtexecTheErrorSaysWhereItComesFrom) {
  if (std::filesystem::exists("/usr/src/tensorrt/bin/trtexec")) GTEST_SKIP() << "TensorRT is installed here";
  setenv("PATH", folder_.c_str(), 1);
  EXPECT_THAT(Measure().error().message, HasSubstr("trtexec is not on the PATH; it comes with TensorRT's packages"));
}

TEST_F(TensorRt, WhatItWroteIsKeptForAComparison) {
  Install();
  options_.profile = folder_ / "kept";
  ASSERT_TRUE(Measure().ok());
  const Result<std::vector<NamedProfile>> profiles = ReadProfiles({folder_ / "kept"});
  ASSERT_TRUE(profiles.ok()) << profiles.error().message;
  ASSERT_THAT(*profiles, SizeIs(1));
  const auto* run = std::get_if<RunProfile>(&profiles->front().profile);
  ASSERT_NE(run, nullptr);
  EXPECT_THAT(run->end_to_end, SizeIs(1));
  EXPECT_THAT(run->layers, SizeIs(1));
}

}  // namespace
}  // namespace infimum
