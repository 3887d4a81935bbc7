// The demonstrated run of small models, each of which has one thing that a replay must carry over: scales of 8-bit
// layers, folded normalizations, an attention that is written out. Outputs must be ONNX Runtime's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "tests/app/commands/program.h"
#include "tests/support/folders.h"

namespace infimum::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A 3x3 convolution with a bias and a ReLU, a 1x1 convolution with a scale for each channel, their sum, a pooling, a
// mean and a product with its matrix transposed, all on 8 bits. Weights are stand-ins, which the writer of tensors
// fills.
constexpr char kQuantized[] = R"(
    g (float[1, 8, 12, 12] x) => (float[1, 10] y)
      <float xs = {0.02}, int8 xz = {-7}, float rs = {0.02}, int8 rz = {-128}, float hs = {0.03}, int8 hz = {5},
       float as = {0.05}, int8 az = {-20}, float ms = {0.01}, int8 mz = {3}, float ys = {0.04}, int8 yz = {-1},
       int64[4] shape1 = {16, 8, 3, 3}, int64[4] shape2 = {16, 16, 1, 1}, int64[2] shape3 = {10, 16},
       int64[1] sixteen = {16}, int64[1] ten = {10}, int64[2] axes = {2, 3},
       int32[16] b1 = {900, -200, 300, 0, 50, -1000, 700, 20, 5, -5, 100, 400, -300, 800, -60, 10},
       int32[10] b3 = {10, -20, 30, 40, -50, 60, 70, 80, -90, 100}, int32 bz = {0}, float b3s = {0.001}, int8 wz3 = {0},
       float ws3 = {0.01}> {
      w1 = ConstantOfShape <value = int8[1] {1}> (shape1)
      w2 = ConstantOfShape <value = int8[1] {1}> (shape2)
      w3 = ConstantOfShape <value = int8[1] {1}> (shape3)
      ws1 = ConstantOfShape <value = float[1] {0.01}> (sixteen)
      ws2 = ConstantOfShape <value = float[1] {0.01}> (sixteen)
      wz1 = ConstantOfShape <value = int8[1] {0}> (sixteen)
      bs1 = ConstantOfShape <value = float[1] {0.01}> (sixteen)
      bz1 = ConstantOfShape <value = int32[1] {0}> (sixteen)
      xq = QuantizeLinear (x, xs, xz)
      xd = DequantizeLinear (xq, xs, xz)
      w1d = DequantizeLinear <axis = 0> (w1, ws1, wz1)
      b1d = DequantizeLinear <axis = 0> (b1, bs1, bz1)
      h1 = Conv <pads = [1, 1, 1, 1]> (xd, w1d, b1d)
      r1 = Relu (h1)
      rq = QuantizeLinear (r1, rs, rz)
      rd = DequantizeLinear (rq, rs, rz)
      w2d = DequantizeLinear <axis = 0> (w2, ws2, wz1)
      h2 = Conv (rd, w2d)
      hq = QuantizeLinear (h2, hs, hz)
      hd = DequantizeLinear (hq, hs, hz)
      s = Add (rd, hd)
      aq = QuantizeLinear (s, as, az)
      ad = DequantizeLinear (aq, as, az)
      p = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (ad)
      pq = QuantizeLinear (p, as, az)
      pd = DequantizeLinear (pq, as, az)
      m = ReduceMean <keepdims = 0> (pd, axes)
      mq = QuantizeLinear (m, ms, mz)
      md = DequantizeLinear (mq, ms, mz)
      w3d = DequantizeLinear (w3, ws3, wz3)
      b3d = DequantizeLinear (b3, b3s, bz)
      f = Gemm <transB = 1> (md, w3d, b3d)
      yq = QuantizeLinear (f, ys, yz)
      y = DequantizeLinear (yq, ys, yz)
    })";

