// What findings advise about ONNX Runtime on a processor: by its settings, told or seen in what ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "analyzer/findings/graph_optimization.h"
#include "tests/analyzer/built_run.h"
#include "tests/support/parsed_workload.h"

namespace infimum {
namespace {

using findings::GraphOptimization;
using findings::InferredOptimization;
using findings::ReportedOptimization;
using testing::BuiltRun;
using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;

RunProfile RunWith(std::vector<ProfiledLayer> layers) {
  RunProfile run;
  run.framework = "onnxruntime";
  run.layers = std::move(layers);
  return run;
}

TEST(GraphOptimization, IsToldInTheWordsOfEveryInterface) {
  RunProfile run;
  EXPECT_EQ(ReportedOptimization(run), std::nullopt);
  for (const auto& [word, level] :
       {std::pair("disabled", GraphOptimization::kDisabled), std::pair("ORT_DISABLE_ALL", GraphOptimization::kDisabled),
        std::pair("basic", GraphOptimization::kBasic),
        std::pair("GraphOptimizationLevel.ORT_ENABLE_EXTENDED", GraphOptimization::kExtended),
        std::pair("ORT_ENABLE_LAYOUT", GraphOptimization::kAll), std::pair("99", GraphOptimization::kAll)}) {
    run.settings = {{"graph_optimization_level", word}};
    EXPECT_EQ(ReportedOptimization(run), level) << word;
  }
  run.settings = {{"graph_optimization_level", "allover"}};
  EXPECT_EQ(ReportedOptimization(run), std::nullopt);
}

TEST(GraphOptimization, IsSeenInWhatRan) {
  EXPECT_EQ(InferredOptimization(RunWith({Ran("conv", "Conv", {}, {}, 1), Ran("relu", "Relu", {}, {}, 1)})),
            std::nullopt);
  RunProfile fused = RunWith({Ran("conv", "FusedConv", {}, {}, 1)});
  EXPECT_EQ(InferredOptimization(fused), GraphOptimization::kExtended);
  fused.layers.push_back(Ran("relu_nchwc", "Conv", {}, {}, 1));
  EXPECT_EQ(InferredOptimization(fused), GraphOptimization::kAll);
  fused.framework = "tensorrt";
  EXPECT_EQ(InferredOptimization(fused), std::nullopt);
}

class OnnxRuntimeFindings : public BuiltRun {
 protected:
  // x -> conv -> relu, 40 and 5 us at best, 41 as one.
  void UseConvolution(std::int64_t channels = 8) {
    GraphBuilder model;
    const ValueId x = model.Input("x", {1, channels, 16, 16}), w = model.Weight("w", {channels, channels, 3, 3});
    const std::string count = std::to_string(channels);
    const Workload workload =
        testing::ParsedWorkload("convolution dtype=f32:f32:f32 in=1x" + count + "x16x16 out_channels=" + count +
                                " kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 bias=no weights=const");
    model.Output(model.Unary("relu", PointwiseKind::kRelu,
                             model.Measurable("conv", "Conv", {x, w}, std::get<LayerConfig>(workload))));
    graph = model.Take();
    source = testing::KnownRows();
    constexpr double kTimes[] = {40, 5};
    testing::AddRows(graph, kTimes, source);
    testing::AddFusedRow(graph, 41, source);
    run = RunWith({Ran("conv", "Conv", {"x"}, {"conv_out"}, 100), Ran("relu", "Relu", {"conv_out"}, {"relu_out"}, 5)});
  }

  std::optional<Finding> FindingOf(std::string_view kind, double more = 0) {
    run.end_to_end.clear();
    return BuiltRun::FindingOf(kind, more);
  }
};

TEST_F(OnnxRuntimeFindings, ASlowConvolutionOutsideTheBlockedLayoutIsTheLevelsFault) {
  UseConvolution();
  EXPECT_THAT(FindingOf("slower-algorithm")->action,
              HasSubstr("set graph_optimization_level to ORT_ENABLE_ALL, unless"));
  run.settings = {{"graph_optimization_level", "extended"}};
  EXPECT_THAT(FindingOf("slower-algorithm")->action, HasSubstr("ORT_ENABLE_ALL (it was extended)"));
  run.settings = {{"graph_optimization_level", "all"}};
  EXPECT_THAT(FindingOf("slower-algorithm")->action, HasSubstr("a kind that MLAS has no blocked kernel for"));
  EXPECT_THAT(FindingOf("slower-algorithm")->action, Not(HasSubstr("unless")));
  UseConvolution(32);
  EXPECT_THAT(FindingOf("slower-algorithm")->action, HasSubstr("set graph_optimization_level to ORT_ENABLE_ALL, its"));
}

TEST_F(OnnxRuntimeFindings, InTheBlockedLayoutThereIsNothingToSet) {
  UseConvolution();
  run.layers = {Ran("relu_nchwc", "Conv", {"x"}, {"relu_out"}, 100)};
  run.layers[0].nodes = {"conv", "relu"};
  const std::optional<Finding> finding = FindingOf("slower-algorithm");
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->action, HasSubstr("no option of a session chooses another kernel"));
  EXPECT_NEAR(finding->gain.count(), 59, 1e-9);
}

TEST_F(OnnxRuntimeFindings, ElementWiseLayersBecomePartOfOthersAtTheHighestLevel) {
  UseConvolution();
  run.layers[0].samples = {Latency(40)};
  run.layers[1].samples = {Latency(50)};
  run.settings = {{"graph_optimization_level", "basic"}};
  EXPECT_THAT(FindingOf("slower-algorithm")->action, HasSubstr("ORT_ENABLE_ALL (it was basic): it makes element-wise"));
  run.settings = {{"graph_optimization_level", "all"}};
  EXPECT_THAT(FindingOf("slower-algorithm")->action, HasSubstr("no option of a session"));
}

TEST_F(OnnxRuntimeFindings, UnderItsProfilerAloneOverheadIsNotAllTheFrameworks) {
  run.framework = "onnxruntime";
  run.profiled = {Latency(500)};
  run.end_to_end = {{}};
  const std::optional<Finding> found = BuiltRun::FindingOf("framework-overhead");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->evidence, HasSubstr("time the run without it too"));
}

