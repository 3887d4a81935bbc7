// A first visit to a GPU, rehearsed on one that is not there (tests/microbench/gpu/pretended_gpu.h): the candidates are
// those that cuDNN has on an H200, their results the reference's, their times pretended; plan, schedule, runner,
// journal, import, bracket, replay and report are the real ones. What is left for a device are its times and cuDNN's
// kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/app/commands/example_models.h"
#include "tests/app/commands/program.h"
#include "tests/support/folders.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class Rehearsal : public ::testing::Test {
 protected:
  Rehearsal() {
    setenv("PRETENDED_GPU", "computes,cudnn", 1);
    WriteExample(program_, "small_network", "resnet50.onnx");
  }
  ~Rehearsal() override { unsetenv("PRETENDED_GPU"); }

  // A line of a shell in the test's folder.
  int Shell(const std::string& line) const {
    return std::system(("cd '" + program_.folder().string() + "' && " + line).c_str());
  }

  ProgramTest program_;
};

TEST_F(Rehearsal, AMachineWithARunnerAloneFillsTheStoreOfAnother) {
  const std::string campaign = "INFIMUM_BIN='" + std::filesystem::path(Program("infimum")).parent_path().string() +
                               "' '" + SourceFolder() + "/scripts/gpu_campaign' ";
  // Plans of one small model under the name of a known one; the others are said to be missing.
  ASSERT_EQ(Shell(campaign + "plan . campaign 2> plan.log"), 0) << program_.Read("plan.log");
  EXPECT_THAT(program_.Read("plan.log"), HasSubstr("mobilenet_v2.onnx is not there"));
  // Two contracts are enough for a test.
  ASSERT_EQ(Shell("rm campaign/plans/*-bf16.plan campaign/plans/*-strict-f32.plan"), 0);
  ASSERT_EQ(Shell(campaign + "run campaign --dry-run 2> run.log"), 0) << program_.Read("run.log");
  EXPECT_THAT(program_.Read("run.log"), HasSubstr("0 steps failed"));
  ASSERT_EQ(Shell("mkdir back && tar -C back -xJf campaign/results.tar.xz"), 0);

  // Back home: rows of the contracts that the plans name, peaks, a bracket.
  for (const auto& entry : std::filesystem::directory_iterator(program_.folder() / "back/results"))
    if (entry.path().extension() == ".jsonl") program_.Run({"import", entry.path().string()});
  const Json outcomes = program_.Json({"query", "outcomes", "--format", "json"});
  std::map<std::string, int> measured;  // by library
  for (const Json& row : outcomes.at("rows"))
    if (row.at(2) == "measured") measured[row.at(1)] += row.at(3).get<int>();
  EXPECT_GT(measured["infimum"], 0);
  EXPECT_GT(measured["cudnn-graph"], 20) << "engines by the names that cuDNN has for an H200";
  for (const char* contract : {"f16", "tf32"}) {
    const Json bound = program_.Json(
        {"bound", "resnet50.onnx", "--device", "Pretended GPU", "--contract", contract, "--format", "json"});
    EXPECT_GT(bound.at("coverage").at("measured").get<double>(), 0.99) << contract;
  }

  // Of tf32, since cuDNN has no strict f32 product. The demonstrated run by a runner that knows no models, with random
  // weights.
  ASSERT_EQ(Shell("'" + Program("infimum-microbench-cuda-rehearsal") +
                  "' -q --replay campaign/schedules/resnet50-b1-tf32-apart.json --results "
                  "back/results/resnet50-b1-tf32.jsonl --rounds 1 --candidate-budget 5ms -o r.json 2> replay.log"),
            0)
      << program_.Read("replay.log");
  const Json replay = Json::parse(program_.Read("r.json"), nullptr, false);
  std::size_t engines = 0;
  for (const Json& part : replay.at("parts"))
    engines += part.at("candidate").get<std::string>().starts_with("cudnn-graph/eng") ? 1 : 0;
  EXPECT_GE(engines, 3U);

  const Ended page = program_.Infimum(
      {"report", "resnet50.onnx", "--device", "Pretended GPU", "--contract", "f16", "-o", "report.html"});
  ASSERT_EQ(page.exit_code, 0) << page.errors;
  EXPECT_THAT(program_.Read("report.html"), HasSubstr("cudnn-graph/eng"));
}

}  // namespace
}  // namespace infimum::testing
