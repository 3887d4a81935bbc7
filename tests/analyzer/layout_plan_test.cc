#include "analyzer/types/layout_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "infimum/graph/replay_schedule.h"
#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::layout_plan_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::Not;

LayerConfig Convolution() {
  return *ParseLayerConfig(
      "convolution dtype=f32:f32:f32 in=1x32x8x8 out_channels=32 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
      "groups=1 bias=no weights=const");
}

LayerConfig Transpose(const std::string& from, const std::string& to) {
  return *ParseLayerConfig("movement kind=transpose dtype=f32:-:f32 in=" + from + " out=" + to + " perm=1,0");
}

// x -> conv_1 -> relu -> conv_2 -> y
ModelGraph TwoConvolutions() {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 32, 8, 8});
  const ValueId a = model.Measurable("conv_1", "Conv", {x, model.Weight("w1", {32, 32, 1, 1})}, Convolution());
  const ValueId b = model.Unary("relu", PointwiseKind::kRelu, a);
  model.Output(model.Measurable("conv_2", "Conv", {b, model.Weight("w2", {32, 32, 1, 1})}, Convolution()));
  return model.Take();
}

class LayoutPlanTest : public ::testing::Test {
 protected:
  void Add(const Workload& workload, const std::string& algorithm, double time, const std::string& input,
           const std::string& output) {
    Measurement row = testing::MeasuredRow(KeyOf(workload), algorithm, {Latency(time)});
    row.candidate.input_layout = input;
    row.candidate.output_layout = output;
    source_.Add(row, testing::TestEnvironment(1));
  }
  void AddReorder(const std::string& from, const std::string& to, double time) {
    Add(*ParseWorkload("reorder dtype=f32:-:f32 in=1x32x8x8 from=" + from + " to=" + to), "reorder", time, from, to);
  }
  void AddLayers() {
    Add(Convolution(), "blocked", 100, "aBcd16b", "aBcd16b");
    Add(Convolution(), "plain", 120, "abcd", "abcd");
    Add(*graph_.layers[1].workload, "relu", 5, "plain", "plain");
  }
  void AddReorders(double into_blocks, double back) {
    AddReorder("abcd", "aBcd16b", into_blocks);
    AddReorder("aBcd16b", "abcd", back);
  }
  void AddTransposes() {
    for (const auto& [from, to] : {std::pair("64x32", "32x64"), std::pair("32x64", "64x32")})
      Add(Transpose(from, to), "turn", 20, "plain", "plain");
  }
  // Of ConvolvedTokens, with a convolution that takes so long channels last.
  void AddLayersOfTokens(double last) {
    Add(Convolution(), "last", last, "nhwc", "nhwc");
    Add(Convolution(), "plain", 95, "abcd", "abcd");
    AddTransposes();
    AddReorder("abcd", "acdb", 30);
    AddReorder("acdb", "abcd", 30);
  }
  Bracket Compute(const BracketOptions& options = {}) {
    return testing::BracketOf(graph_, source_, testing::TestSelection(1), options);
  }

  ModelGraph graph_ = TwoConvolutions();
  testing::KnownRows source_;
};

TEST_F(LayoutPlanTest, PaysForChangesWhereTheyAreWorthIt) {
  AddLayers();
  AddReorders(3, 4);
  const Bracket bracket = Compute();
  ASSERT_TRUE(bracket.layouts.has_value());
  // The element-wise layer keeps the blocks.
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 100 + 5 + 100 + 3 + 4);
  EXPECT_DOUBLE_EQ(bracket.layouts->reordering.count(), 7);
  EXPECT_TRUE(bracket.layouts->is_exact);
  ASSERT_EQ(bracket.layouts->reorders.size(), 2u);
  EXPECT_EQ(bracket.layouts->reorders[0].to, "aBcd16b");
  EXPECT_EQ(graph_.value(bracket.layouts->reorders[1].value).name, graph_.value(graph_.outputs[0]).name);
  EXPECT_TRUE(ReordersToMeasure(*bracket.layouts).empty());
  const Bound* bound = bracket.Find(BoundVariant::kWithLayouts);
  ASSERT_NE(bound, nullptr);
  EXPECT_EQ(bound->latency, bracket.layouts->latency);
  EXPECT_GE(bound->latency, bracket.Find(BoundVariant::kFusedSequential)->latency);
  EXPECT_THAT(bound->assumptions, Contains("changes-of-layout-paid"));
  EXPECT_THAT(bound->assumptions, Not(Contains("free-layouts")));
  EXPECT_THAT(bound->assumptions, Not(Contains("estimated-changes-of-layout")));
}

