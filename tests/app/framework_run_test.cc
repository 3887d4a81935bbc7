// What can be measured with which options, and what a framework's script says on its way. The script is a stand-in in
// /bin/sh, as the user's Python is an outside program.
#include "src/app/runners/framework_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Refusal(const FrameworkOptions& options) {
  const Status checked = CheckFramework(options);
  return checked ? "" : checked.error().message;
}

TEST(FrameworkRun, AnUnknownFrameworkOrModeIsAnErrorThatGuessesAndLists) {
  EXPECT_EQ(Refusal({.framework = "pytoch"}),
            "unknown framework 'pytoch', did you mean 'pytorch'?; there are: onnxruntime, openvino, pytorch, tensorrt");
  EXPECT_EQ(Refusal({.framework = "pytorch", .module = "m.py:net", .mode = "compild"}),
            "--mode 'compild': pytorch has no such mode, did you mean 'compiled'?; there are: eager, compiled, "
            "cuda-graph");
  EXPECT_EQ(Refusal({.mode = "eager"}), "--mode eager: onnxruntime has none");
  EXPECT_THAT(Refusal({.framework = "pytorch", .module = "m.py:net", .mode = "cuda-graph"}), HasSubstr("needs a GPU"));
  EXPECT_EQ(Refusal({.framework = "pytorch", .module = "m.py:net", .mode = "compiled"}), "");
}

TEST(FrameworkRun, PyTorchNeedsAModuleAndTheOthersHaveNone) {
  EXPECT_THAT(Refusal({.framework = "pytorch"}), HasSubstr("--module names the one"));
  EXPECT_EQ(Refusal({.module = "m.py:net"}), "--module applies to pytorch only");
}

TEST(FrameworkRun, SeveralAreChosenByNameAndAllAreThoseThatRunHere) {
  const auto chosen = [](const std::vector<std::string>& names, const FrameworkOptions& shared) {
    const Result<std::vector<FrameworkOptions>> frameworks = ChooseFrameworks(names, shared);
    std::string text = frameworks ? "" : frameworks.error().message;
    for (const FrameworkOptions& one : frameworks ? *frameworks : std::vector<FrameworkOptions>())
      text += one.framework + "(" + one.python + one.module + one.mode + ")";
    return text;
  };
  const FrameworkOptions torch{.python = "p ", .module = "m.py:net ", .mode = "compiled"};
  EXPECT_EQ(chosen({"none"}, {}), "");
  EXPECT_EQ(chosen({"openvino", "onnxruntime", "openvino"}, {.python = "p"}), "openvino(p)onnxruntime(p)");
  EXPECT_EQ(chosen({"all"}, {}), "onnxruntime()openvino()");
  EXPECT_EQ(chosen({"all"}, torch), "onnxruntime(p )openvino(p )pytorch(p m.py:net compiled)");
  EXPECT_THAT(chosen({"onnxruntime"}, torch), HasSubstr("which --framework does not name"));
  EXPECT_THAT(chosen({"pytorch"}, {}), HasSubstr("--module names the one"));
  EXPECT_THAT(chosen({"none", "onnxruntime"}, {}), HasSubstr("unknown framework 'none'"));
}

TEST(FrameworkRun, TensorRtMakesUpItsInputs) {
  EXPECT_EQ(Refusal({.framework = "tensorrt", .inputs = "x.npz", .device = DeviceKind::kGpu}),
            "--inputs: tensorrt makes up its inputs itself");
}

TEST(FrameworkRun, TensorRtIsOnGpusAlone) {
  FrameworkOptions options{.framework = "tensorrt"};
  EXPECT_EQ(Refusal(options), "tensorrt runs on GPUs alone: --backend cuda");
  options.device = DeviceKind::kGpu;
  EXPECT_EQ(Refusal(options), "");
}

TEST(FrameworkRun, AContractIsKeptByTheModelsTypesOrByAFrameworkThatConverts) {
  FrameworkOptions options{.framework = "pytorch", .module = "m.py:net"};
  const auto refused = [&](NumericContract own, NumericContract converted) {
    options.contract = own;
    options.converted = converted;
    return !Refusal(options).empty();
  };
  EXPECT_FALSE(refused(NumericContract::kStrictF32, NumericContract::kBf16));
  EXPECT_FALSE(refused(NumericContract::kF16, NumericContract::kF16));
  EXPECT_TRUE(refused(NumericContract::kStrictF32, NumericContract::kInt8));
  EXPECT_TRUE(refused(NumericContract::kF16, NumericContract::kStrictF32));
  EXPECT_TRUE(refused(NumericContract::kStrictF32, NumericContract::kTf32));
  options.device = DeviceKind::kGpu;
  EXPECT_FALSE(refused(NumericContract::kStrictF32, NumericContract::kTf32));
  options.framework = "tensorrt";
  options.module.clear();
  EXPECT_FALSE(refused(NumericContract::kStrictF32, NumericContract::kInt8));
  options.framework = "onnxruntime";
  EXPECT_FALSE(refused(NumericContract::kStrictF32, NumericContract::kTf32));
  EXPECT_TRUE(refused(NumericContract::kStrictF32, NumericContract::kF16));
  EXPECT_EQ(Refusal(options),
            "--contract f16: onnxruntime computes on this device in the model's own types, which are strict-f32; "
            "convert the model");
}

