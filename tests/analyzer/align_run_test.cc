#include "analyzer/alignment/align_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/alignment/onnxruntime_names.h"
#include "tests/analyzer/built_run.h"

namespace infimum::align_run_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::IsEmpty;
using ::testing::Not;

ProfiledLayer Engine(std::string name, std::string op, std::vector<std::string> inputs,
                     std::vector<std::string> outputs, double microseconds) {
  ProfiledLayer layer = testing::Ran(std::move(name), std::move(op), std::move(inputs), std::move(outputs), 0);
  layer.samples = {Latency(microseconds), Latency(microseconds + 1), Latency(microseconds - 1)};
  return layer;
}

std::vector<std::string> LayersOf(const ModelGraph& graph, const AlignedRow& row) {
  std::vector<std::string> names;
  for (LayerId layer : row.layers) names.push_back(graph.layer(layer).name);
  return names;
}

// fc -> act -> fc2, values fc_out, act_out, fc2_out.
ModelGraph Chain() {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {8, 10}), model.Weight("w", {10, 10}));
  const ValueId z = model.Unary("act", PointwiseKind::kRelu, y);
  model.Output(model.MatMul("fc2", z, model.Weight("w2", {10, 10})));
  return model.Take();
}

TEST(EngineNames, DecorationsAreTakenOffOneByOne) {
  EXPECT_THAT(UndecoratedNames("fused Conv_0"), ElementsAre("fused Conv_0", "Conv_0"));
  EXPECT_THAT(UndecoratedNames("r2_nchwc_kernel_time"), ElementsAre("r2_nchwc_kernel_time", "r2_nchwc", "r2"));
  EXPECT_THAT(UndecoratedNames("node_Conv_754_token_116"), ElementsAre("node_Conv_754_token_116", "node_Conv_754"));
  EXPECT_THAT(UndecoratedNames("/o/MatMul/MatMulAddFusion"), ElementsAre("/o/MatMul/MatMulAddFusion", "/o/MatMul"));
  EXPECT_THAT(UndecoratedNames("_token_"), ElementsAre("_token_"));
  EXPECT_THAT(UndecoratedNames(""), ElementsAre(""));
}

TEST(RunAlignment, UnfusedLayersMatchOneToOne) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("fc", "MatMul", {"x", "w"}, {"fc_out"}, 20), Engine("act", "Relu", {"fc_out"}, {"act_out"}, 5),
                Engine("fc2", "MatMul", {"act_out", "w2"}, {"fc2_out"}, 30)};
  const Alignment alignment = AlignRun(graph, run);
  ASSERT_EQ(alignment.rows.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(alignment.rows[i].layers, ElementsAre(LayerId(i)));
    EXPECT_FALSE(alignment.rows[i].fused);
    EXPECT_EQ(alignment.rows[i].clue, AlignmentClue::kValue);
  }
  EXPECT_EQ(alignment.rows[0].measured, Latency(20));
  EXPECT_EQ(alignment.measured, Latency(55));
  EXPECT_THAT(alignment.unmatched_layers, IsEmpty());
}

TEST(RunAlignment, AFusedLayerCoversWhatLiesBetweenItsOutputAndItsInputs) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("fused fc", "FusedMatMul", {"x", "w"}, {"act_out"}, 22),
                Engine("fc2", "MatMul", {"act_out", "w2"}, {"fc2_out"}, 30)};
  const Alignment alignment = AlignRun(graph, run);
  ASSERT_EQ(alignment.rows.size(), 2u);
  EXPECT_THAT(LayersOf(graph, alignment.rows[0]), ElementsAre("fc", "act"));
  EXPECT_TRUE(alignment.rows[0].fused);
}

// ONNX Runtime's MatMulAddFusion: the sum became the product's bias, and a Reshape makes the sum's value.
TEST(RunAlignment, AReshapeThatMakesAnothersValueIsAStepOfWhatItReads) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("fc/MatMulAddFusion", "Gemm", {"x", "w"}, {"gemm_output"}, 22),
                Engine("gemm_output_reshape_token_7", "Reshape", {"gemm_output", "shape"}, {"act_out"}, 3),
                Engine("fc2", "MatMul", {"act_out", "w2"}, {"fc2_out"}, 30)};
  const Alignment alignment = AlignRun(graph, run);
  ASSERT_EQ(alignment.rows.size(), 2u);
  EXPECT_THAT(LayersOf(graph, alignment.rows[0]), ElementsAre("fc", "act"));
  EXPECT_THAT(alignment.rows[0].engine_layers, ElementsAre(0u, 1u));
  EXPECT_EQ(alignment.rows[0].measured, Latency(25));
  EXPECT_THAT(LayersOf(graph, alignment.rows[1]), ElementsAre("fc2"));
}