TEST_F(LayoutPlanTest, StaysRowMajorWhereChangesCostMore) {
  AddLayers();
  AddReorders(30, 30);
  const Bracket bracket = Compute();
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 245);
  EXPECT_TRUE(bracket.layouts->reorders.empty());
  ASSERT_EQ(bracket.layouts->nodes.size(), 3u);
  EXPECT_EQ(bracket.layouts->nodes[0].candidate.algorithm, "plain");
}

TEST_F(LayoutPlanTest, AChangeThatWasNotMeasuredCountsAsACopyAndIsAskedFor) {
  AddLayers();
  const Bracket bracket = Compute();
  ASSERT_EQ(bracket.layouts->reorders.size(), 2u);
  EXPECT_FALSE(bracket.layouts->reorders[0].is_measured);
  EXPECT_NEAR(bracket.layouts->reorders[0].latency.count(), 2 * 8192 / 160e9 * 1e6, 1e-9);
  EXPECT_THAT(bracket.Find(BoundVariant::kWithLayouts)->assumptions, Contains("estimated-changes-of-layout"));
  std::vector<std::string> texts;
  for (const Workload& reorder : ReordersToMeasure(*bracket.layouts)) texts.push_back(Format(reorder));
  EXPECT_THAT(texts, ElementsAre("reorder dtype=f32:-:f32 in=1x32x8x8 from=aBcd16b to=abcd",
                                 "reorder dtype=f32:-:f32 in=1x32x8x8 from=abcd to=aBcd16b"));
}

TEST_F(LayoutPlanTest, IsAbsentWhereNoCandidateHasALayout) {
  Add(Convolution(), "some", 100, "any", "any");
  Add(*graph_.layers[1].workload, "relu", 5, "plain", "plain");
  const Bracket bracket = Compute();
  EXPECT_FALSE(bracket.layouts.has_value());
  EXPECT_EQ(bracket.Find(BoundVariant::kWithLayouts), nullptr);
}

TEST_F(LayoutPlanTest, NamesOfTwoLibrariesAreOneLayout) {
  Add(Convolution(), "cudnn", 100, "nhwc", "nhwc");
  Add(*graph_.layers[1].workload, "relu", 5, "plain", "plain");
  AddReorder("abcd", "acdb", 3);
  AddReorder("acdb", "abcd", 4);
  const Bracket bracket = Compute();
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 212);
  EXPECT_TRUE(ReordersToMeasure(*bracket.layouts).empty());
}

TEST_F(LayoutPlanTest, AnOpaqueLayoutTakesNoPart) {
  AddLayers();
  Add(Convolution(), "opaque", 50, "opaque", "abcd");
  AddReorders(30, 30);
  const Bracket bracket = Compute();
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 245);
  EXPECT_DOUBLE_EQ(bracket.Find(BoundVariant::kFusedSequential)->latency.count(), 105);
}

// Tokens -> image -> conv_1 -> tokens, as hybrids of convolutions and attention have it.
ModelGraph ConvolvedTokens() {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 64, 32});
  const ValueId a = model.Measurable("turn", "Transpose", {x}, Transpose("64x32", "32x64"));
  const ValueId b = model.View("image", a, {1, 32, 8, 8});
  const ValueId c = model.Measurable("conv_1", "Conv", {b, model.Weight("w1", {32, 32, 1, 1})}, Convolution());
  const ValueId d = model.View("flat", c, {1, 32, 64});
  model.Output(model.Measurable("turn_back", "Transpose", {d}, Transpose("32x64", "64x32")));
  return model.Take();
}

