// The demonstrated run of small models, each of which has one thing that a replay must carry over: scales of 8-bit
// layers, folded normalizations, an attention that is written out. Outputs must be ONNX Runtime's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "tests/app/commands/example_models.h"
#include "tests/app/commands/program.h"
#include "tests/support/folders.h"

namespace infimum::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Replays the model on this store; nullopt, and the test skipped, where no ONNX Runtime is known.
std::optional<Ended> Replayed(const ProgramTest& program, const std::string& model) {
  const Ended ended = program.Infimum({"replay", model, "--repetitions", "1", "--keep", "kept"});
  return LacksFramework(ended) ? std::nullopt : std::optional<Ended>(ended);
}

#define REPLAY_OR_SKIP(ended, program, model)                                                    \
  const std::optional<Ended> ended = Replayed(program, model);                                   \
  if (!ended) GTEST_SKIP() << "no Python with ONNX Runtime is known; the model is not replayed"; \
  ASSERT_EQ(ended->exit_code, 0) << ended->errors;                                               \
  EXPECT_THAT(ended->output, HasSubstr("verified"));                                             \
  EXPECT_THAT(ended->output, ::testing::Not(HasSubstr("NOT VERIFIED")))

// The largest error of an output, in parts of its largest element.
double ErrorIn(const ProgramTest& program, const std::string& result = "kept/replay.json") {
  const nlohmann::json json = nlohmann::json::parse(program.Read(result), nullptr, false);
  double error = json.is_object() && !json.at("outputs").empty() ? 0 : 1;
  for (const nlohmann::json& output : json.value("outputs", nlohmann::json::array()))
    error = std::max(error, output.at("error").get<double>());
  return error;
}

// A region that is the only thing measured is what a replay runs: nothing is known of its layers alone.
void MeasureAlone(const ProgramTest& program, const std::string& workload) {
  program.Run({"bench", "--layer", workload, "--budget", "5s"});
}

// The same, and a thousand times as fast in the store: a replay runs what is measured fastest.
void MeasureAsFast(const ProgramTest& program, const std::string& workload) {
  MeasureAlone(program, workload);
  program.Run({"export", "--outcome", "measured", "-o", "measured.jsonl"});
  std::istringstream lines(program.Read("measured.jsonl"));
  std::string faster;
  for (std::string line; std::getline(lines, line); faster += "\n") {
    nlohmann::json record = nlohmann::json::parse(line);
    if (record.at("kind") == "header") record["campaign"]["key"] = "faster";  // else they are known already
    const auto repetitions = record.find("repetitions");
    for (std::size_t i = 0; repetitions != record.end() && i < repetitions->size(); ++i) {
      nlohmann::json& repetition = (*repetitions)[i];
      for (const char* name : {"minimum_us", "median_us", "p95_us"})
        repetition.at(name) = repetition.at(name).get<double>() / 1000;
      for (nlohmann::json& sample : repetition.at("samples_us")) sample = sample.get<double>() / 1000;
    }
    faster += record.dump();
  }
  program.Run({"import", program.Write("faster.jsonl", faster)});
}

std::vector<std::string> WorkloadsIn(const std::string& schedule) {
  std::vector<std::string> workloads;
  const nlohmann::json json = nlohmann::json::parse(schedule, nullptr, false);
  if (!json.is_object()) return workloads;
  for (const nlohmann::json& step : json.at("steps")) workloads.push_back(step.at("workload").get<std::string>());
  return workloads;
}

TEST(ReplayedExample, AQuantizedModelKeepsItsScales) {
  const ProgramTest program;
  REPLAY_OR_SKIP(ended, program, WriteExample(program, "quantized"));
  // One step of the output's 256, where two programs round differently; the contract allows more after six layers.
  EXPECT_LT(ErrorIn(program), 0.02);
  const std::vector<std::string> workloads = WorkloadsIn(program.Read("kept/schedule.json"));
  for (const char* const family :
       {"convolution dtype=s8:s8:s8", "pointwise kind=add dtype=s8:s8:s8", "pooling kind=max dtype=s8",
        "reduction kind=mean dtype=s8:-:s8", "matmul dtype=s8:s8:s8"}) {
    EXPECT_THAT(workloads, Contains(StartsWith(family)));
  }
}