TEST(RunAlignment, WithNamesAloneAValuesNameFindsTheFusedLayers) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("act_out_nchwc", "MatMul", {}, {}, 22), Engine("ReorderOutput", "ReorderOutput", {}, {}, 3),
                Engine("fc2", "MatMul", {}, {}, 30)};
  const Alignment alignment = AlignRun(graph, run);
  ASSERT_EQ(alignment.rows.size(), 3u);
  EXPECT_THAT(LayersOf(graph, alignment.rows[0]), ElementsAre("fc", "act"));
  EXPECT_THAT(alignment.rows[1].layers, IsEmpty());
  EXPECT_EQ(alignment.rows[1].clue, AlignmentClue::kNone);
  EXPECT_THAT(LayersOf(graph, alignment.rows[2]), ElementsAre("fc2"));
  EXPECT_EQ(alignment.measured, Latency(55));
}

TEST(RunAlignment, AReorderOfAKnownValueIsTheEnginesOwnWork) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("act_out_nchwc", "Conv", {"x", "reorder"}, {"reorder_token_0"}, 22),
                Engine("ReorderOutput", "ReorderOutput", {"reorder_token_0"}, {"act_out"}, 3),
                Engine("fc2", "MatMul", {"act_out", "w2"}, {"fc2_out"}, 30)};
  const Alignment alignment = AlignRun(graph, run);
  ASSERT_EQ(alignment.rows.size(), 3u);
  EXPECT_THAT(LayersOf(graph, alignment.rows[0]), ElementsAre("fc", "act"));
  EXPECT_THAT(alignment.rows[1].layers, IsEmpty());
}

TEST(RunAlignment, WhatNothingCoversBelongsToTheLayerThatMadeItsInput) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("fc", "Gemm", {}, {}, 22), Engine("fc2", "MatMul", {}, {}, 30)};
  const Alignment alignment = AlignRun(graph, run);
  ASSERT_EQ(alignment.rows.size(), 2u);
  EXPECT_THAT(LayersOf(graph, alignment.rows[0]), ElementsAre("fc", "act"));
  EXPECT_EQ(alignment.rows[0].clue, AlignmentClue::kNeighbor);
  EXPECT_EQ(alignment.rows[1].clue, AlignmentClue::kNode);
}

TEST(RunAlignment, AResidualSumBelongsToTheLaterOfItsProducers) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 10});
  const ValueId a = model.MatMul("first", x, model.Weight("w1", {10, 10}));
  const ValueId b = model.MatMul("second", x, model.Weight("w2", {10, 10}));
  model.Output(model.Binary("sum", PointwiseKind::kAdd, a, b));
  RunProfile run;
  run.layers = {Engine("first_out_nchwc", "Conv", {}, {}, 5), Engine("second_out_nchwc", "Conv", {}, {}, 6)};
  const Alignment alignment = AlignRun(model.graph(), run);
  EXPECT_THAT(LayersOf(model.graph(), alignment.rows[1]), ElementsAre("second", "sum"));
}

TEST(RunAlignment, AValueThatOthersReadIsNotSwallowed) {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {8, 10}), model.Weight("w", {10, 10}));
  model.Output(model.Unary("act", PointwiseKind::kRelu, y));
  model.Output(model.Unary("other", PointwiseKind::kTanh, y));
  RunProfile run;
  run.layers = {Engine("act", "Relu", {}, {"act_out"}, 5), Engine("other", "Tanh", {}, {"other_out"}, 5)};
  const Alignment alignment = AlignRun(model.graph(), run);
  EXPECT_THAT(alignment.unmatched_layers, ElementsAre(LayerId(0)));
}

