// infimum measure: frameworks' runs through the real program, with what their profilers cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A Python that writes this run, whatever it is asked to measure.
std::string PythonThatWrites(const ProgramTest& program, const std::string& run) {
  const std::string path =
      program.Write("python", "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = --output ] && printf '%s' '" + run +
                                  "' >\"$2\"; shift; done\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(Measure, ReportsAnInferenceWithAndWithoutTheProfiler) {
  const ProgramTest program;
  const std::string python = PythonThatWrites(
      program, R"({"schema":"infimum.run/1","framework":"onnxruntime","framework_version":"1.31.1","threads":1,)"
               R"("end_to_end":[{"samples_us":[1000,1100,1200]},{"samples_us":[1000,1000,1000]}],)"
               R"("profiled_us":[1050,1100],"layers":[{"name":"conv","op":"Conv","samples_us":[800,900]}]})");
  const std::string output = program.Run({"measure", ProgramTest::Light("squeezenet"), "--python", python});
  EXPECT_EQ(output,
            "onnxruntime 1.31.1: 1.049 ms (mean of 2 process medians, 1 thread, 1 layer profiled, run kept in "
            "infimum.db); under the profiler 1.075 ms (+2.5 %), of which layers 0.850 ms\n");
}

// In place of Python: 1 ms for each model, or `each` and 1 us for the one that does nothing; of several in a list; one
// whose name contains `failing` fails.
std::string PythonThatMeasures(const ProgramTest& program, const std::string& failing, const char* each = "") {
  std::string script = R"(#!/bin/sh
shift
while [ "$1" != --device ]; do
  case "$1" in *nothing*) us=1;; *) us=EACH;; esac
  sha=$(sha256sum "$1" | cut -d' ' -f1)
  run='{"schema":"infimum.run/1","framework":"onnxruntime","framework_version":"1.31.1","threads":1,"model_sha256":"'$sha'","end_to_end":[{"samples_us":['$us','$us']}]}'
  case "$1" in *FAILING*) run='{"failed":"ONNX Runtime has no such kernel"}';; esac
  runs="$runs,$run"
  count=x$count
  shift
done
while [ "$1" != --output ]; do shift; done
runs=${runs#,}
[ "$count" = x ] || runs='{"runs":['$runs']}'
echo "$runs" >"$2"
)";
  script.replace(script.find("FAILING"), 7, failing);
  if (*each == '\0') script.replace(script.find("us=1;"), 5, "us=1000;");
  script.replace(script.find("EACH"), 4, *each == '\0' ? "1000" : each);
  const std::string python = program.Write("python-" + failing, script);
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  return python;
}

TEST(Measure, AddsUpBricksLessWhatACallCosts) {
  const ProgramTest program;
  // The model that does nothing takes as long as all others here.
  const std::string python = PythonThatMeasures(program, "no-brick");
  const std::string model = ProgramTest::Light("squeezenet");
  for (const char* cut : {"fused", "layers"}) {
    const nlohmann::json times =
        program.Json({"measure", model, "--by-bricks", "--cut", cut, "--python", python, "-o", "-"});
    EXPECT_EQ(times["schema"], "infimum.brick-times/1");
    EXPECT_EQ(times["total_us"], 1000);
    EXPECT_EQ(times["error"], 0);
    EXPECT_EQ(times["missing"], 0);
  }
  const std::vector<std::string> again = {"measure", model, "--by-bricks", "--python", python};
  EXPECT_THAT(program.Run(again), HasSubstr("the whole model: 1.00 ms; composed it is +0.0 % off"));
  const Ended known = program.Infimum(again);
  EXPECT_EQ(known.exit_code, 0) << known.errors;
  EXPECT_THAT(known.errors, HasSubstr("4 bricks of light_squeezenet, 4 of them measured before"));
  const Ended alone = program.Infimum({"measure", model, "--block", "20", "--python", python});
  EXPECT_EQ(alone.exit_code, 2) << alone.errors;
}

TEST(Measure, ABrickThatCannotBeMeasuredIsLeftOutOfTheSum) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const Ended ended = program.Infimum(
      {"measure", model, "--by-bricks", "--cut", "layers", "--python", PythonThatMeasures(program, "softmax")});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("is left out of the sum: ONNX Runtime has no such kernel"));
  EXPECT_THAT(ended.output, HasSubstr("without 1 occurrence that have no time"));
  const Ended failed = program.Infimum(
      {"measure", model, "--by-bricks", "--db", "other.db", "--python", PythonThatMeasures(program, "nothing")});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.errors, HasSubstr("a model that does nothing could not be measured"));
}

