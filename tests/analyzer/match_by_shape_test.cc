#include "analyzer/alignment/match_by_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/alignment/align_run.h"
#include "tests/support/graph_builder.h"

namespace infimum::match_by_shape_test {
namespace {

using testing::GraphBuilder;

ProfiledLayer Engine(std::string op, std::vector<std::int64_t> input, std::vector<std::int64_t> output) {
  ProfiledLayer layer;
  layer.op = std::move(op);
  layer.samples = {Latency(10)};
  if (!input.empty()) layer.input_tensors = {{"f32", std::move(input), ""}};
  if (!output.empty()) layer.output_tensors = {{"f32", std::move(output), ""}};
  return layer;
}

// a: 8x10 by 10x20, relu, b: 8x20 by 20x30, c: 8x30 by 30x20.
ModelGraph Products() {
  GraphBuilder model;
  ValueId x = model.MatMul("a", model.Input("x", {8, 10}), model.Weight("w1", {10, 20}));
  x = model.Unary("relu", PointwiseKind::kRelu, x);
  x = model.MatMul("b", x, model.Weight("w2", {20, 30}));
  model.Output(model.MatMul("c", x, model.Weight("w3", {30, 20})));
  return model.Take();
}

// The layers of an engine layer's row that are products.
std::string NameOf(const ModelGraph& graph, const Alignment& alignment, std::size_t engine) {
  std::string names;
  for (const AlignedRow& row : alignment.rows) {
    if (std::find(row.engine_layers.begin(), row.engine_layers.end(), engine) == row.engine_layers.end()) continue;
    for (const LayerId layer : row.layers)
      if (graph.layer(layer).op == "MatMul") names += (names.empty() ? "" : "+") + graph.layer(layer).name;
  }
  return names;
}

Alignment Aligned(const ModelGraph& graph, const RunProfile& run) { return AlignRun(graph, run); }

TEST(OrderAlignment, KindsAreTheOnesThatEnginesMean) {
  EXPECT_EQ(KindOf("CaskConvolution"), OperatorKind::kConvolution);
  EXPECT_EQ(KindOf("com.microsoft.nchwc.Conv"), OperatorKind::kConvolution);
  EXPECT_EQ(KindOf("FusedMatMul"), OperatorKind::kProduct);
  EXPECT_EQ(KindOf("Gemm"), KindOf("MatMul"));
  EXPECT_EQ(KindOf("FullyConnected"), OperatorKind::kProduct);
  EXPECT_EQ(KindOf("MVN"), OperatorKind::kNormalization);
  EXPECT_EQ(KindOf("Subgraph"), OperatorKind::kElementwise);
  EXPECT_EQ(KindOf("Interpolate"), OperatorKind::kResample);
  EXPECT_EQ(KindOf("CudaSoftMax"), OperatorKind::kSoftmax);
  EXPECT_EQ(KindOf("QuantizeLinear"), OperatorKind::kQuantization);
  EXPECT_EQ(KindOf("DequantizeLinear"), OperatorKind::kDequantization);
  EXPECT_EQ(KindOf("ConvertLinear"), OperatorKind::kOther);
  EXPECT_EQ(KindOf("Reformat"), OperatorKind::kOther);
  EXPECT_EQ(KindOf("Transpose"), OperatorKind::kOther);
  EXPECT_EQ(KindOf(""), OperatorKind::kOther);
}

TEST(OrderAlignment, KindsOfPyTorchAreTheSame) {
  EXPECT_EQ(KindOf("aten::conv2d"), OperatorKind::kConvolution);
  EXPECT_EQ(KindOf("aten::_convolution"), OperatorKind::kConvolution);
  EXPECT_EQ(KindOf("aten::convolution_backward"), OperatorKind::kOther);
  EXPECT_EQ(KindOf("aten::mm"), OperatorKind::kProduct);
  EXPECT_EQ(KindOf("aten::linear"), OperatorKind::kProduct);
  EXPECT_EQ(KindOf("aten::scaled_dot_product_attention"), OperatorKind::kAttention);
  EXPECT_EQ(KindOf("aten::_softmax"), OperatorKind::kSoftmax);
  EXPECT_EQ(KindOf("aten::max_pool2d_with_indices"), OperatorKind::kPooling);
  EXPECT_EQ(KindOf("aten::sum"), OperatorKind::kReduction);
  EXPECT_EQ(KindOf("Sum"), OperatorKind::kElementwise);  // ONNX's adds several
  EXPECT_EQ(KindOf("aten::cat"), KindOf("Concat"));
  EXPECT_EQ(KindOf("aten::embedding"), KindOf("Gather"));
  EXPECT_EQ(KindOf("aten::copy_"), OperatorKind::kOther);
}

TEST(OrderAlignment, FunctionsTellLayersOfAKindApart) {
  EXPECT_EQ(FunctionOf("aten::add_.Tensor"), "add");
  EXPECT_EQ(FunctionOf("aten::add_"), FunctionOf("Add"));
  EXPECT_EQ(FunctionOf("aten::hardtanh_"), FunctionOf("Clip"));
  EXPECT_NE(FunctionOf("aten::batch_norm"), FunctionOf("InstanceNormalization"));
  EXPECT_EQ(FunctionOf("aten::group_norm"), FunctionOf("InstanceNormalization"));
  EXPECT_EQ(FunctionOf("PointWise"), "");  // any
}

TEST(OrderAlignment, ShapesTellEvenOutOfOrder) {
  const ModelGraph graph = Products();
  RunProfile run;
  run.layers = {Engine("gemm", {8, 20}, {8, 30}), Engine("gemm", {8, 10}, {8, 20}), Engine("gemm", {8, 30}, {8, 20})};
  const Alignment alignment = Aligned(graph, run);
  EXPECT_EQ(NameOf(graph, alignment, 0), "b");
  EXPECT_EQ(NameOf(graph, alignment, 1), "a");
  EXPECT_EQ(NameOf(graph, alignment, 2), "c");
  for (const AlignedRow& row : alignment.rows) EXPECT_GE(row.clue, AlignmentClue::kOrder);
  EXPECT_TRUE(alignment.unmatched_layers.empty());
}

TEST(OrderAlignment, WithoutShapesTheOrderTells) {
  const ModelGraph graph = Products();
  RunProfile run;
  run.layers = {Engine("gemm", {}, {}), Engine("Reformat", {}, {}), Engine("gemm", {}, {}), Engine("gemm", {}, {})};
  const Alignment alignment = Aligned(graph, run);
  EXPECT_EQ(NameOf(graph, alignment, 0), "a");
  EXPECT_EQ(NameOf(graph, alignment, 1), "");
  EXPECT_EQ(NameOf(graph, alignment, 2), "b");
  EXPECT_EQ(NameOf(graph, alignment, 3), "c");
}

TEST(OrderAlignment, LiesBetweenTheNeighboursThatNamesTell) {
  const ModelGraph graph = Products();
  RunProfile run;
  run.layers = {Engine("gemm", {}, {}), Engine("gemm", {}, {})};
  run.layers[0].name = "b";
  const Alignment alignment = Aligned(graph, run);
  // What nothing shows is not put to its reader: a product takes an engine layer of its own.
  EXPECT_EQ(NameOf(graph, alignment, 0), "b");
  EXPECT_EQ(alignment.unmatched_layers.size(), 1u);
  // Not a, which would have run before.
  EXPECT_EQ(NameOf(graph, alignment, 1), "c");
}

// TensorRT runs a classifier as a convolution of one pixel, and other exporters write a global pooling as a mean.
TEST(OrderAlignment, OneThingMayHaveTwoNames) {
  GraphBuilder model;
  const ValueId x = model.MatMul("fc", model.Input("x", {8, 10}), model.Weight("w", {10, 20}));
  model.Output(x);
  RunProfile run;
  run.layers = {Engine("CaskConvolution", {8, 10, 1, 1}, {8, 20, 1, 1})};
  EXPECT_EQ(NameOf(model.graph(), Aligned(model.graph(), run), 0), "fc");
  run.layers = {Engine("CaskConvolution", {8, 10, 2, 1}, {8, 20, 1, 1})};
  EXPECT_EQ(NameOf(model.graph(), Aligned(model.graph(), run), 0), "");
}

TEST(OrderAlignment, AReformatToEightBitsIsAQuantizationWhereTheModelHasOne) {
  GraphBuilder model;
  const ValueId x = model.Unary("q", PointwiseKind::kAbsolute, model.Input("x", {8, 10}));
  model.last().op = "QuantizeLinear";
  model.Output(model.MatMul("fc", x, model.Weight("w", {10, 20})));
  RunProfile run;
  run.layers = {Engine("Reformat", {8, 10}, {8, 10}), Engine("gemm", {8, 10}, {8, 20})};
  EXPECT_TRUE(Aligned(model.graph(), run).rows[0].is_own());
  run.layers[0].output_tensors[0].dtype = "s8";
  const Alignment alignment = Aligned(model.graph(), run);
  EXPECT_EQ(alignment.rows[0].clue, AlignmentClue::kOrder);
  EXPECT_EQ(alignment.rows[0].layers, std::vector<LayerId>{LayerId(0)});
}

// PyTorch tells operands alone, weights as (out, in), and a bias among them.
ProfiledLayer Traced(std::string op, std::vector<std::vector<std::int64_t>> operands) {
  ProfiledLayer layer = Engine(std::move(op), {}, {});
  for (std::vector<std::int64_t>& dims : operands) layer.input_tensors.push_back({"", std::move(dims), ""});
  return layer;
}

std::vector<std::string> AllIn(const ModelGraph& graph, const Alignment& alignment, std::size_t engine) {
  std::vector<std::string> names;
  for (const AlignedRow& row : alignment.rows)
    if (std::ranges::find(row.engine_layers, engine) != row.engine_layers.end())
      for (const LayerId layer : row.layers) names.push_back(graph.layer(layer).name);
  return names;
}

TEST(OrderAlignment, OperandsAloneTellLayersOfATrace) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 10});
  ValueId y = model.MatMul("up", x, model.Weight("w1", {10, 20}));
  y = model.Binary("up_bias", PointwiseKind::kAdd, y, model.Weight("b1", {20}));
  y = model.MatMul("down", model.Unary("relu", PointwiseKind::kRelu, y), model.Weight("w2", {20, 10}));
  y = model.Binary("down_bias", PointwiseKind::kAdd, y, model.Weight("b2", {10}));
  model.Output(model.Binary("sum", PointwiseKind::kAdd, x, y));
  RunProfile run;
  run.layers = {Traced("aten::linear", {{8, 10}, {20, 10}, {20}}), Traced("aten::relu_", {{8, 20}}),
                Traced("aten::addmm", {{10}, {8, 20}, {20, 10}, {}, {}}), Traced("aten::add", {{8, 10}, {8, 10}, {}}),
                Traced("aten::mm", {{10, 8}, {8, 20}})};
  const ModelGraph& graph = model.graph();
  const Alignment alignment = Aligned(graph, run);
  using ::testing::ElementsAre;
  EXPECT_THAT(AllIn(graph, alignment, 0), ElementsAre("up", "up_bias"));
  EXPECT_THAT(AllIn(graph, alignment, 1), ElementsAre("relu"));
  EXPECT_THAT(AllIn(graph, alignment, 2), ElementsAre("down", "down_bias"));
  // Not a bias, which has other operands.
  EXPECT_THAT(AllIn(graph, alignment, 3), ElementsAre("sum"));
  EXPECT_THAT(AllIn(graph, alignment, 4), ::testing::IsEmpty());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(alignment.rows[i].clue, AlignmentClue::kOrder) << i;
  EXPECT_TRUE(alignment.rows[4].is_unmatched());
}