TEST(RunAlignment, ADequantizationBelongsToItsReader) {
  GraphBuilder model;
  const ValueId q = model.Unary("quantize", PointwiseKind::kAbsolute, model.Input("x", {8, 10}));
  const ValueId d = model.Unary("dequantize", PointwiseKind::kNegative, q);
  model.last().op = "DequantizeLinear";
  model.Output(model.MatMul("fc", d, model.Weight("w", {10, 10})));
  RunProfile run;
  run.layers = {Engine("quantize", "QuantizeLinear", {}, {}, 5), Engine("fc_token_3", "QGemm", {}, {}, 6)};
  const Alignment alignment = AlignRun(model.graph(), run);
  EXPECT_THAT(LayersOf(model.graph(), alignment.rows[0]), ElementsAre("quantize"));
  EXPECT_THAT(LayersOf(model.graph(), alignment.rows[1]), ElementsAre("dequantize", "fc"));
}

TEST(RunAlignment, LayersOfABodyAreNotCountedTwice) {
  GraphBuilder body;
  body.Output(body.Unary("inner", PointwiseKind::kTanh, body.Input("state", {80})));
  GraphBuilder model;
  model.Output(model.Loop("loop", model.Input("x", {80}), body.Take(), 3));
  RunProfile run;
  run.layers = {Engine("inner", "Tanh", {}, {}, 4), Engine("loop", "Loop", {}, {}, 10)};
  const Alignment alignment = AlignRun(model.graph(), run);
  EXPECT_TRUE(alignment.rows[0].inside_body);
  EXPECT_EQ(alignment.measured, Latency(10));
}

TEST(RunAlignment, SeveralEngineLayersOfOneModelLayerShareItsRow) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("fc", "MatMul", {"x", "w"}, {"partial"}, 20),
                Engine("fc_token_1", "Add", {"partial"}, {"fc_out"}, 2)};
  const Alignment alignment = AlignRun(graph, run);
  EXPECT_THAT(alignment.rows[0].engine_layers, ElementsAre(0, 1));
  EXPECT_EQ(alignment.rows[0].measured, Latency(22));
}

TEST(RunAlignment, WhatNothingNamesBetweenStepsOfOneLayerIsAStepOfIt) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("fc_token_0", "DequantizeLinear", {"x"}, {"a"}, 1),
                Engine("ReorderInput", "ReorderInput", {"a"}, {"b"}, 2),
                Engine("pool_nchwc", "MaxPool", {"b"}, {"c"}, 4),
                Engine("fc_token_1", "QuantizeLinear", {"c"}, {"fc_out"}, 8),
                Engine("Transpose", "Transpose", {"fc_out"}, {"d"}, 16),
                Engine("act", "Relu", {"d"}, {"act_out"}, 32),
                Engine("fc2", "MatMul", {"act_out", "w2"}, {"fc2_out"}, 64)};
  const Alignment alignment = AlignRun(graph, run);
  ASSERT_EQ(alignment.rows.size(), 4u);
  EXPECT_THAT(alignment.rows[0].engine_layers, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(alignment.rows[0].measured, Latency(15));
  EXPECT_THAT(alignment.rows[1].layers, IsEmpty());  // the transposition stands between two layers
  EXPECT_EQ(alignment.measured, Latency(127));
}

TEST(RunAlignment, TheEnginesOwnWorkIsToldFromWhatNoLayerWasFoundFor) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("act_out_nchwc", "MatMul", {}, {}, 20), Engine("ReorderOutput", "ReorderOutput", {}, {}, 3),
                Engine("fused_19", "Mystery", {}, {}, 7), Engine("fc2", "MatMul", {}, {}, 30)};
  const Alignment alignment = AlignRun(graph, run);
  ASSERT_EQ(alignment.rows.size(), 4u);
  EXPECT_TRUE(alignment.rows[1].is_own());
  EXPECT_EQ(alignment.rows[1].own_work, EngineWork::kLayoutChange);
  EXPECT_EQ(alignment.rows[2].clue, AlignmentClue::kUnmatched);
  EXPECT_FALSE(alignment.rows[2].is_own());
  EXPECT_FALSE(alignment.rows[3].is_own());
  EXPECT_EQ(alignment.own, Latency(3));
  EXPECT_EQ(alignment.unmatched, Latency(7));
  EXPECT_EQ(alignment.measured, Latency(60));
}

// A reformat that leaves the model's value in another layout, under its name.
TEST(RunAlignment, AReformatOfAModelsValueIsTheEnginesOwnWork) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("fc", "CaskGemm", {"x"}, {"private"}, 20),
                Engine("Reformatting CopyNode for Output Tensor 0 to fc", "Reformat", {"private"}, {"fc_out"}, 3)};
  const Alignment alignment = AlignRun(graph, run);
  ASSERT_EQ(alignment.rows.size(), 2u);
  EXPECT_THAT(LayersOf(graph, alignment.rows[0]), ElementsAre("fc", "act"));
  EXPECT_TRUE(alignment.rows[1].is_own());
}