// A framework's time of a layer or group that it runs alone counts beside the best known kernels, and is no candidate
// of them.
TEST(Measure, BricksThatAreLayersCountInTheBoundOfWhatWasObserved) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const std::string python = PythonThatMeasures(program, "no-brick", "2");
  program.Run({"analyze", model, "--backend", "fake", "--framework", "none", "--report", "r.html"});
  const nlohmann::json before = program.Json({"bound", model, "--backend", "fake", "--format", "json"});
  program.Run({"measure", model, "--backend", "fake", "--by-bricks", "--cut", "fused", "--python", python});
  const nlohmann::json after = program.Json({"bound", model, "--backend", "fake", "--format", "json"});
  std::map<std::string, double> bounds;
  for (const nlohmann::json& bound : after["bounds"]) bounds[bound["variant"]] = bound["latency_us"];
  for (const nlohmann::json& bound : before["bounds"]) EXPECT_EQ(bounds[bound["variant"]], bound["latency_us"]);
  EXPECT_EQ(after["best_known_us"], before["best_known_us"]);
  ASSERT_FALSE(after["observed"].empty());
  EXPECT_LT(bounds.at("best-known-or-observed"), bounds.at("fused-sequential"));
  EXPECT_EQ(after["observed"][0]["candidate"], "observed/onnxruntime-1.31.1");
  EXPECT_LT(after["observed"][0]["latency_us"], after["observed"][0]["known_us"]);
}

std::string HashOf(const ProgramTest& program, const std::string& model) {
  return program.Json({"inspect", model, "--format", "json"}).at("model").at("sha256");
}

TEST(Measure, AFrameworksRunBoundsFromAbove) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const nlohmann::json run = {{"schema", "infimum.run/1"},
                              {"framework", "onnxruntime"},
                              {"model_sha256", HashOf(program, model)},
                              {"threads", 1},
                              {"end_to_end", {{{"samples_us", {1000}}}}}};
  program.Run({"measure", model, "--python", PythonThatWrites(program, run.dump())});
  // For the device's peaks.
  program.Run({"analyze", model, "--framework", "none", "--budget", "1s", "--report", "r.html"});
  for (const char* contract : {"strict-f32", "bf16"}) {
    const nlohmann::json upper = program.Json({"bound", model, "--contract", contract, "--format", "json"}).at("upper");
    ASSERT_EQ(upper.size(), 1U) << contract;
    EXPECT_THAT(upper[0].at("name").get<std::string>(), HasSubstr("onnxruntime"));
    EXPECT_EQ(upper[0].at("latency_us"), 1000);
  }
}

// Beside other programs the inferences may not have had their cores: then the run says so, and has no time.
TEST(Measure, OnnxRuntimesRunIsTimedOrNoisy) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const Ended ended = program.Infimum(
      {"measure", model, "--repetitions", "2", "--seconds", "0.1", "-o", "run.json", "--keep-profile", "profile.json"});
  if (LacksFramework(ended)) GTEST_SKIP() << "no Python with ONNX Runtime is known";
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("measuring onnxruntime, process 1 of 2, no profiler 0/3"));

  const nlohmann::json run = nlohmann::json::parse(program.Read("run.json"));
  const std::size_t processes = run.value("end_to_end", nlohmann::json::array()).size();
  if (run.contains("noisy")) {
    EXPECT_EQ(processes, 2u);  // kept, and no time of the framework
    EXPECT_THAT(ended.output, HasSubstr(": noisy, " + run.at("noisy").get<std::string>() + "; run kept in infimum.db"));
    EXPECT_THAT(ended.errors, HasSubstr("measure again while the machine is quiet"));
  } else {
    EXPECT_THAT(processes, AnyOf(1u, 2u));  // one of them may have had its core too rarely to count
    EXPECT_THAT(ended.output, AllOf(HasSubstr("mean of " + std::to_string(processes) + " process medians, 1 thread"),
                                    HasSubstr("; under the profiler "), HasSubstr(" %), of which layers ")));
  }
  EXPECT_EQ(run.at("model_sha256"), HashOf(program, model));
  EXPECT_EQ(run.at("settings").at("provider"), "CPUExecutionProvider");
  EXPECT_EQ(run.at("settings").at("warm_up"), "0.02 s, at least 2 inferences");
  // Of the very inferences that the layers' samples are of.
  const nlohmann::json& profiled = run.at("profiled_us");
  ASSERT_GE(profiled.size(), 5u);
  double layers = 0;
  for (const nlohmann::json& layer : run.at("layers")) {
    EXPECT_EQ(layer.at("samples_us").size(), profiled.size()) << layer.at("name");
    layers += layer.at("samples_us")[0].get<double>();
  }
  EXPECT_LT(layers, 1.05 * profiled[0].get<double>());

  for (const char* file : {"run.json", "profile.json"}) {
    const std::string compared = program.Run({"compare", "--run", file});
    EXPECT_THAT(compared, HasSubstr("Conv"));
  }
}

