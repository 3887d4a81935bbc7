#include "analyzer/alignment/fused_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<LayerGroup> GroupsOf(const ModelGraph& graph) {
  std::vector<std::vector<std::size_t>> readers(graph.layers.size());
  const auto predecessors = Predecessors(graph);
  for (std::size_t i = 0; i < predecessors.size(); ++i)
    for (const LayerId before : predecessors[i]) readers[before.index()].push_back(i);
  return LayerGroupsOf(graph, readers);
}

std::vector<std::string> NamesIn(const ModelGraph& graph, const LayerGroup& group) {
  std::vector<std::string> names;
  for (const std::size_t layer : group.layers) names.push_back(graph.layers[layer].name);
  return names;
}

// Which operator it is decides here, not what it computes.
ValueId Unary(GraphBuilder& model, const std::string& name, const char* op, ValueId x) {
  const ValueId y = model.Unary(name, PointwiseKind::kRelu, x);
  model.last().op = op;
  return y;
}

ValueId Binary(GraphBuilder& model, const std::string& name, const char* op, ValueId a, ValueId b) {
  const ValueId y = model.Binary(name, PointwiseKind::kAdd, a, b);
  model.last().op = op;
  return y;
}

TEST(LayerGroups, AttentionIsItsProductsWithScaleAndMask) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {16, 16});
  ValueId q = model.MatMul("q", x, model.Weight("wq", {16, 16}));
  q = Binary(model, "scale", "Mul", q, model.Number("s", 0.5));
  const ValueId k = model.MatMul("k", x, model.Weight("wk", {16, 16}));
  const ValueId v = model.MatMul("v", x, model.Weight("wv", {16, 16}));
  ValueId y = model.MatMul("scores", q, k);
  y = Binary(model, "mask", "Add", y, model.Input("m", {16, 16}));
  y = model.MatMul("context", Unary(model, "softmax", "Softmax", y), v);
  model.Output(model.MatMul("out", y, model.Weight("wo", {16, 16})));
  const ModelGraph& graph = model.graph();
  const std::vector<LayerGroup> groups = GroupsOf(graph);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].kind, OperatorKind::kAttention);
  EXPECT_THAT(NamesIn(graph, groups[0]), ElementsAre("scale", "scores", "mask", "softmax", "context"));
  EXPECT_THAT(groups[0].inputs, SizeIs(3));
  EXPECT_EQ(groups[0].inputs[2], v);
}

TEST(LayerGroups, ASoftmaxOfAClassifierIsNoAttention) {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {16, 16}), model.Weight("w", {16, 16}));
  model.Output(model.MatMul("fc2", Unary(model, "softmax", "Softmax", y), model.Weight("w2", {16, 16})));
  EXPECT_THAT(GroupsOf(model.graph()), IsEmpty());
}

TEST(LayerGroups, GeluIsItsFormulaFromXToXAgain) {
  GraphBuilder model;
  const ValueId x = Unary(model, "before", "Relu", model.Input("in", {8, 8}));
  ValueId y = Binary(model, "div", "Div", x, model.Number("c", 1.41f));
  y = Unary(model, "erf", "Erf", y);
  y = Binary(model, "plus", "Add", y, model.Number("one", 1));
  y = Binary(model, "gate", "Mul", x, y);
  y = Binary(model, "half", "Mul", y, model.Number("h", 0.5));
  model.Output(model.MatMul("fc", y, model.Weight("w", {8, 8})));
  const ModelGraph& graph = model.graph();
  const std::vector<LayerGroup> groups = GroupsOf(graph);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].function, "gelu");
  EXPECT_THAT(NamesIn(graph, groups[0]), ElementsAre("div", "erf", "plus", "gate", "half"));
  EXPECT_THAT(groups[0].inputs, ElementsAre(x));
}

TEST(LayerGroups, ATanhOrSigmoidAloneIsNoGroup) {
  GraphBuilder model;
  ValueId x = Binary(model, "bias", "Add", model.Input("x", {8, 8}), model.Weight("b", {8}));
  x = Unary(model, "tanh", "Tanh", x);
  x = Unary(model, "sigmoid", "Sigmoid", x);
  model.Output(model.MatMul("fc", x, model.Weight("w", {8, 8})));
  EXPECT_THAT(GroupsOf(model.graph()), IsEmpty());
}

TEST(LayerGroups, SiluIsASigmoidThatItsInputIsMultipliedWith) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 8});
  const ValueId y = Unary(model, "sigmoid", "Sigmoid", x);
  model.Output(Binary(model, "gate", "Mul", x, y));
  const std::vector<LayerGroup> groups = GroupsOf(model.graph());
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].function, "silu");
  EXPECT_THAT(NamesIn(model.graph(), groups[0]), ElementsAre("sigmoid", "gate"));
}

}  // namespace
}  // namespace infimum