TEST(ReplayedExample, NormsOfRowsRunningSumsAndPixelShuffles) {
  const ProgramTest program;
  REPLAY_OR_SKIP(ended, program, WriteExample(program, "statistics"));
  EXPECT_LT(ErrorIn(program), 1e-5);
  const std::vector<std::string> workloads = WorkloadsIn(program.Read("kept/schedule.json"));
  for (const char* const family :
       {"reduction kind=l2", "reduction kind=log_sum_exp", "reduction kind=arg_max", "scan kind=sum",
        "movement kind=triangle", "softmax kind=hardmax", "movement kind=depth_to_space", "movement kind=transpose"}) {
    EXPECT_THAT(workloads, Contains(StartsWith(family)));
  }
}

TEST(ReplayedExample, WhatIndicesPickAndPlaceAndTheLargestOfRows) {
  const ProgramTest program;
  REPLAY_OR_SKIP(ended, program, WriteExample(program, "picked"));
  EXPECT_LT(ErrorIn(program), 1e-5);
  const std::vector<std::string> workloads = WorkloadsIn(program.Read("kept/schedule.json"));
  for (const char* const family : {"sort kind=topk", "movement kind=scatter", "movement kind=gather"})
    EXPECT_THAT(workloads, Contains(StartsWith(family)));
}

TEST(ReplayedExample, FoldedNormalizationsAreInTheWeights) {
  const ProgramTest program;
  REPLAY_OR_SKIP(ended, program, WriteExample(program, "normalized"));
  EXPECT_LT(ErrorIn(program), 1e-5);
  const std::vector<std::string> workloads = WorkloadsIn(program.Read("kept/schedule.json"));
  EXPECT_EQ(std::count_if(workloads.begin(), workloads.end(),
                          [](const std::string& text) { return text.starts_with("normalization kind=batch"); }),
            6);
}

TEST(ReplayedExample, ConstantsForEachChannelAreInTheWeights) {
  const ProgramTest program;
  REPLAY_OR_SKIP(ended, program, WriteExample(program, "scaled"));
  EXPECT_LT(ErrorIn(program), 1e-5);
  const nlohmann::json schedule = nlohmann::json::parse(program.Read("kept/schedule.json"));
  std::vector<std::string> names;
  for (const auto& step : schedule["steps"])
    if (!step["layers"].empty()) names.push_back(step["name"]);
  EXPECT_THAT(names,
              ::testing::UnorderedElementsAre("Conv_3", "Relu_7", "Sigmoid_8", "Concat_9", "BatchNormalization_10",
                                              "Relu_13", "Conv_14", "ConvTranspose_16"));
}

TEST(ReplayedExample, AnAttentionThatWasMeasuredRunsAsOneWithItsOwnScale) {
  const ProgramTest program;
  MeasureAlone(program, "attention dtype=f32:-:f32 n=1 heads=4 kv_heads=4 q=12 kv=12 head=8 mask=full");
  REPLAY_OR_SKIP(ended, program, WriteExample(program, "attention"));
  EXPECT_LT(ErrorIn(program), 1e-5);
  EXPECT_THAT(WorkloadsIn(program.Read("kept/schedule.json")), Contains(StartsWith("attention ")));
}

TEST(ReplayedExample, RowsAreNormalizedAsOneWithTheirEpsilon) {
  const ProgramTest program;
  MeasureAsFast(program, "normalization kind=layer dtype=f32:f32:f32 in=24x40 axis=1 scale=yes bias=yes");
  REPLAY_OR_SKIP(ended, program, WriteExample(program, "rows"));
  EXPECT_LT(ErrorIn(program), 1e-5);
  const std::vector<std::string> workloads = WorkloadsIn(program.Read("kept/schedule.json"));
  EXPECT_THAT(workloads, Contains(StartsWith("normalization kind=layer")));
  EXPECT_THAT(workloads, ::testing::Not(Contains(HasSubstr("reduction"))));
}