TEST(Measure, WhatCannotBeMeasuredIsOneClearLine) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const auto error = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"measure", model});
    const Ended ended = program.Infimum(arguments);
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_EQ(ended.output, "");
    return ended.errors;
  };
  EXPECT_THAT(error({"--framework", "tensorflow"}), HasSubstr("there are: onnxruntime, openvino, pytorch, tensorrt"));
  EXPECT_THAT(error({"--framework", "pytorch"}), HasSubstr("--module names the one"));
  EXPECT_THAT(error({"--framework", "tensorrt", "--backend", "onednn"}), HasSubstr("runs on GPUs alone"));
  EXPECT_THAT(error({"--contract", "bf16"}), HasSubstr("--contract bf16: onnxruntime computes on this device"));
  EXPECT_THAT(error({"--keep-profile", "nowhere/p.json"}), HasSubstr("nowhere/p.json: cannot be written"));
}

// A CUDA program's runner describes the GPU, so there is one; this machine's ONNX Runtime has no provider for it.
TEST(Measure, OnAGpuTheFrameworkMustHaveItToo) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"measure", ProgramTest::Light("squeezenet"), "--backend", "cuda-rehearsal"});
  EXPECT_EQ(ended.exit_code, 1);
  if (LacksFramework(ended)) GTEST_SKIP() << "no Python with ONNX Runtime is known";
  EXPECT_THAT(ended.errors,
              HasSubstr("onnxruntime could not be measured on Pretended GPU: this Python's onnxruntime has no "
                        "CUDAExecutionProvider"));
}

// trtexec is an outside program: a stand-in writes what it writes.
TEST(Measure, ATensorRtEngineIsKeptUnderTheGpuThatItRanOn) {
  const ProgramTest program;
  program.Write("trtexec", R"sh(#!/bin/sh
[ "$1" = --help ] && echo '--noTF32' && exit
echo '[I] Selected Device: Pretended GPU'
echo '[I] TensorRT version: 10.9.0'
for argument; do
  case $argument in
    --exportTimes=*) echo '[{"startComputeMs":300,"computeMs":1.5,"latencyMs":2}]' >"${argument#*=}" ;;
    --exportLayerInfo=*) echo '{"Layers":["Conv_0"],"Bindings":["x"]}' >"${argument#*=}" ;;
    --exportProfile=*) echo '[{"count":10},{"name":"Conv_0","averageMs":1.2,"medianMs":1.25}]' >"${argument#*=}" ;;
  esac
done
)sh");
  std::filesystem::permissions(program.folder() / "trtexec", std::filesystem::perms::owner_all);
  const char* const inherited = std::getenv("PATH");
  const std::string path = inherited == nullptr ? "" : inherited;
  setenv("PATH", (program.folder().string() + ":" + path).c_str(), 1);
  const std::vector<std::string> measure{
      "measure", ProgramTest::Light("squeezenet"), "--framework", "tensorrt", "--backend", "cuda-rehearsal", "-o",
      "run.json"};
  const Ended ended = program.Infimum(measure);
  setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(ended.output,
            "tensorrt 10.9.0: 1.500 ms (mean of 3 process medians, 1 layer profiled, run kept in "
            "infimum.db); the layers 1.250 ms together, under a profiler whose cost tensorrt does not report\n");
  const nlohmann::json run = nlohmann::json::parse(program.Read("run.json"));
  EXPECT_THAT(run.at("device").get<std::string>(), HasSubstr("gpu/"));
  EXPECT_THAT(program.Infimum({"compare", "--run", "run.json"}).output, HasSubstr("Conv_0"));
}