TEST_F(OnnxRuntimeFindings, AConvolutionWithItsActivationIsFusedAtTheHighestLevel) {
  UseConvolution();
  EXPECT_THAT(FindingOf("unfused-chain")->action, HasSubstr("set graph_optimization_level to ORT_ENABLE_ALL, unless"));
  run.settings = {{"graph_optimization_level", "all"}};
  EXPECT_THAT(FindingOf("unfused-chain")->action, HasSubstr("the optimizer has rules for a convolution with an Add"));
  EXPECT_THAT(FindingOf("unfused-chain")->action, Not(HasSubstr("set graph_optimization_level")));
}

TEST_F(OnnxRuntimeFindings, AChainThatIsFasterThanItsBestIsNotPromisedMore) {
  UseConvolution();
  run.layers[0].samples = {Latency(38)};
  EXPECT_NEAR(FindingOf("unfused-chain")->gain.count(), 38 + 5 - 41, 1e-9);
  run.layers[0].samples = {Latency(35)};
  EXPECT_FALSE(FindingOf("unfused-chain")) << "40 µs apart, 41 as one";
}

TEST_F(OnnxRuntimeFindings, TheBlockedLayoutAndConversionsOfHalfPrecisionAreOneCause) {
  UseConvolution();
  run.layers[0].name = "InsertedPrecisionFreeCast_conv";
  run.layers[0].nodes = {"conv"};
  run.layers.push_back(Ran("InsertedPrecisionFreeCast_x", "Cast", {}, {}, 10));
  run.layers.push_back(Ran("ReorderOutput", "ReorderOutput", {}, {}, 12));
  EXPECT_NEAR(FindingOf("half-precision-not-used")->gain.count(), 10 + 12 + 5, 1e-9);
  EXPECT_FALSE(FindingOf("layout-changes"));
  EXPECT_FALSE(FindingOf("unfused-chain")) << "its activation is counted already";
  run.layers[0].name = "conv";
  run.layers[2].name = "Cast_of_the_model";
  EXPECT_FALSE(FindingOf("half-precision-not-used"));
  EXPECT_NEAR(FindingOf("layout-changes")->gain.count(), 12, 1e-9);
}

TEST_F(OnnxRuntimeFindings, WhatNeedsNoWorkIsNoSlowerAlgorithm) {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {8, 100}), model.Weight("w", {100, 200}));
  const ValueId z = model.Free("identity", "Identity", {y}, {8, 200}, DataType::kF32);
  model.Output(model.Unary("relu", PointwiseKind::kRelu, z));
  graph = model.Take();
  constexpr double kTimes[] = {50, 0, 5};
  testing::AddRows(graph, kTimes, source);
  run =
      RunWith({Ran("fc", "MatMul", {"x"}, {"fc_out"}, 50), Ran("identity", "Identity", {"fc_out"}, {"identity_out"}, 9),
               Ran("relu", "Relu", {"identity_out"}, {"relu_out"}, 5)});
  run.settings = {{"graph_optimization_level", "disabled"}};
  const std::optional<Finding> finding = FindingOf("needless-layers");
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.count(), 9, 1e-9);
  EXPECT_THAT(finding->layers, ElementsAre("identity"));
  EXPECT_THAT(finding->evidence, HasSubstr("Identity (once)"));
  EXPECT_THAT(finding->action, HasSubstr("it was disabled"));
  EXPECT_FALSE(FindingOf("slower-algorithm"));
  run.layers.erase(run.layers.begin() + 1);
  EXPECT_FALSE(FindingOf("needless-layers"));
}

TEST_F(OnnxRuntimeFindings, OverheadIsWithoutWhatTheProfileDoesNotShow) {
  run.framework = "onnxruntime";
  run.profiled = {Latency(500)};
  run.layers.pop_back();  // fc2, 30 us at best
  const std::optional<Finding> finding = FindingOf("framework-overhead", 60);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.count(), 30, 1e-9);
  EXPECT_THAT(finding->evidence, HasSubstr("without 30.0 µs that 1 row of the model"));
  EXPECT_THAT(finding->action, Not(HasSubstr("spinning")));
  run.settings = {{"session.intra_op.allow_spinning", "0"}};
  run.threads = 2;
  EXPECT_THAT(FindingOf("framework-overhead", 60)->action, HasSubstr("allow_spinning was 0"));
  EXPECT_FALSE(FindingOf("framework-overhead", 30)) << "all of it may be that layer's";
}

}  // namespace
}  // namespace infimum
