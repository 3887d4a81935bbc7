#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/onnx/model_text.h"

namespace infimum {
namespace {

using ::testing::HasSubstr;

TEST(If, WithAnUnknownConditionKeepsBothBranches) {
  const ModelGraph graph = ReadText(R"(
      g (bool c, float[2, 8] x) => (float[2, 8] y) {
        [h] h = Relu (x)
        [branch] y = If (c) <then_branch = t () => (float[2, 8] a) { [inner] a = Tanh (h) },
                             else_branch = e () => (float[2, 8] b) { b = Identity (h) }>
      })");
  const Layer& branch = LayerCalled(graph, "branch");
  EXPECT_EQ(Describe(branch), "free: its bodies count as sub-graphs");
  ASSERT_EQ(branch.bodies.size(), 2u);
  EXPECT_EQ(branch.bodies[0].name, "then_branch");
  EXPECT_EQ(branch.bodies[1].name, "else_branch");
  EXPECT_EQ(branch.bodies[0].least_executions, 0);
  EXPECT_THAT(Describe(LayerCalled(*branch.bodies[0].graph, "inner")), HasSubstr("pointwise kind=tanh"));
  EXPECT_EQ(TypeOf(graph, "y"), "f32 2x8");
  // What the branches read from outside, the layer waits for.
  ASSERT_EQ(branch.inputs.size(), 2u);
  EXPECT_EQ(graph.value(*branch.inputs[1]).name, "h");
  EXPECT_EQ(Predecessors(graph)[1], std::vector<LayerId>{LayerId(0)});
}

// What a body makes may have the name of what its node makes, or of another node's result.
TEST(If, WhoseBranchesUseItsOwnNamesIsNoCycle) {
  const ModelGraph graph = ReadText(R"(
      g (bool c, float[2, 8] x) => (float[2, 8] y) {
        [branch] y = If (c) <then_branch = t () => (float[2, 8] y) { [inner] y = Tanh (x) },
                             else_branch = e () => (float[2, 8] later) { later = Relu (x) }>
        later = Identity (y)
      })");
  EXPECT_EQ(TypeOf(graph, "y"), "f32 2x8");
  EXPECT_THAT(Describe(LayerCalled(*LayerCalled(graph, "branch").bodies[0].graph, "inner")), HasSubstr("kind=tanh"));
}

TEST(If, WithBranchesOfUnlikeShapesHasNone) {
  const ModelGraph graph = ReadText(R"(
      g (bool c, float[2, 8] x) => (float[N, 8] y) {
        [branch] y = If (c) <then_branch = t () => (float[2, 8] a) { a = Tanh (x) },
                             else_branch = e () => (float[4, 8] b) { b = Concat <axis = 0> (x, x) }>
      })");
  EXPECT_EQ(TypeOf(graph, "y"), "f32 ?");
}

TEST(If, WithAKnownConditionBecomesTheLayersOfItsBranch) {
  const ModelGraph graph = ReadText(R"(
      g (float[2, 8] x) => (float[2, 8] y) {
        s = Shape (x)
        zero = Constant <value_int = 0> ()
        two = Constant <value_int = 2> ()
        first = Gather <axis = 0> (s, zero)
        c = Equal (first, two)
        [branch] h = If (c) <then_branch = t () => (float[2, 8] a) { [inner] a = Tanh (x) },
                             else_branch = e () => (float[4, 8] b) { [other] b = Concat <axis = 0> (x, x) }>
        [last] y = Relu (h)
      })");
  EXPECT_THAT(Describe(LayerCalled(graph, "branch")), HasSubstr("free: folded: its condition is known"));
  EXPECT_THAT(Describe(LayerCalled(graph, "inner")), HasSubstr("pointwise kind=tanh"));
  EXPECT_EQ(TypeOf(graph, "h"), "f32 2x8");
  for (const Layer& layer : graph.layers) EXPECT_NE(layer.name, "other");
}

constexpr const char* kLoop = R"(
    g (float[2, 8] x) => (float[2, 8] y, float[T, 2, 8] all) {
      trips = Constant <value_int = TRIPS> ()
      go = Constant <value = bool {1}> ()
      [loop] y, all = Loop (trips, go, x) <body = b (int64 i, bool c, float[A, B] s) => (bool more, float[A, B] next, float[A, B] out) {
        more = Identity (c)
        [inner] next = Tanh (s)
        out = Identity (next)
      }>
    })";

std::string LoopOf(const std::string& trips) {
  std::string text = kLoop;
  return text.replace(text.find("TRIPS"), 5, trips);
}

TEST(Loop, OfAConstantNumberOfTripsIsCounted) {
  const ModelGraph graph = ReadText(LoopOf("5"));
  const Layer& loop = LayerCalled(graph, "loop");
  ASSERT_EQ(loop.bodies.size(), 1u);
  EXPECT_EQ(loop.bodies[0].least_executions, 5);
  EXPECT_EQ(TypeOf(graph, "y"), "f32 2x8");
  EXPECT_EQ(TypeOf(graph, "all"), "f32 5x2x8");
  EXPECT_THAT(Describe(LayerCalled(*loop.bodies[0].graph, "inner")), HasSubstr("in=16"));
}

TEST(Loop, ThatMayStopEarlyRunsAtLeastNever) {
  const ModelGraph graph = ReadText(R"(
      g (float[2, 8] x, int64 trips, bool go) => (float[2, 8] y) {
        [loop] y = Loop (trips, go, x) <body = b (int64 i, bool c, float[A, B] s) => (bool more, float[A, B] next) {
          more = Identity (c)
          [inner] next = Tanh (s)
        }>
      })");
  EXPECT_EQ(LayerCalled(graph, "loop").bodies[0].least_executions, 0);
  EXPECT_EQ(TypeOf(graph, "y"), "f32 2x8");
}

TEST(Loop, WhoseStateGrowsLosesTheDimensionThatDoes) {
  const ModelGraph graph = ReadText(R"(
      g (float[2, 8] x) => (float[A, 8] y) {
        trips = Constant <value_int = 3> ()
        [loop] y = Loop (trips, , x) <body = b (int64 i, bool c, float[A, B] s) => (bool more, float[A, B] next) {
          more = Identity (c)
          [grow] next = Concat <axis = 0> (s, s)
        }>
      })");
  EXPECT_EQ(TypeOf(graph, "y"), "f32 ?");
  EXPECT_EQ(LayerCalled(*LayerCalled(graph, "loop").bodies[0].graph, "grow").status, LayerStatus::kUnknown);
}

TEST(Scan, RunsAsOftenAsItsSequenceIsLong) {
  const ModelGraph graph = ReadText(R"(
      g (float[8] start, float[T, 8] x) => (float[8] last, float[T, 8] all) {
        [scan] last, all = Scan <num_scan_inputs = 1,
          body = b (float[8] s, float[8] v) => (float[8] next, float[8] out) {
            [inner] next = Add (s, v)
            out = Identity (next)
          }> (start, x)
      })",
                                    {{"T", 11}});
  const Layer& scan = LayerCalled(graph, "scan");
  EXPECT_EQ(scan.bodies[0].least_executions, 11);
  EXPECT_EQ(TypeOf(graph, "all"), "f32 11x8");
  EXPECT_EQ(TypeOf(graph, "last"), "f32 8");
}