TEST_F(LayoutPlanTest, ATransposeMovesNothingWhereItsReaderTakesTheLayout) {
  graph_ = ConvolvedTokens();
  AddLayersOfTokens(100);
  Bracket bracket = Compute();
  ASSERT_TRUE(bracket.layouts.has_value());
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 100);
  EXPECT_TRUE(bracket.layouts->is_exact);
  EXPECT_TRUE(bracket.layouts->reorders.empty());
  ASSERT_EQ(bracket.layouts->nodes.size(), 3U);
  EXPECT_EQ(bracket.layouts->nodes[0].candidate.name(), kViewCandidate);
  EXPECT_EQ(bracket.layouts->nodes[1].candidate.algorithm, "last");
  EXPECT_EQ(bracket.layouts->nodes[2].candidate.name(), kViewCandidate);
  // With free layouts neither takes time, whichever candidate is between them.
  for (const BoundVariant variant : {BoundVariant::kSequential, BoundVariant::kFusedSequential})
    EXPECT_DOUBLE_EQ(bracket.Find(variant)->latency.count(), 95);
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kFree);
  EXPECT_EQ(bracket.layers[0].floor, Latency(0));
  EXPECT_FALSE(bracket.layers[0].reason.empty());
  // Where channels last are slow enough the tokens are turned twice.
  source_ = testing::KnownRows();
  AddLayersOfTokens(200);
  bracket = Compute();
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 135);
  EXPECT_EQ(bracket.layouts->nodes[0].candidate.algorithm, "turn");
}

TEST_F(LayoutPlanTest, ATransposeWhoseReaderTakesRowsAloneTakesItsTime) {
  graph_ = ConvolvedTokens();
  Add(Convolution(), "blocked", 100, "aBcd16b", "aBcd16b");
  AddTransposes();
  AddReorders(3, 4);
  const Bracket bracket = Compute();
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kMeasured);
  EXPECT_DOUBLE_EQ(bracket.Find(BoundVariant::kSequential)->latency.count(), 140);
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 147);
}

TEST_F(LayoutPlanTest, WithViewsTooNoPlanIsBelowTheBoundWithFreeLayouts) {
  graph_ = ConvolvedTokens();
  std::mt19937 random(3);
  const auto time = [&] { return static_cast<double>(1 + random() % 100); };
  const std::vector<std::string> layouts = {"abcd", "acdb", "aBcd16b"};
  int views = 0;
  for (int trial = 0; trial < 300; ++trial) {
    source_ = testing::KnownRows();
    for (const std::string& in : layouts)
      for (const std::string& out : layouts)
        if (random() % 3 == 0 || in + out == "abcdabcd") Add(Convolution(), in + out, time(), in, out);
    for (const auto& [from, to] : {std::pair("64x32", "32x64"), std::pair("32x64", "64x32")})
      if (random() % 4 != 0) Add(Transpose(from, to), "turn", time(), "plain", "plain");
    for (const std::string& from : layouts)
      for (const std::string& to : layouts)
        if (from != to && random() % 2 == 0) AddReorder(from, to, time());
    const Bracket bracket = Compute();
    if (!bracket.layouts) continue;
    EXPECT_GE(bracket.layouts->latency, bracket.Find(BoundVariant::kFusedSequential)->latency) << trial;
    for (const PlannedNode& node : bracket.layouts->nodes) views += node.candidate.name() == kViewCandidate ? 1 : 0;
  }
  EXPECT_GT(views, 100);
}

LayerConfig Concat(const std::string& in, const std::string& out) {
  return *ParseLayerConfig("movement kind=concat dtype=f32:-:f32 in=" + in + " out=" + out + " axis=1");
}

// x -> conv_1 -> conv_2, and the results of both as one; at the end once more with conv_1's.
ModelGraph Joined() {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 32, 8, 8});
  const ValueId a = model.Measurable("conv_1", "Conv", {x, model.Weight("w1", {32, 32, 1, 1})}, Convolution());
  const ValueId b = model.Measurable("conv_2", "Conv", {a, model.Weight("w2", {32, 32, 1, 1})}, Convolution());
  const ValueId c = model.Measurable("join", "Concat", {a, b}, Concat("1x32x64,1x32x64", "1x64x64"));
  model.Output(model.Measurable("again", "Concat", {c, a}, Concat("1x64x64,1x32x64", "1x96x64")));
  return model.Take();
}