// The file has it within the convolution; a framework runs it by itself.
TEST(OrderAlignment, AFoldedNormalizationIsAStepOfItsConvolution) {
  GraphBuilder model;
  const ValueId x = model.MatMul("conv", model.Input("x", {8, 10}), model.Weight("w", {10, 20}));
  model.last().op = "Conv";
  model.Output(model.Unary("relu", PointwiseKind::kRelu, x));
  RunProfile run;
  run.layers = {Traced("aten::conv2d", {{8, 10}, {10, 20}, {}}), Traced("aten::batch_norm", {{8, 20}, {20}, {20}}),
                Traced("aten::relu", {{8, 20}}), Traced("aten::batch_norm", {{8, 21}, {21}, {21}})};
  const Alignment alignment = Aligned(model.graph(), run);
  ASSERT_EQ(alignment.rows.size(), 3u);
  EXPECT_THAT(alignment.rows[0].engine_layers, ::testing::ElementsAre(0u, 1u));
  EXPECT_THAT(AllIn(model.graph(), alignment, 1), ::testing::ElementsAre("conv"));
  EXPECT_THAT(AllIn(model.graph(), alignment, 2), ::testing::ElementsAre("relu"));
  EXPECT_TRUE(alignment.rows[2].is_unmatched());  // of another size
}