TEST(NestedLoops, AreReadOnceForEachLevel) {
  std::string text;
  const int depth = 12;
  for (int level = depth; level > 0; --level) {
    const std::string n = std::to_string(level);
    const std::string body = level == depth ? "n" + n + " = Tanh (s" + n + ")"
                                            : "n" + n + " = Loop (, c" + n + ", s" + n + ") <body = " + text + ">";
    text = "b" + n + " (int64 i" + n + ", bool c" + n + ", float[A] s" + n + ") => (bool m" + n + ", float[A] n" + n +
           ") { m" + n + " = Identity (c" + n + ") " + body + " }";
  }
  const ModelGraph graph =
      ReadText("g (bool go, float[2] x) => (float[2] y) { [loop] y = Loop (, go, x) <body = " + text + "> }");
  const ModelGraph* level = &graph;
  int found = 0;
  while (!level->layers.empty() && !level->layers.back().bodies.empty()) {
    level = level->layers.back().bodies[0].graph.get();
    ++found;
  }
  EXPECT_EQ(found, depth);
}

TEST(LocalFunction, IsInlinedAsItsLayers) {
  const ModelGraph graph = ReadText(R"(
      g (float[2, 8] x) => (float[2, 8] y) {
        h = custom.Twice (x)
        y = custom.Twice (h)
      }
      <domain: "custom", opset_import: ["" : 21]>
      Twice (a) => (b) { t = Relu (a) b = Tanh (t) })");
  int relu = 0;
  for (const Layer& layer : graph.layers) relu += layer.op == "Relu" ? 1 : 0;
  EXPECT_EQ(relu, 2);
  EXPECT_EQ(graph.layers.size(), 4u);
  EXPECT_EQ(TypeOf(graph, "y"), "f32 2x8");
}

TEST(LocalFunction, ThatCallsItselfIsRefused) {
  EXPECT_EQ(ErrorOf(R"(
      g (float[2, 8] x) => (float[2, 8] y) { y = custom.F (x) }
      <domain: "custom", opset_import: ["" : 21, "custom" : 1]> F (a) => (b) { b = custom.G (a) }
      <domain: "custom", opset_import: ["" : 21, "custom" : 1]> G (a) => (b) { b = custom.F (a) })"),
            "function 'custom.F' calls itself, which ONNX forbids");
}

TEST(LocalFunction, ThatMultipliesBeyondReasonIsRefused) {
  std::string text = "g (float[2] x) => (float[2] y) { y = custom.F0 (x) }";
  for (int i = 0; i < 30; ++i) {
    const std::string next = i == 29 ? "Relu" : "custom.F" + std::to_string(i + 1);
    text += "\n<domain: \"custom\", opset_import: [\"\" : 21, \"custom\" : 1]> F" + std::to_string(i) +
            " (a) => (b) { t = " + next + " (a) b = " + next + " (t) }";
  }
  EXPECT_THAT(ErrorOf(text), HasSubstr("more than a million nodes"));
}

}  // namespace
}  // namespace infimum