// Two convolutions with a residual, a mean, a product with its matrix transposed and a softmax.
constexpr char kSmallNetwork[] = R"(
    g (float[1, 3, 16, 16] x) => (float[1, 10] y)
      <int64[4] shape1 = {8, 3, 3, 3}, int64[4] shape2 = {8, 8, 1, 1}, int64[2] shape3 = {10, 8}, int64[1] eight = {8},
       int64[1] ten = {10}> {
      w1 = ConstantOfShape <value = float[1] {0.01}> (shape1)
      b1 = ConstantOfShape <value = float[1] {0.5}> (eight)
      w2 = ConstantOfShape <value = float[1] {0.01}> (shape2)
      w3 = ConstantOfShape <value = float[1] {0.01}> (shape3)
      b3 = ConstantOfShape <value = float[1] {0.5}> (ten)
      c1 = Conv <pads = [1, 1, 1, 1]> (x, w1, b1)
      r1 = Relu (c1)
      c2 = Conv (r1, w2)
      a = Add (c2, r1)
      p = GlobalAveragePool (a)
      f = Flatten (p)
      g3 = Gemm <transB = 1> (f, w3, b3)
      y = Softmax (g3)
    })";

// After a convolution without a bias, after one of groups that has a bias, and after a transposed one.
constexpr char kNormalized[] = R"(
    g (float[1, 8, 9, 9] x) => (float[1, 6, 18, 18] y)
      <int64[4] shape1 = {16, 8, 3, 3}, int64[4] shape2 = {16, 8, 3, 3}, int64[4] shape3 = {16, 6, 2, 2},
       int64[1] sixteen = {16}, int64[1] six = {6}> {
      w1 = ConstantOfShape <value = float[1] {0.01}> (shape1)
      w2 = ConstantOfShape <value = float[1] {0.01}> (shape2)
      w3 = ConstantOfShape <value = float[1] {0.01}> (shape3)
      b2 = ConstantOfShape <value = float[1] {0.5}> (sixteen)
      scale = ConstantOfShape <value = float[1] {1.0}> (sixteen)
      shift = ConstantOfShape <value = float[1] {0.3}> (sixteen)
      mean = ConstantOfShape <value = float[1] {0.2}> (sixteen)
      variance = ConstantOfShape <value = float[1] {1.0}> (sixteen)
      scale3 = ConstantOfShape <value = float[1] {1.0}> (six)
      shift3 = ConstantOfShape <value = float[1] {0.3}> (six)
      mean3 = ConstantOfShape <value = float[1] {0.2}> (six)
      variance3 = ConstantOfShape <value = float[1] {1.0}> (six)
      h1 = Conv <pads = [1, 1, 1, 1]> (x, w1)
      n1 = BatchNormalization <epsilon = 0.1> (h1, scale, shift, mean, variance)
      r1 = Relu (n1)
      h2 = Conv <pads = [1, 1, 1, 1], group = 2> (r1, w2, b2)
      n2 = BatchNormalization (h2, scale, shift, mean, variance)
      r2 = Relu (n2)
      h3 = ConvTranspose <strides = [2, 2]> (r2, w3)
      y = BatchNormalization (h3, scale3, shift3, mean3, variance3)
    })";

// Heads of 8 over 12 positions, with a scale that is not 1 / sqrt(8), and a mask that is scaled too.
constexpr char kAttention[] = R"(
    g (float[12, 32] x, float[1, 1, 12, 12] mask) => (float[12, 32] y)
      <int64[2] square = {32, 32}, int64[4] heads = {1, 12, 4, 8}, int64[2] rows = {12, 32}, float a = {0.5},
       float b = {1.5}> {
      wq = ConstantOfShape <value = float[1] {0.01}> (square)
      wk = ConstantOfShape <value = float[1] {0.01}> (square)
      wv = ConstantOfShape <value = float[1] {0.01}> (square)
      xq = MatMul (x, wq)
      xk = MatMul (x, wk)
      xv = MatMul (x, wv)
      rq = Reshape (xq, heads)
      rk = Reshape (xk, heads)
      rv = Reshape (xv, heads)
      q = Transpose <perm = [0, 2, 1, 3]> (rq)
      k = Transpose <perm = [0, 2, 3, 1]> (rk)
      v = Transpose <perm = [0, 2, 1, 3]> (rv)
      qs = Mul (q, a)
      scores = MatMul (qs, k)
      masked = Add (scores, mask)
      scaled = Mul (masked, b)
      p = Softmax (scaled)
      o = MatMul (p, v)
      t = Transpose <perm = [0, 2, 1, 3]> (o)
      y = Reshape (t, rows)
    })";

