#include "infimum/graph/model_graph.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "tests/core/measurement/trials.h"
#include "tests/support/graph_builder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::IsEmpty;
using ::testing::Pair;

const char* const kRelu = "pointwise kind=relu dtype=f32:-:f32 in=8";
const char* const kAdd = "pointwise kind=add dtype=f32:f32:f32 in=8,8";

// x -> a -> view -> b, and b adds a's output too.
GraphBuilder Diamond() {
  GraphBuilder g("test");
  g.Input("x");
  g.Weight("w");
  g.Layer("a", {"x"}, {"y"}, kRelu);
  g.Layer("view", {"y"}, {"z"});
  g.Layer("b", {"z", "y"}, {"u"}, kAdd);
  g.Layer("c", {"u", "w"}, {"v"}, kAdd);
  g.Output("v");
  return g;
}

// A loop around a branch; the branch adds y of the outermost graph.
GraphBuilder Nested() {
  GraphBuilder branch("branch");
  branch.Layer("inner", {"state", "y"}, {"sum"}, kAdd);
  branch.Output("sum");
  GraphBuilder body("body");
  body.Input("state");
  GraphBuilder::AddBody(body.Layer("if", {}, {"next"}), "then_branch", std::move(branch), 0);
  body.Output("next");
  GraphBuilder g = Diamond();
  GraphBuilder::AddBody(g.Layer("loop", {"x"}, {"end"}), "body", std::move(body), 12);
  g.Output("end");
  return g;
}

std::vector<std::vector<std::size_t>> Indices(const ModelGraph& graph) {
  std::vector<std::vector<std::size_t>> indices;
  for (const auto& layers : Predecessors(graph)) {
    indices.emplace_back();
    for (LayerId layer : layers) indices.back().push_back(layer.index());
  }
  return indices;
}

std::string ErrorOf(const ModelGraph& graph) {
  const Status status = Validate(graph);
  return status.ok() ? "no error" : status.error().message;
}

TEST(Predecessors, AreTheProducersOfTheInputsAscendingAndOnce) {
  EXPECT_THAT(Indices(Diamond().graph()), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0, 1), ElementsAre(2)));
}

TEST(Predecessors, OfALayerWithBodiesAreAlsoTheProducersOfWhatTheyCapture) {
  EXPECT_THAT(Indices(Nested().graph()).back(), ElementsAre(0));
}

TEST(Predecessors, OfALayerWhoseBodyNamesItsOwnInputLikeAValueOutsideDoNotIncludeIt) {
  GraphBuilder body("body");
  body.Input("y");
  body.Layer("inner", {"y"}, {"t"}, kRelu);
  body.Output("t");
  GraphBuilder g = Diamond();
  GraphBuilder::AddBody(g.Layer("loop", {"x"}, {"end"}), "body", std::move(body), 1);
  EXPECT_THAT(Indices(g.graph()).back(), IsEmpty());
}

TEST(Predecessors, OfRandomGraphsAreEveryEdgeAndComeBefore) {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 100; ++trial) {
    GraphBuilder g;
    g.Input("v0");
    std::vector<std::set<std::size_t>> expected;
    for (std::size_t i = 0; i < random() % 20; ++i) {
      std::set<std::size_t> before;
      std::vector<std::string> inputs;
      for (std::uint64_t k = 0; k <= random() % 3; ++k) {
        const std::size_t from = random() % (i + 1);
        inputs.push_back("v" + std::to_string(from));
        if (from > 0) before.insert(from - 1);
      }
      g.Layer("l" + std::to_string(i), inputs, {"v" + std::to_string(i + 1)});
      expected.push_back(before);
    }
    ASSERT_EQ(ErrorOf(g.graph()), "no error");
    const auto indices = Indices(g.graph());
    ASSERT_EQ(indices.size(), expected.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      ASSERT_THAT(indices[i], ::testing::ElementsAreArray(expected[i]));
    }
  }
}

TEST(VisitLayers, CountsExecutionsOfBodiesAtLeastOnce) {
  std::map<std::string, std::int64_t> executions;
  VisitLayers(Nested().graph(), [&](const Layer& layer, std::int64_t count) { executions[layer.name] = count; });
  EXPECT_THAT(executions, ElementsAre(Pair("a", 1), Pair("b", 1), Pair("c", 1), Pair("if", 12), Pair("inner", 12),
                                      Pair("loop", 1), Pair("view", 1)));
}

TEST(VisitLayers, CapsTheProductOfNestedExecutions) {
  GraphBuilder g("innermost");
  g.Layer("deep", {}, {"t"}, kRelu);
  for (int level = 0; level < 5; ++level) {
    GraphBuilder outer;
    GraphBuilder::AddBody(outer.Layer("loop", {}, {"t"}), "body", std::move(g), std::int64_t{1} << 62);
    g = std::move(outer);
  }
  std::int64_t largest = 0;
  VisitLayers(g.graph(), [&](const Layer&, std::int64_t count) { largest = std::max(largest, count); });
  EXPECT_EQ(largest, kMaxExecutions);
}

