#include "analyzer/bracket/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::what_if_test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Builder = testing::GraphBuilder;

// fc_1 (20 us) -> relu (5 us), region of both 22 us; fc_2 (10 us) beside them.
struct Model {
  ModelGraph graph;
  testing::KnownRows source;
};

Model Make() {
  Model made;
  Builder model;
  const ValueId x = model.Input("x", {8, 16});
  const ValueId y = model.MatMul("fc_1", x, model.Weight("w", {16, 32}));
  model.Output(model.Unary("relu", PointwiseKind::kRelu, y));
  model.Output(model.MatMul("fc_2", x, model.Weight("v", {16, 8})));
  made.graph = model.Take();
  const double times[] = {20, 5, 10};
  for (std::size_t i = 0; i < 3; ++i) made.source.Add(made.graph.layers[i], "only", {times[i]});
  made.source.Add(FindFusableRegions(made.graph)[0].workload, "fused", {22});
  return made;
}

WhatIfBound Solve(const std::string& text, BoundVariant variant) {
  Model made = Make();
  const Result<WhatIf> what_if = ParseWhatIf(text, made.graph);
  EXPECT_TRUE(what_if.ok()) << what_if.error().message;
  BracketOptions options;
  options.what_ifs = {*what_if};
  const Bracket bracket = testing::BracketOf(made.graph, made.source, testing::TestSelection(1), options);
  EXPECT_THAT(bracket.what_ifs, SizeIs(1));
  for (const WhatIfBound& bound : bracket.what_ifs[0].bounds)
    if (bound.variant == variant) return bound;
  ADD_FAILURE() << "no such variant";
  return {};
}

TEST(WhatIf, AFreeLayerWinsItsTime) {
  EXPECT_EQ(Solve("free:fc_2", BoundVariant::kSequential).gain, Latency(10));
  EXPECT_EQ(Solve("free:fc_2", BoundVariant::kSequential).latency, Latency(25));
  EXPECT_EQ(Solve("free:op=MatMul", BoundVariant::kSequential).gain, Latency(30));
  EXPECT_EQ(Solve("free:all", BoundVariant::kSequential).latency, Latency(0));
}

TEST(WhatIf, FusedTheLayersAreTakenApartWhereThatIsNowBetter) {
  // 22 + 10 = 32 before; without relu 20 + 10.
  EXPECT_EQ(Solve("free:relu", BoundVariant::kFusedSequential).gain, Latency(2));
  EXPECT_EQ(Solve("free:relu", BoundVariant::kSequential).gain, Latency(5));
}

TEST(WhatIf, ScalesAndFixedTimes) {
  EXPECT_EQ(Solve("0.5x:family=matmul", BoundVariant::kSequential).gain, Latency(15));
  EXPECT_EQ(Solve("2x:fc_2", BoundVariant::kSequential).gain, Latency(-10));
  EXPECT_EQ(Solve("12us:fc_1", BoundVariant::kSequential).gain, Latency(8));
}

TEST(WhatIf, AFloorNeverCosts) {
  const WhatIfBound bound = Solve("floor:all", BoundVariant::kSequential);
  EXPECT_GT(bound.gain, Latency(30));
  EXPECT_GT(bound.latency, Latency(0));
}

TEST(WhatIf, ErrorsSayWhatCouldStandThere) {
  const ModelGraph graph = Make().graph;
  const auto error = [&](const char* text) {
    const Result<WhatIf> what_if = ParseWhatIf(text, graph);
    return what_if.ok() ? std::string("no error") : what_if.error().message;
  };
  EXPECT_THAT(error("free:fc_3"), HasSubstr("did you mean"));
  EXPECT_THAT(error("free:op=Softmax"), HasSubstr("no operator 'Softmax'"));
  EXPECT_THAT(error("gone:fc_1"), HasSubstr("free, floor, 0.5x, 12us"));
  EXPECT_THAT(error("fc_1"), HasSubstr("ACTION:LAYERS"));
  EXPECT_THAT(error("-1x:fc_1"), HasSubstr("no action"));
  EXPECT_THAT(error("nanx:fc_1"), HasSubstr("no action"));
}

TEST(Inversions, AreRecordedForEveryBoundAboveARunAndNothingIsClipped) {
  Model made = Make();
  Bracket bracket = testing::BracketOf(made.graph, made.source);
  AddUpperLimit({"engine 1", Latency(33), {Latency(32.9), Latency(33.1)}}, bracket);
  ASSERT_THAT(bracket.inversions, SizeIs(2));  // sequential and parallel, 35; fused 32 are below
  EXPECT_EQ(bracket.inversions[0].bound, "sequential");
  EXPECT_EQ(bracket.inversions[0].excess, Latency(2));
  EXPECT_TRUE(bracket.inversions[0].is_beyond_noise);
  EXPECT_EQ(bracket.Find(BoundVariant::kSequential)->latency, Latency(35));
  AddUpperLimit({"engine 2", Latency(30), {Latency(29), Latency(40)}}, bracket);
  EXPECT_EQ(bracket.upper.front().name, "engine 2");
  EXPECT_FALSE(bracket.inversions.back().is_beyond_noise);
}

TEST(Inversions, AFloorAboveARunIsOneAndWhatLibrariesChooseIsNone) {
  Bracket bracket;
  bracket.floors = {{ProgramClass::kDenseRead, Latency(10), "bandwidth memory", {}}};
  bracket.bounds = {{BoundVariant::kHeuristic, Latency(30), {Latency(29), Latency(31)}, {}}};
  AddUpperLimit({"engine", Latency(9), {Latency(8), Latency(9.5)}}, bracket);
  ASSERT_THAT(bracket.inversions, SizeIs(1));
  EXPECT_EQ(bracket.inversions[0].bound, "floor");
  EXPECT_EQ(bracket.inversions[0].excess, Latency(1));
  EXPECT_TRUE(bracket.inversions[0].is_beyond_noise);
}

}  // namespace
}  // namespace infimum::what_if_test