// A residual sum and its layer normalization written out, with an epsilon that shows; a mask and its softmax.
constexpr char kRows[] = R"(
    g (float[24, 40] x, float[24, 40] r, float[40] mask) => (float[24, 40] y, float[24, 40] sum)
      <int64[1] row = {40}, int64[1] last = {1}, float two = {2.0}, float epsilon = {0.5}> {
      scale = ConstantOfShape <value = float[1] {1.0}> (row)
      bias = ConstantOfShape <value = float[1] {0.3}> (row)
      sum = Add (x, r)
      mean = ReduceMean (sum, last)
      d = Sub (sum, mean)
      squares = Pow (d, two)
      variance = ReduceMean (squares, last)
      ve = Add (variance, epsilon)
      deviation = Sqrt (ve)
      n = Div (d, deviation)
      ns = Mul (n, scale)
      nb = Add (ns, bias)
      masked = Add (nb, mask)
      y = Softmax (masked)
    })";

std::string WriteModel(const ProgramTest& program, const std::string& graph) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, ("<ir_version: 9, opset_import: [\"\" : 18]>" + graph).c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return program.Write("model.onnx", model.SerializeAsString());
}

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

// The error of the one output, in parts of its largest element.
double ErrorIn(const std::string& output) {
  std::smatch found;
  EXPECT_TRUE(std::regex_search(output, found, std::regex("error ([0-9.e+-]+) of its largest"))) << output;
  return found.size() > 1 ? std::stod(found[1]) : 1;
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
  REPLAY_OR_SKIP(ended, program, WriteModel(program, kQuantized));
  // One step of the output's 256, where two programs round differently; the contract allows more after six layers.
  EXPECT_LT(ErrorIn(ended->output), 0.02);
  const std::vector<std::string> workloads = WorkloadsIn(program.Read("kept/schedule.json"));
  for (const char* const family :
       {"convolution dtype=s8:s8:s8", "pointwise kind=add dtype=s8:s8:s8", "pooling kind=max dtype=s8",
        "reduction kind=mean dtype=s8:-:s8", "matmul dtype=s8:s8:s8"}) {
    EXPECT_THAT(workloads, Contains(StartsWith(family)));
  }
}

TEST(ReplayedExample, FoldedNormalizationsAreInTheWeights) {
  const ProgramTest program;
  REPLAY_OR_SKIP(ended, program, WriteModel(program, kNormalized));
  EXPECT_LT(ErrorIn(ended->output), 1e-5);
  const std::vector<std::string> workloads = WorkloadsIn(program.Read("kept/schedule.json"));
  EXPECT_EQ(std::count_if(workloads.begin(), workloads.end(),
                          [](const std::string& text) { return text.starts_with("normalization kind=batch"); }),
            6);
}

TEST(ReplayedExample, AnAttentionThatWasMeasuredRunsAsOneWithItsOwnScale) {
  const ProgramTest program;
  const Ended measured = program.Infimum(
      {"bench", "--layer", "attention dtype=f32:-:f32 n=1 heads=4 kv_heads=4 q=12 kv=12 head=8 mask=full", "--budget",
       "5s"});
  ASSERT_EQ(measured.exit_code, 0) << measured.errors;
  REPLAY_OR_SKIP(ended, program, WriteModel(program, kAttention));
  EXPECT_LT(ErrorIn(ended->output), 1e-5);
  EXPECT_THAT(WorkloadsIn(program.Read("kept/schedule.json")), Contains(StartsWith("attention ")));
}