TEST(OrderAlignment, AStackOfRecurrentLayersIsOneOperator) {
  GraphBuilder model;
  ValueId x = model.MatMul("first", model.Input("x", {8, 10}), model.Weight("w1", {10, 10}));
  model.last().op = "LSTM";
  x = model.Unary("turn", PointwiseKind::kRelu, x);
  model.last().op = "Transpose";
  x = model.MatMul("second", x, model.Weight("w2", {10, 10}));
  model.last().op = "LSTM";
  model.Output(model.MatMul("fc", x, model.Weight("w3", {10, 20})));
  const ModelGraph& graph = model.graph();
  RunProfile run;
  run.layers = {Traced("aten::lstm", {{8, 10}, {8, 20}, {8, 20}}), Traced("aten::linear", {{8, 10}, {20, 10}})};
  const Alignment alignment = Aligned(graph, run);
  EXPECT_THAT(AllIn(graph, alignment, 0), ::testing::ElementsAre("first", "turn", "second"));
  EXPECT_TRUE(alignment.unmatched_layers.empty());
  run.layers.insert(run.layers.begin(), run.layers.front());
  EXPECT_THAT(AllIn(graph, Aligned(graph, run), 0), ::testing::Contains("first"));
  EXPECT_THAT(AllIn(graph, Aligned(graph, run), 1), ::testing::Contains("second"));
}