TEST(Validate, AcceptsDiamondsBodiesAndCaptures) {
  EXPECT_EQ(ErrorOf(Diamond().graph()), "no error");
  EXPECT_EQ(ErrorOf(Nested().graph()), "no error");
  EXPECT_EQ(ErrorOf(ModelGraph{}), "no error");
}

TEST(Validate, NamesWhatIsBroken) {
  const auto broken = [](auto change) {
    GraphBuilder g = Diamond();
    change(g.graph());
    return ErrorOf(g.graph());
  };
  EXPECT_EQ(broken([](ModelGraph& g) { g.inputs.push_back(ValueId(99)); }),
            "graph 'test': an input is value 99, but there are 6 values");
  EXPECT_EQ(broken([](ModelGraph& g) { g.outputs[0] = ValueId(99); }),
            "graph 'test': the graph's output is value 99, but there are 6 values");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[0].inputs[0] = ValueId(99); }),
            "graph 'test': layer 'a': input 0 is value 99, but there are 6 values");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[0].outputs[0] = ValueId(99); }),
            "graph 'test': layer 'a': output 0 is value 99, but there are 6 values");
  EXPECT_EQ(broken([](ModelGraph& g) { std::swap(g.layers[0], g.layers[1]); }),
            "graph 'test': layer 'view': input 0, 'y', is produced later, by layer 'a'");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[2].outputs[0] = g.layers[0].outputs[0]; }),
            "graph 'test': layer 'b': output 0, 'y', is produced by layer 'a' already");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[2].outputs[0] = g.inputs[0]; }),
            "graph 'test': layer 'b': output 0, 'x', is an input of the graph");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers.erase(g.layers.begin()); }),
            "graph 'test': layer 'view': input 0, 'y', is produced by no layer");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[2].name = "a"; }), "graph 'test': two layers are called 'a'");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[0].workload.reset(); }),
            "graph 'test': layer 'a': measurable, but without a workload");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[1].workload = g.layers[0].workload; }),
            "graph 'test': layer 'view': has a workload, but is not measurable");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[1].reason.clear(); }),
            "graph 'test': layer 'view': free or unknown, but without a reason");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[0].operand_inputs = {1}; }),
            "graph 'test': layer 'a': an operand is input 1, which it does not have");
  EXPECT_EQ(broken([](ModelGraph& g) { g.layers[1].bodies.emplace_back(); }),
            "graph 'test': layer 'view': body '' is empty");
  EXPECT_NE(broken([](ModelGraph& g) { g.values[0].shape = Shape{{-1}}; }), "no error");
  EXPECT_NE(broken([](ModelGraph& g) { g.layers[0].workload = LayerConfig(PointwiseConfig{}); }), "no error");
}

TEST(Validate, FollowsBodiesAndTheirCaptures) {
  GraphBuilder body("body");
  body.Layer("inner", {"v"}, {"t"}, kRelu);
  body.Output("t");
  GraphBuilder g = Diamond();
  Layer& early = *g.graph().layers.emplace(g.graph().layers.begin());
  early.name = "if";
  early.status = LayerStatus::kFree;
  early.reason = "control flow";
  GraphBuilder::AddBody(early, "then_branch", std::move(body), 0);
  EXPECT_EQ(ErrorOf(g.graph()),
            "graph 'test': layer 'if': body 'then_branch': layer 'inner': input 0, 'v', is produced by no layer");
  std::rotate(g.graph().layers.begin(), g.graph().layers.begin() + 1, g.graph().layers.end());
  EXPECT_EQ(ErrorOf(g.graph()), "no error");
}

TEST(Validate, RefusesBodiesNestedWithoutEnd) {
  GraphBuilder g("innermost");
  for (int level = 0; level < 100; ++level) {
    GraphBuilder outer("level");
    GraphBuilder::AddBody(outer.Layer("loop", {}, {"t"}), "body", std::move(g), 1);
    g = std::move(outer);
  }
  EXPECT_NE(ErrorOf(g.graph()).find("bodies nest deeper than 64 levels"), std::string::npos);
}

TEST(Validate, SurvivesRandomIds) {
  std::mt19937_64 random(9);
  int valid = 0;
  for (int trial = 0; trial < Trials(5000); ++trial) {
    GraphBuilder g = Nested();
    for (int change = 0; change < 3; ++change) {
      Layer& layer = g.graph().layers[random() % g.graph().layers.size()];
      const ValueId id(random() % 12);
      switch (random() % 5) {
        case 0:
          layer.inputs.emplace_back(id);
          break;
        case 1:
          layer.outputs.emplace_back(id);
          break;
        case 2:
          layer.operand_inputs.push_back(random() % 4);
          break;
        case 3:
          std::swap(layer, g.graph().layers[random() % g.graph().layers.size()]);
          break;
        default:
          layer.inputs.emplace_back(std::nullopt);
          break;
      }
    }
    if (!Validate(g.graph()).ok()) continue;
    ++valid;
    const auto before = Predecessors(g.graph());
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (LayerId layer : before[i]) ASSERT_LT(layer.index(), i);
    }
  }
  EXPECT_GT(valid, Trials(100));
}

}  // namespace
}  // namespace infimum