class ExplainedExample : public ::testing::Test {
 protected:
  // Measured as a user would; false, and the test to be skipped, where no ONNX Runtime is known.
  bool Explain(std::vector<std::string> more) {
    std::vector<std::string> arguments{"explain", model_, "--budget", "2s", "--format", "json", "-o", "e.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = program_.Infimum(arguments);
    if (LacksFramework(ended)) return false;
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    json_ = nlohmann::json::parse(program_.Read("e.json"), nullptr, false);
    return true;
  }

  const ProgramTest program_;
  const std::string model_ = WriteExample(program_, "small_network");
  nlohmann::json json_;
};

#define EXPLAIN_OR_SKIP(more) \
  if (!Explain more) GTEST_SKIP() << "no Python with ONNX Runtime is known; the model is not replayed"

TEST_F(ExplainedExample, TheLibrariesOwnChoicesAreSwitchedOneByOneAndKept) {
  program_.Run({"analyze", model_, "--budget", "8s", "--framework", "none", "--report", "r.html"});
  EXPLAIN_OR_SKIP(({"--heuristic"}));
  ASSERT_TRUE(json_.is_object());
  EXPECT_EQ(json_.at("schema"), "infimum.explain/1");
  EXPECT_GT(json_.at("inferences").get<int>(), 100);
  const auto& factors = json_.at("factors");
  ASSERT_FALSE(factors.empty());
  double sum = 0;
  for (const auto& factor : factors) {
    EXPECT_NE(factor.at("level0"), factor.at("level1"));
    EXPECT_FALSE(factor.at("layers").empty());
    sum += factor.at("effect").at("latency_us").get<double>();
  }
  EXPECT_NEAR(sum, json_.at("sum").at("latency_us").get<double>(), 1e-6);
  EXPECT_THAT(program_.Run({"query", "--sql", "SELECT framework FROM runs"}), HasSubstr("infimum-explain"));
  // Whether there are any is a matter of measured times.
  const Ended rivals = program_.Infimum({"explain", model_, "--budget", "1s", "--rivals", "--format", "json"});
  if (rivals.exit_code == 0) {
    EXPECT_EQ(nlohmann::json::parse(rivals.output).at("level1").at("program"), "the next best known kernels");
  } else {
    EXPECT_THAT(rivals.errors, HasSubstr("no other candidate takes at most a quarter longer"));
  }
}

TEST_F(ExplainedExample, ARunDecidesWhatIsFusedAndHowFast) {
  program_.Run({"analyze", model_, "--budget", "8s", "--framework", "none", "--report", "r.html"});
  const Ended measured =
      program_.Infimum({"measure", model_, "--seconds", "0.5", "--repetitions", "1", "-o", "run.json"});
  if (LacksFramework(measured)) GTEST_SKIP() << "no Python with ONNX Runtime is known; the model is not replayed";
  ASSERT_EQ(measured.exit_code, 0) << measured.errors;
  EXPLAIN_OR_SKIP(({"--run", "run.json"}));
  ASSERT_TRUE(json_.is_object());
  EXPECT_THAT(json_.at("level1").at("program").get<std::string>(), HasSubstr("onnxruntime"));
  EXPECT_FALSE(json_.at("factors").empty());
}

TEST_F(ExplainedExample, WhereNothingWasMeasuredNothingCanBeSwitched) {
  const Ended ended = program_.Infimum({"explain", model_, "--budget", "1s"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("nothing can be switched"));
  EXPECT_THAT(ended.errors, HasSubstr("infimum analyze"));
}

TEST_F(ExplainedExample, ARunWithoutLayersOrOfAnotherModelIsRefused) {
  const std::string run = program_.Write(
      "other.json", R"({"schema":"infimum.run/1","framework":"f","framework_version":"1","model_sha256":")" +
                        std::string(64, 'a') + R"(","layers":[{"name":"c1","op":"Conv","samples_us":[5]}]})");
  const Ended ended = program_.Infimum({"explain", model_, "--run", run});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("other.json"));
}