TEST(OrderAlignment, TheDirectionsOfARecurrentLayerMayRunOneAfterTheOther) {
  GraphBuilder model;
  ValueId x = model.MatMul("first", model.Input("x", {8, 10}), model.Weight("w1", {10, 40}));
  model.last().op = "LSTM";
  x = model.MatMul("second", x, model.Weight("w2", {40, 40}));
  model.last().op = "LSTM";
  model.Output(x);
  const ModelGraph& graph = model.graph();
  RunProfile run;
  for (const std::int64_t read : {10, 10, 40, 40}) run.layers.push_back(Engine("LSTMSequence", {8, read}, {8, 20}));
  const Alignment alignment = Aligned(graph, run);
  ASSERT_EQ(alignment.rows.size(), 2u);
  EXPECT_THAT(alignment.rows[0].engine_layers, ::testing::ElementsAre(0, 1));
  EXPECT_THAT(AllIn(graph, alignment, 1), ::testing::ElementsAre("first"));
  EXPECT_THAT(AllIn(graph, alignment, 2), ::testing::ElementsAre("second"));
  run.layers.back() = Engine("LSTMSequence", {8, 40}, {8, 10});  // no half
  EXPECT_FALSE(Aligned(graph, run).rows[0].engine_layers == std::vector<std::size_t>({0, 1}));
}

// 4 x 10 by 10 x 40 and 1 x 40 by 40 x 10: the sizes are the same, and yet no batch makes one the other.
TEST(OrderAlignment, AProductSumsOverAsMuch) {
  GraphBuilder model;
  model.Output(model.MatMul("down", model.Input("x", {1, 40}), model.Weight("w", {40, 10})));
  RunProfile run;
  run.layers = {Traced("aten::linear", {{4, 10}, {40, 10}})};
  EXPECT_TRUE(Aligned(model.graph(), run).rows[0].is_unmatched());
  run.layers = {Traced("aten::linear", {{1, 40}, {10, 40}})};
  EXPECT_EQ(NameOf(model.graph(), Aligned(model.graph(), run), 0), "down");
}