TEST(RunAlignment, AnOverrideWinsOverNamesAndHoldsNothingElse) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("fc", "MatMul", {"x", "w"}, {"fc_out"}, 20), Engine("act", "Relu", {"fc_out"}, {"act_out"}, 5),
                Engine("fc2", "MatMul", {"act_out", "w2"}, {"fc2_out"}, 30)};
  const std::vector<AlignmentOverride> overrides = {{{"fc2", "act"}, {"fc"}, "row 1"}, {{"fc"}, {}, "row 2"}};
  const Result<Alignment> alignment = AlignRun(graph, run, overrides);
  ASSERT_TRUE(alignment.ok()) << alignment.error().message;
  ASSERT_EQ(alignment->rows.size(), 2u);
  EXPECT_TRUE(alignment->rows[0].is_own());
  EXPECT_EQ(alignment->rows[0].clue, AlignmentClue::kOverride);
  EXPECT_EQ(alignment->own, Latency(20));
  EXPECT_THAT(LayersOf(graph, alignment->rows[1]), ElementsAre("fc"));
  EXPECT_EQ(alignment->rows[1].clue, AlignmentClue::kOverride);
  EXPECT_THAT(alignment->rows[1].engine_layers, ElementsAre(1u, 2u));
  EXPECT_EQ(alignment->rows[1].measured, Latency(35));
  // Nobody else's: no row but the declared one takes fc, and act and fc2 are not swallowed by it.
  EXPECT_THAT(alignment->unmatched_layers, ElementsAre(LayerId(1), LayerId(2)));
}

TEST(RunAlignment, TheRestIsAlignedAroundOverrides) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("k1", "MatMul", {}, {}, 20), Engine("k2", "MatMul", {}, {}, 30)};
  const std::vector<AlignmentOverride> overrides = {{{"k2"}, {"fc"}, "row 1"}};
  const Result<Alignment> alignment = AlignRun(graph, run, overrides);
  ASSERT_TRUE(alignment.ok()) << alignment.error().message;
  EXPECT_THAT(LayersOf(graph, alignment->rows[1]), ElementsAre("fc"));
  EXPECT_THAT(alignment->rows[0].layers, Not(Contains(LayerId(0))));
}

TEST(RunAlignment, AWrongOverrideIsAnErrorThatNamesItsPlace) {
  const ModelGraph graph = Chain();
  RunProfile run;
  run.layers = {Engine("kernel_1", "MatMul", {}, {}, 20), Engine("kernel_2", "Relu", {}, {}, 5)};
  const auto error_of = [&](std::vector<AlignmentOverride> overrides) {
    const Result<Alignment> alignment = AlignRun(graph, run, overrides);
    return alignment.ok() ? std::string() : alignment.error().message;
  };
  EXPECT_EQ(error_of({{{"kernel_3"}, {"fc"}, "m.json: row 1"}}),
            "m.json: row 1: 'kernel_3' is no layer of the run, did you mean 'kernel_1'?");
  EXPECT_EQ(error_of({{{"kernel_1"}, {"fc3"}, "m.json: row 1"}}),
            "m.json: row 1: 'fc3' is no layer of the model, did you mean 'fc'?");
  EXPECT_EQ(error_of({{{"kernel_1"}, {"fc"}, "row 1"}, {{"kernel_1"}, {"act"}, "row 2"}}),
            "row 2: engine layer 'kernel_1' is declared twice, name it once");
  EXPECT_EQ(error_of({{{"kernel_1"}, {"fc"}, "row 1"}, {{"kernel_2"}, {"fc"}, "row 2"}}),
            "row 2: layer 'fc' of the model is in another row already; engine layers that compute it together belong "
            "into one row");
  EXPECT_EQ(error_of({{{"kernel_1"}, {"fc", "fc"}, "row 1"}}), "");
}

TEST(RunAlignment, AnEmptyRunLeavesEveryLayerUnmatched) {
  const ModelGraph graph = Chain();
  const Alignment alignment = AlignRun(graph, RunProfile{});
  EXPECT_THAT(alignment.rows, IsEmpty());
  EXPECT_EQ(alignment.unmatched_layers.size(), 3u);
}

}  // namespace
}  // namespace infimum::align_run_test