TEST_F(LayoutPlanTest, AConcatenationMovesNothingWhereItsOperandsLieOneBehindTheOther) {
  graph_ = Joined();
  const auto add_concats = [&] {
    for (const std::size_t layer : {2, 3}) Add(*graph_.layers[layer].workload, "concat", 20, "plain", "plain");
  };
  add_concats();
  Add(Convolution(), "plain", 120, "abcd", "abcd");
  Add(Convolution(), "last", 100, "acdb", "acdb");
  AddReorder("abcd", "acdb", 9);
  AddReorder("acdb", "abcd", 9);
  Bracket bracket = Compute();
  ASSERT_TRUE(bracket.layouts.has_value());
  ASSERT_EQ(bracket.layouts->nodes.size(), 4U);
  // Channels last the pixels of both would lie side by side. A tensor lies in one result, the larger one.
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 100 + 100 + 3 * 9 + 20);
  EXPECT_EQ(bracket.layouts->nodes[2].candidate.algorithm, "concat");
  EXPECT_EQ(bracket.layouts->nodes[3].candidate.name(), kViewCandidate);
  EXPECT_EQ(bracket.layouts->nodes[3].candidate.output_layout, "plain");
  EXPECT_EQ(bracket.layers[2].status, LatencyStatus::kMeasured);
  EXPECT_EQ(bracket.layers[3].status, LatencyStatus::kFree);
  EXPECT_DOUBLE_EQ(bracket.Find(BoundVariant::kFusedSequential)->latency.count(), 220);
  // What came with the model lies where it came.
  graph_ = Joined();
  graph_.layers[3].inputs[1] = graph_.inputs[0];
  bracket = Compute();
  EXPECT_EQ(bracket.layers[2].status, LatencyStatus::kFree);
  EXPECT_EQ(bracket.layers[3].status, LatencyStatus::kMeasured);
}

// Of bytes in several scales the whole has other elements than its parts.
TEST_F(LayoutPlanTest, AConcatenationThatConvertsIsNoView) {
  for (const float scale : {0.5F, 0.25F}) {
    GraphBuilder model;
    const ValueId whole = model.Number("whole_scale", 0.5F), zero = model.Number("zero", 0);
    const ValueId first = model.Number("first_scale", 0.5F), second = model.Number("second_scale", scale);
    const ValueId x = model.Input("x", {1, 32, 8, 8});
    const ValueId a = model.Measurable("conv_1", "Conv", {x, model.Weight("w1", {32, 32, 1, 1})}, Convolution());
    const ValueId b = model.Measurable("conv_2", "Conv", {a, model.Weight("w2", {32, 32, 1, 1})}, Convolution());
    model.Output(model.Measurable("join", "com.microsoft.QLinearConcat", {whole, zero, a, first, zero, b, second, zero},
                                  Concat("1x32x64,1x32x64", "1x64x64")));
    graph_ = model.Take();
    graph_.layers[2].operand_inputs = {2, 5};
    Add(*graph_.layers[2].workload, "concat", 20, "plain", "plain");
    Add(Convolution(), "plain", 120, "abcd", "abcd");
    Add(Convolution(), "last", 100, "acdb", "acdb");
    AddReorder("abcd", "acdb", 9);
    AddReorder("acdb", "abcd", 9);
    const Bracket bracket = Compute();
    ASSERT_TRUE(bracket.layouts.has_value());
    EXPECT_EQ(bracket.layers[2].status, scale == 0.5F ? LatencyStatus::kFree : LatencyStatus::kMeasured);
  }
}