class ScriptedFramework : public ::testing::Test {
 protected:
  ScriptedFramework() {
    std::filesystem::create_directories(prefix_ / "bin");
    std::filesystem::create_directories(prefix_ / "share/infimum/frameworks");
  }

  Result<RunProfile> Measure(const std::string& script, FrameworkOptions options = {}) {
    std::ofstream(prefix_ / "share/infimum/frameworks/measure_onnxruntime.py") << script;
    options.python = "/bin/sh";
    ProgressLog log(Loudness::kNormal, true, [this](std::string_view part) { said_ += part; });
    return MeasureFramework(Installation(prefix_ / "bin"), prefix_ / "model.onnx", options, log);
  }
  // Of a script: writes `json` to where --output says.
  static std::string Writing(const std::string& json) {
    return "while [ $# -gt 1 ]; do [ \"$1\" = --output ] && printf '%s' '" + json + "' >\"$2\"; shift; done\n";
  }

  const testing::TemporaryFolder folder_;
  const std::filesystem::path prefix_ = folder_.path();
  std::string said_;
};

constexpr const char* kRun =
    R"({"schema":"infimum.run/1","framework":"onnxruntime","settings":{"gpu":"Tesla T4"},"end_to_end":[{"samples_us":[7]}],)"
    R"("profiled_us":[8,9]})";

TEST_F(ScriptedFramework, AProcessThatIsKilledIsSaidToBe) {
  const Result<RunProfile> run = Measure("kill -KILL $$\n");
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message,
              HasSubstr("onnxruntime could not be measured: its process was killed by signal 9 (killed)"));
}

TEST_F(ScriptedFramework, ANoisyRunComesBackAsOne) {
  const Result<RunProfile> run =
      Measure(Writing(R"({"schema":"infimum.run/1","framework":"onnxruntime","noisy":"other programs ran",)"
                      R"("end_to_end":[{"samples_us":[7]}]})"));
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->noisy, "other programs ran");
}

TEST_F(ScriptedFramework, TellsTheScriptAllOfItAndShowsEachStage) {
  const std::string log = (prefix_ / "log").string();
  FrameworkOptions options{.dims = {{"batch", 8}, {"cache.positions", 5}, {"moe.experts", 2}},
                           .inputs = "/x.npz",
                           .threads = 2,
                           .repetitions = 4,
                           .profile = "p.json"};
  options.sampling = std::chrono::milliseconds(250);
  const Result<RunProfile> run = Measure(
      "echo \"$*\" >" + log + "\necho 'progress 1 5 process 2 of 4, no profiler' >&2\n" + Writing(kRun), options);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->contract, "strict-f32");
  // What was stated beforehand is of the run, though the script need not know it.
  EXPECT_EQ(run->dims, (std::map<std::string, std::int64_t>{{"cache.positions", 5}, {"moe.experts", 2}}));
  EXPECT_EQ(run->profiled, (std::vector<Latency>{Latency(8), Latency(9)}));
  EXPECT_THAT(said_, AllOf(HasSubstr("4 processes of 0.25 s after a warm-up"),
                           HasSubstr("measuring onnxruntime, process 2 of 4, no profiler")));
  std::ifstream file(log);
  const std::string arguments{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(arguments, AllOf(HasSubstr("/model.onnx --device cpu --contract strict-f32 --threads 2 --repetitions 4 "
                                         "--seconds 0.250 --keep-profile p.json --inputs /x.npz --dim batch=8 --dim "
                                         "cache.positions=5 --work-directory"),
                               ::testing::Not(HasSubstr("--mode"))));
}

TEST_F(ScriptedFramework, WhatTheScriptSaidLastIsTheError) {
  const Result<RunProfile> run = Measure("echo trace >&2\necho 'infimum: error: no onnxruntime here' >&2\nexit 1\n");
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().message, "onnxruntime could not be measured: no onnxruntime here");
}

TEST_F(ScriptedFramework, ARunOnAnotherGpuIsNoRun) {
  FrameworkOptions options;
  options.device = DeviceKind::kGpu;
  options.device_name = "NVIDIA H200";
  EXPECT_EQ(Measure(Writing(kRun), options).error().message,
            "onnxruntime could not be measured on NVIDIA H200: it ran on Tesla T4");
  options.device_name = "Tesla T4";
  EXPECT_TRUE(Measure(Writing(kRun), options).ok());
}

}  // namespace
}  // namespace infimum