TEST(ReplayedExample, RowsAreNormalizedAsOneWithTheirEpsilon) {
  const ProgramTest program;
  const std::string model = WriteModel(program, kRows);
  const Ended analyzed =
      program.Infimum({"analyze", model, "--framework", "none", "--budget", "20s", "--report", "report.html"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.errors;
  REPLAY_OR_SKIP(ended, program, model);
  EXPECT_LT(ErrorIn(ended->output), 1e-5);
  const std::vector<std::string> workloads = WorkloadsIn(program.Read("kept/schedule.json"));
  // Which sum or mask runs with it is for the measurements to say; its nine layers one by one never win.
  EXPECT_THAT(workloads, Contains(HasSubstr("normalization kind=layer")));
  EXPECT_THAT(workloads, ::testing::Not(Contains(HasSubstr("reduction"))));
}

// On a GPU that is not there (tests/microbench/gpu/pretended_gpu.h), whose graphs are computed.
class PretendedGpuReplay : public ::testing::Test {
 protected:
  PretendedGpuReplay() {
    setenv("PRETENDED_GPU", "computes", 1);
    model_ = WriteModel(program_, kSmallNetwork);
  }
  ~PretendedGpuReplay() override { unsetenv("PRETENDED_GPU"); }

  ProgramTest program_;
  std::string model_;
};

TEST_F(PretendedGpuReplay, AModelRunsAsOneGraphAndStandsInItsBound) {
  const std::vector<std::string> on = {"--backend", "cuda-rehearsal"};
  std::vector<std::string> analyze{"analyze", model_, "--budget", "20s", "--report", "r.html"};
  analyze.insert(analyze.end(), on.begin(), on.end());
  ASSERT_EQ(program_.Infimum(analyze).exit_code, 0);
  std::vector<std::string> replay{"replay", model_, "--repetitions", "1", "--backend-option", "streams=2"};
  replay.insert(replay.end(), on.begin(), on.end());
  const Ended ended = program_.Infimum(replay);
  if (LacksFramework(ended)) GTEST_SKIP() << "no Python with ONNX Runtime is known; the model is not replayed";
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_LT(ErrorIn(ended.output), 1e-5);
  EXPECT_THAT(ended.output, ::testing::Not(HasSubstr("NOT VERIFIED")));
  const std::string bound = program_.Infimum({"bound", model_, "--device", "Pretended GPU"}).output;
  EXPECT_THAT(bound, HasSubstr("demonstrated"));
  // Which would have run on this machine's processor.
  EXPECT_THAT(bound, ::testing::Not(HasSubstr("onnxruntime")));
  const Ended measured = program_.Infimum({"measure", model_, "--backend", "cuda-rehearsal"});
  EXPECT_EQ(measured.exit_code, 1);
  EXPECT_THAT(measured.errors, HasSubstr("Pretended GPU"));
}

TEST_F(PretendedGpuReplay, ARunnerAloneGetsFromItsResultsToR) {
  ASSERT_EQ(program_.Infimum({"plan", model_, "--all", "-o", "m.plan"}).exit_code, 0);
  const Ended written = program_.Infimum({"replay", model_, "--no-regions", "--schedule", "s.json"});
  ASSERT_EQ(written.exit_code, 0) << written.errors;
  const auto run = [&](const std::string& arguments) {
    return std::system(("cd '" + program_.folder().string() + "' && " +
                        testing::Program("infimum-microbench-cuda-rehearsal") + " -q " + arguments)
                           .c_str());
  };
  ASSERT_EQ(run("m.plan -o m.jsonl --rounds 1 --budget 20s"), 0);
  ASSERT_EQ(run("--replay s.json --results m.jsonl --rounds 1 --candidate-budget 5ms -o r.json"), 0);
  const nlohmann::json result = nlohmann::json::parse(program_.Read("r.json"), nullptr, false);
  ASSERT_TRUE(result.is_object());
  // Random weights: the graph left what its steps did.
  ASSERT_EQ(result.at("outputs").size(), 1u);
  EXPECT_EQ(result.at("outputs")[0].at("error").get<double>(), 0);
  std::size_t convolutions = 0;
  for (const nlohmann::json& part : result.at("parts"))
    convolutions += part.at("candidate").get<std::string>().starts_with("pretended/reference") ? 1 : 0;
  EXPECT_GE(convolutions, 3u);
}

TEST(ReplayedExample, WhatCannotBeReplayedIsNamedBeforeAnythingIsMade) {
  const ProgramTest program;
  const Ended refused = program.Infimum(
      {"replay",
       WriteModel(program, "g (float[4, 4] x) => (float[4, 4] y) <int64 axis = {1}> { y = CumSum (x, axis) }")});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("CumSum"));
}

}  // namespace
}  // namespace infimum::testing