// What writes the parts knows no blocks, what reads the whole knows nothing else.
TEST_F(LayoutPlanTest, PartsAreChangedToWhatTheirWholeIsIn) {
  const LayerConfig wide = *ParseLayerConfig(
      "convolution dtype=f32:f32:f32 in=1x64x8x8 out_channels=32 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
      "groups=1 bias=no weights=const");
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 32, 8, 8});
  const ValueId a = model.Measurable("conv_1", "Conv", {x, model.Weight("w1", {32, 32, 1, 1})}, Convolution());
  const ValueId b = model.Measurable("conv_2", "Conv", {a, model.Weight("w2", {32, 32, 1, 1})}, Convolution());
  const ValueId whole = model.Measurable("join", "Concat", {a, b}, Concat("1x32x64,1x32x64", "1x64x64"));
  model.graph().values[whole.index()].shape = Shape{{1, 64, 8, 8}};
  model.Output(model.Measurable("conv_3", "Conv", {whole, model.Weight("w3", {32, 64, 1, 1})}, wide));
  graph_ = model.Take();
  Add(Convolution(), "last", 100, "acdb", "acdb");
  Add(*graph_.layers[2].workload, "concat", 20, "plain", "plain");
  Add(wide, "blocked", 80, "aBcd16b", "abcd");
  AddReorder("abcd", "acdb", 9);
  AddReorder("acdb", "abcd", 9);
  AddReorder("acdb", "aBcd16b", 7);
  Add(*ParseWorkload("reorder dtype=f32:-:f32 in=1x64x8x8 from=abcd to=aBcd16b"), "reorder", 15, "abcd", "aBcd16b");
  const Bracket bracket = Compute();
  ASSERT_TRUE(bracket.layouts.has_value());
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 9 + 100 + 100 + 7 + 7 + 80);
  EXPECT_EQ(bracket.layouts->nodes[2].candidate.name(), kViewCandidate);
}

// x -> conv_1, its two halves, each with an activation; the second half is joined with x's.
ModelGraph Halved(bool joined) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 32, 8, 8});
  const ValueId a = model.Measurable("conv_1", "Conv", {x, model.Weight("w1", {32, 32, 1, 1})}, Convolution());
  const ValueId first =
      model.Measurable("split", "Split", {a},
                       *ParseLayerConfig("movement kind=split dtype=f32:-:f32 in=1x32x64 out=1x16x64,1x16x64 axis=1"));
  ModelGraph& graph = model.graph();
  const ValueId second(graph.values.size());
  graph.values.push_back(graph.value(first));
  graph.values.back().name = "second half";
  graph.layers.back().outputs.push_back(second);
  const ValueId relu = model.Unary("relu", PointwiseKind::kRelu, first);
  model.Output(relu);
  model.Output(joined ? model.Measurable("join", "Concat", {relu, second}, Concat("1x16x64,1x16x64", "1x32x64"))
                      : model.Unary("tanh", PointwiseKind::kTanh, second));
  return model.Take();
}

TEST_F(LayoutPlanTest, ASplitMovesNothingWhereNoResultLiesElsewhere) {
  for (const bool joined : {false, true}) {
    graph_ = Halved(joined);
    source_ = testing::KnownRows();
    Add(Convolution(), "plain", 120, "abcd", "abcd");
    for (std::size_t layer = 1; layer < graph_.layers.size(); ++layer)
      Add(*graph_.layers[layer].workload, "own", 20, "plain", "plain");
    const Bracket bracket = Compute();
    ASSERT_TRUE(bracket.layouts.has_value());
    EXPECT_EQ(bracket.layers[1].status, joined ? LatencyStatus::kMeasured : LatencyStatus::kFree);
    // Of split and concatenation one moves.
    EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 120 + 20 + 20);
  }
}

// A residual: two readers of one tensor that want it in different orders.
TEST_F(LayoutPlanTest, ASecondOperandHasALayoutOfItsOwn) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 32, 8, 8});
  const ValueId a = model.Measurable("conv_1", "Conv", {x, model.Weight("w1", {32, 32, 1, 1})}, Convolution());
  model.Output(model.Binary("add", PointwiseKind::kAdd, a, x));
  graph_ = model.Take();
  Add(Convolution(), "blocked", 100, "aBcd16b", "aBcd16b");
  Add(*graph_.layers[1].workload, "add", 5, "plain,plain", "plain");
  AddReorders(3, 4);
  const Bracket bracket = Compute();
  // The copy of x in blocks serves both, and the sum is changed back; or the convolution's result is, before.
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 105 + 7);
}