// PyTorch is no dependency, and too large to become one for a test: INFIMUM_TORCH_PYTHON names a Python that has it.
class MeasurePyTorch : public ::testing::Test {
 protected:
  // One layer of each kind that the file's model has at its end: its output is as large.
  Ended Measure(const std::vector<std::string>& more) const {
    program_.Write("network.py", R"py(
import torch

class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 1000, 7, stride=8)

    def forward(self, x):
        return torch.relu(self.convolution(x)).mean((2, 3), keepdim=True)

def network():
    return Network(), torch.rand(1, 3, 224, 224)

def other():
    return torch.nn.Flatten(), torch.rand(1, 3, 224, 224)
)py");
    const char* const named = std::getenv("INFIMUM_TORCH_PYTHON");
    std::vector<std::string> arguments{"measure",
                                       ProgramTest::Light("squeezenet"),
                                       "--framework",
                                       "pytorch",
                                       "--repetitions",
                                       "1",
                                       "--seconds",
                                       "0.1",
                                       "-o",
                                       "run.json"};
    if (named != nullptr) arguments.insert(arguments.end(), {"--python", named});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program_.Infimum(arguments);
  }
  static bool LacksTorch(const Ended& ended) {
    return ended.exit_code != 0 && ended.errors.find("this Python has no torch") != std::string::npos;
  }

  const ProgramTest program_;
};

TEST_F(MeasurePyTorch, LayersAreTheOperatorsThatTheModuleCalled) {
  const Ended ended = Measure({"--module", "network.py:network", "--keep-profile", "trace.json"});
  if (LacksTorch(ended)) GTEST_SKIP() << "this Python has no PyTorch; INFIMUM_TORCH_PYTHON names one that has";
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, Not(HasSubstr("warning")));
  EXPECT_THAT(ended.output, AnyOf(HasSubstr(": noisy, "),
                                  AllOf(HasSubstr(", 3 layers profiled"), HasSubstr("; under the profiler "))));
  const nlohmann::json run = nlohmann::json::parse(program_.Read("run.json"));
  EXPECT_EQ(run.at("settings").at("mode"), "eager");
  EXPECT_EQ(run.at("settings").at("module"), (program_.folder() / "network.py:network").string());
  const nlohmann::json& layer = run.at("layers")[0];
  EXPECT_EQ(layer.at("name"), "convolution:conv2d");
  EXPECT_EQ(layer.at("op"), "aten::conv2d");
  EXPECT_EQ(layer.at("input_tensors")[0].at("dtype"), "f32");
  EXPECT_EQ(layer.at("input_tensors")[0].at("dims"), (std::vector<int>{1, 3, 224, 224}));
  EXPECT_EQ(layer.at("samples_us").size(), run.at("profiled_us").size());
  EXPECT_THAT(program_.Infimum({"compare", "--run", "run.json"}).output, HasSubstr("aten::conv2d"));
  EXPECT_THAT(program_.Infimum({"compare", "--run", "trace.json"}).output, HasSubstr("aten::convolution"));
}

TEST_F(MeasurePyTorch, AModuleThatIsNotTheModelIsAWarning) {
  const Ended ended = Measure({"--module", "network.py:other"});
  if (LacksTorch(ended)) GTEST_SKIP() << "this Python has no PyTorch; INFIMUM_TORCH_PYTHON names one that has";
  if (ended.exit_code == 0 && ended.errors.find("warning") == std::string::npos)
    GTEST_SKIP() << "this Python has no onnx, which would tell the model's outputs";
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("are they one model?"));
}

TEST_F(MeasurePyTorch, AModuleThatIsNotThereIsAnError) {
  const Ended ended = Measure({"--module", "absent.pt2"});
  EXPECT_EQ(ended.exit_code, 1);
  if (LacksTorch(ended)) GTEST_SKIP() << "this Python has no PyTorch; INFIMUM_TORCH_PYTHON names one that has";
  EXPECT_THAT(ended.errors, HasSubstr("--module absent.pt2: no such file"));
}

}  // namespace
}  // namespace infimum::testing