// On a GPU that is not there (tests/microbench/gpu/pretended_gpu.h), whose graphs are computed.
class PretendedGpuReplay : public ::testing::Test {
 protected:
  PretendedGpuReplay() {
    setenv("PRETENDED_GPU", "computes", 1);
    model_ = WriteExample(program_, "small_network");
  }
  ~PretendedGpuReplay() override { unsetenv("PRETENDED_GPU"); }

  ProgramTest program_;
  std::string model_;
};

TEST_F(PretendedGpuReplay, AModelRunsAsOneGraphAndStandsInItsBound) {
  const std::vector<std::string> on = {"--backend", "cuda-rehearsal"};
  std::vector<std::string> analyze{"analyze", model_, "--budget", "20s", "--report", "r.html"};
  analyze.insert(analyze.end(), on.begin(), on.end());
  program_.Run(analyze);
  std::vector<std::string> replay{"replay",           model_,      "--repetitions", "1",
                                  "--backend-option", "streams=2", "--keep",        "kept"};
  replay.insert(replay.end(), on.begin(), on.end());
  const Ended ended = program_.Infimum(replay);
  if (LacksFramework(ended)) GTEST_SKIP() << "no Python with ONNX Runtime is known; the model is not replayed";
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_LT(ErrorIn(program_), 1e-5);
  EXPECT_THAT(ended.output, ::testing::Not(HasSubstr("NOT VERIFIED")));
  const std::string bound = program_.Infimum({"bound", model_, "--device", "Pretended GPU"}).output;
  EXPECT_EQ(bound.find("demonstrated") != std::string::npos, !IsNoisyReplay(ended));
  // Which would have run on this machine's processor.
  EXPECT_THAT(bound, ::testing::Not(HasSubstr("onnxruntime")));
  const Ended measured = program_.Infimum({"measure", model_, "--backend", "cuda-rehearsal"});
  EXPECT_EQ(measured.exit_code, 1);
  EXPECT_THAT(measured.errors, HasSubstr("Pretended GPU"));
}

TEST_F(PretendedGpuReplay, ARunnerAloneGetsFromItsResultsToR) {
  program_.Run({"plan", model_, "--all", "-o", "m.plan"});
  program_.Run({"replay", model_, "--no-regions", "--schedule", "s.json"});
  const auto run = [&](const std::string& arguments) {
    return std::system(("cd '" + program_.folder().string() + "' && " +
                        testing::Program("infimum-microbench-cuda-rehearsal") + " -q " + arguments)
                           .c_str());
  };
  ASSERT_EQ(run("m.plan -o m.jsonl --rounds 1 --budget 20s"), 0);
  ASSERT_EQ(run("--replay s.json --results m.jsonl --rounds 1 --candidate-budget 5ms -o r.json"), 0);
  // Random weights: the graph left what its steps did.
  ASSERT_EQ(ErrorIn(program_, "r.json"), 0);
  const nlohmann::json result = nlohmann::json::parse(program_.Read("r.json"), nullptr, false);
  std::size_t convolutions = 0;
  for (const nlohmann::json& part : result.at("parts"))
    convolutions += part.at("candidate").get<std::string>().starts_with("pretended/reference") ? 1 : 0;
  EXPECT_GE(convolutions, 3u);
}

TEST(ReplayedExample, WhatCannotBeReplayedIsNamedBeforeAnythingIsMade) {
  const ProgramTest program;
  const Ended refused = program.Infimum(
      {"replay",
       WriteModel(program,
                  "g (float[4, 4] x) => (float[4, 4] y) <int64 axis = {1}> { y = CumSum <reverse = 1> (x, axis) }")});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("CumSum"));
}

}  // namespace
}  // namespace infimum::testing