// The reader calls control flow free, since its bodies are what takes time.
TEST_F(LayoutPlanTest, BodiesTakeTheirTimeAndReadRowMajor) {
  GraphBuilder body;
  const ValueId in = body.Input("in", {1, 32, 8, 8});
  body.Output(body.Unary("tanh", PointwiseKind::kTanh, in));
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 32, 8, 8});
  const ValueId a = model.Measurable("conv_1", "Conv", {x, model.Weight("w1", {32, 32, 1, 1})}, Convolution());
  const ValueId looped = model.Loop("loop", a, body.Take(), 10);
  model.last().status = LayerStatus::kFree;
  model.last().reason = "its body takes the time";
  model.Output(looped);
  graph_ = model.Take();
  Add(Convolution(), "blocked", 100, "aBcd16b", "aBcd16b");
  Add(Convolution(), "plain", 106, "abcd", "abcd");
  Add(*graph_.layers[1].bodies[0].graph->layers[0].workload, "tanh", 5, "plain", "plain");
  AddReorders(3, 4);
  const Bracket bracket = Compute();
  EXPECT_DOUBLE_EQ(bracket.Find(BoundVariant::kFusedSequential)->latency.count(), 150);
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 156);
  EXPECT_TRUE(bracket.layouts->reorders.empty());
}

// A layer that is a region has its operands in the order of their first use: weights between what varies.
TEST_F(LayoutPlanTest, ALayerThatIsARegionReadsWhatItReads) {
  graph_ = TwoConvolutions();
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 32, 8, 8});
  const ValueId a = model.Measurable("conv_1", "Conv", {x, model.Weight("w1", {32, 32, 1, 1})}, Convolution());
  const ValueId w = model.Weight("w2", {32, 32, 1, 1});
  model.Output(model.Measurable("fused", "com.microsoft.FusedConv", {x, w, a}, Convolution()));
  model.last().workload = *ParseWorkload("region [" + Format(LayerConfig(Convolution())) +
                                         "](in0,w0) ; [pointwise kind=add dtype=f32:f32:f32 in=2048,2048](%0,in1)");
  model.last().operand_inputs = {0, 1, 2};
  graph_ = model.Take();
  Add(Convolution(), "plain", 100, "abcd", "abcd");
  Add(*graph_.layers[1].workload, "last", 100, "abcd,32x64:ba", "plain");
  AddReorder("abcd", "acdb", 9);
  AddReorder("acdb", "abcd", 9);
  Add(*ParseWorkload("reorder dtype=f32:-:f32 in=32x64 from=ab to=ba"), "reorder", 7, "ab", "ba");
  const Bracket bracket = Compute();
  ASSERT_TRUE(bracket.layouts.has_value());
  // The sum's operand, which conv_1 wrote row-major, is changed.
  EXPECT_DOUBLE_EQ(bracket.layouts->latency.count(), 207);
}

TEST_F(LayoutPlanTest, ANameThatSaysNothingCountsAsRowMajorAndIsTagged) {
  Add(Convolution(), "foreign", 100, "NHWC", "aBcd16b");
  Add(*graph_.layers[1].workload, "relu", 5, "plain", "plain");
  const Bracket bracket = Compute();
  ASSERT_TRUE(bracket.layouts.has_value());
  EXPECT_EQ(bracket.layouts->undeclared, 2u);
  EXPECT_THAT(bracket.Find(BoundVariant::kWithLayouts)->assumptions, Contains("row-major-where-unstated"));
}

TEST_F(LayoutPlanTest, RegionsThatAreNotTakenTakeNoPart) {
  AddLayers();
  const std::vector<FusableRegion> regions = FindFusableRegions(graph_);
  ASSERT_FALSE(regions.empty());
  Add(regions[0].workload, "fused", 90, "aBcd16b", "abcd");
  EXPECT_EQ(Compute().regions.size(), 1u);
  BracketOptions options;
  options.takes = [](const FusableRegion&) { return false; };
  EXPECT_TRUE(Compute(options).regions.empty());
}

}  // namespace
}  // namespace infimum::layout_plan_test