TEST(OrderAlignment, ARunOfAnotherBatchIsSaidToBeOne) {
  const ModelGraph graph = Products();
  RunProfile run;
  run.layers = {Traced("aten::linear", {{32, 10}, {20, 10}}), Traced("aten::linear", {{32, 20}, {30, 20}})};
  const Alignment alignment = Aligned(graph, run);
  EXPECT_EQ(alignment.unmatched, alignment.measured);
  EXPECT_THAT(alignment.remarks,
              ::testing::ElementsAre("layers of the run read 4 times as much as the model's layers with "
                                     "the same weights; bind the model's batch, or another dimension, "
                                     "to that of the run with --dim"));
  run.layers = {Traced("aten::linear", {{8, 10}, {20, 10}}), Traced("aten::linear", {{8, 20}, {30, 20}})};
  EXPECT_THAT(Aligned(graph, run).remarks, ::testing::IsEmpty());
}

TEST(OrderAlignment, OneFunctionIsNotAnother) {
  GraphBuilder model;
  model.Output(model.Unary("relu", PointwiseKind::kRelu, model.Input("x", {8, 10})));
  RunProfile run;
  run.layers = {Traced("aten::gelu", {{8, 10}})};
  EXPECT_THAT(AllIn(model.graph(), Aligned(model.graph(), run), 0), ::testing::IsEmpty());
  run.layers = {Traced("aten::relu", {{8, 10}})};
  EXPECT_THAT(AllIn(model.graph(), Aligned(model.graph(), run), 0), ::testing::ElementsAre("relu"));
}

TEST(OrderAlignment, AttentionIsSeveralLayersOfTheModel) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {16, 16});
  const ValueId q = model.MatMul("q", x, model.Weight("wq", {16, 16}));
  const ValueId k = model.MatMul("k", x, model.Weight("wk", {16, 16}));
  const ValueId v = model.MatMul("v", x, model.Weight("wv", {16, 16}));
  const ValueId weights = model.Unary("softmax", PointwiseKind::kRelu, model.MatMul("scores", q, k));
  model.last().op = "Softmax";
  model.Output(model.MatMul("out", model.MatMul("context", weights, v), model.Weight("wo", {16, 8})));
  const ModelGraph& graph = model.graph();
  RunProfile run;
  const ProfiledLayer linear = Traced("aten::linear", {{16, 16}, {16, 16}});
  run.layers = {linear, linear, linear, Traced("aten::scaled_dot_product_attention", {{16, 16}, {16, 16}, {16, 16}}),
                Traced("aten::linear", {{16, 16}, {8, 16}})};
  const Alignment alignment = Aligned(graph, run);
  using ::testing::ElementsAre;
  EXPECT_THAT(AllIn(graph, alignment, 2), ElementsAre("v"));
  EXPECT_THAT(AllIn(graph, alignment, 3), ElementsAre("scores", "softmax", "context"));
  EXPECT_THAT(AllIn(graph, alignment, 4), ElementsAre("out"));
  EXPECT_TRUE(alignment.rows[3].fused);
  EXPECT_EQ(alignment.rows[3].clue, AlignmentClue::kOrder);
  // One that ran them one by one.
  run.layers = {linear,
                linear,
                linear,
                Traced("aten::bmm", {{1, 16, 16}, {1, 16, 16}}),
                Traced("aten::softmax", {{1, 16, 16}, {}}),
                Traced("aten::bmm", {{1, 16, 16}, {1, 16, 16}}),
                Traced("aten::linear", {{16, 16}, {8, 16}})};
  const Alignment single = Aligned(graph, run);
  EXPECT_THAT(AllIn(graph, single, 3), ElementsAre("scores"));
  EXPECT_THAT(AllIn(graph, single, 4), ElementsAre("softmax"));
  EXPECT_THAT(AllIn(graph, single, 5), ElementsAre("context"));
}

TEST(OrderAlignment, AnotherShapeIsAnotherLayer) {
  const ModelGraph graph = Products();
  RunProfile run;
  run.layers = {Engine("gemm", {8, 10}, {8, 21})};
  EXPECT_EQ(NameOf(graph, Aligned(graph, run), 0), "");
}

}  // namespace
}  // namespace infimum::match_by_shape_test
