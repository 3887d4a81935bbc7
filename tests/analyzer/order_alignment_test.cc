#include "analyzer/order_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "infimum/analyzer/run_alignment.h"
#include "tests/support/graph_builder.h"

namespace infimum {
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

Alignment Aligned(const ModelGraph& graph, const RunProfile& run) {
  return AlignRun(graph, std::vector<LayerLatency>(graph.layers.size()), run);
}

TEST(OrderAlignment, KindsAreTheOnesThatEnginesMean) {
  EXPECT_EQ(KindOf("CaskConvolution"), OperatorKind::kConvolution);
  EXPECT_EQ(KindOf("com.microsoft.nchwc.Conv"), OperatorKind::kConvolution);
  EXPECT_EQ(KindOf("FusedMatMul"), OperatorKind::kProduct);
  EXPECT_EQ(KindOf("Gemm"), KindOf("MatMul"));
  EXPECT_EQ(KindOf("CudaSoftMax"), OperatorKind::kSoftmax);
  EXPECT_EQ(KindOf("QuantizeLinear"), OperatorKind::kQuantization);
  EXPECT_EQ(KindOf("DequantizeLinear"), OperatorKind::kDequantization);
  EXPECT_EQ(KindOf("ConvertLinear"), OperatorKind::kOther);
  EXPECT_EQ(KindOf("Reformat"), OperatorKind::kOther);
  EXPECT_EQ(KindOf("Transpose"), OperatorKind::kOther);
  EXPECT_EQ(KindOf(""), OperatorKind::kOther);
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

TEST(OrderAlignment, AnotherShapeIsAnotherLayer) {
  const ModelGraph graph = Products();
  RunProfile run;
  run.layers = {Engine("gemm", {8, 10}, {8, 21})};
  EXPECT_EQ(NameOf(graph, Aligned(graph, run), 0), "");
}

}  // namespace
}  // namespace infimum
