#include "analyzer/bracket/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::what_if_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
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

// Starting a kernel takes 2 us.
TEST(WhatIf, WithoutGapsEachKernelAndRegionTakesOneStartLess) {
  Model made = Make();
  const auto solve = [&](const char* text) {
    BracketOptions options;
    options.what_ifs = {*ParseWhatIf(text, made.graph)};
    return ComputeBracket(made.graph, made.source, testing::TestSelection(1), options);
  };
  const auto gain = [](const Bracket& bracket, BoundVariant variant) {
    return std::ranges::find(bracket.what_ifs[0].bounds, variant, &WhatIfBound::variant)->gain;
  };
  const Result<Bracket> unknown = solve("gapless:all");
  ASSERT_FALSE(unknown.ok()) << "no start is known";
  EXPECT_THAT(unknown.error().message, HasSubstr("of GPUs"));
  EXPECT_THAT(solve("free:relu")->bounds[0].assumptions, Not(Contains("launch-gaps")));
  DevicePeaks peaks = testing::TestPeaks();
  peaks.rates.push_back({PeakRate::Kind::kLaunch, Bytes{}, DataType::kF32, 1, 500e3, "measured"});
  made.source.SetPeaks(testing::TestDeviceKey(), peaks);
  const Bracket known = *solve("gapless:all");
  EXPECT_THAT(known.bounds[0].assumptions, Contains("launch-gaps"));
  EXPECT_NEAR(gain(known, BoundVariant::kSequential)->count(), 6, 1e-6);
  EXPECT_NEAR(gain(known, BoundVariant::kFusedSequential)->count(), 4, 1e-6) << "the region and fc_2";
  EXPECT_NEAR(gain(*solve("gapless:relu"), BoundVariant::kSequential)->count(), 2, 1e-6);
}

TEST(WhatIf, ErrorsSayWhatCouldStandThere) {
  const ModelGraph graph = Make().graph;
  const auto error = [&](const char* text) {
    const Result<WhatIf> what_if = ParseWhatIf(text, graph);
    return what_if.ok() ? std::string("no error") : what_if.error().message;
  };
  EXPECT_THAT(error("free:fc_3"), HasSubstr("did you mean"));
  EXPECT_THAT(error("free:op=Softmax"), HasSubstr("no operator 'Softmax'"));
  EXPECT_THAT(error("gone:fc_1"), HasSubstr("free, floor, gapless, 0.5x, 12us"));
  EXPECT_THAT(error("fc_1"), HasSubstr("ACTION:LAYERS"));
  EXPECT_THAT(error("-1x:fc_1"), HasSubstr("no action"));
  EXPECT_THAT(error("nanx:fc_1"), HasSubstr("no action"));
}

// One layer of so many rows: a product of f32 with a matrix of 2048 x 2048.
ModelGraph Product(std::int64_t rows) {
  Builder model;
  model.Output(model.MatMul("fc", model.Input("x", {rows, 2048}), model.Weight("w", {2048, 2048})));
  return model.Take();
}

// TPU v2: 180 TFLOPS and 2,400 GB/s; v3: 420 TFLOPS and 3,600 GB/s (ParaDnn, arXiv 1907.10701).
class OtherPeaks : public ::testing::Test {
 protected:
  OtherPeaks() {
    using Kind = PeakRate::Kind;
    const auto peak = [](Kind kind, double rate) {
      return PeakRate{kind, Bytes{0}, DataType::kF32, 1, rate, "data sheet: TPU v2"};
    };
    source_.SetPeaks(selection_.device, {{peak(Kind::kRead, 2400e9), peak(Kind::kArithmetic, 180e12)}, Bytes{0}});
  }
  // How many times smaller each floor becomes.
  std::map<std::string, double> Ratios(const ModelGraph& graph, const std::string& text) {
    BracketOptions options;
    const Result<WhatIf> what_if = ParseWhatIf(text, graph);
    EXPECT_TRUE(what_if.ok()) << text;
    options.what_ifs = {*what_if};
    const Bracket bracket = testing::BracketOf(graph, source_, selection_, options);
    EXPECT_THAT(bracket.what_ifs, SizeIs(1));
    EXPECT_THAT(bracket.what_ifs[0].bounds, SizeIs(0));
    std::map<std::string, double> ratios;
    for (const WhatIfFloor& floor : bracket.what_ifs[0].floors)
      ratios[floor.name] = (floor.latency + floor.gain) / floor.latency;
    return ratios;
  }

  MemorySource source_;
  Selection selection_ = {.device = {"gpu/test"}, .threads = 1, .cache = {}, .contract = {}, .environment = {}};
};

TEST_F(OtherPeaks, ATpuV3OverAV2HelpsEachModelByWhatDecidesIt) {
  const std::string v3 = "peak:f32=2.3333x,memory=1.5x";
  std::map<std::string, double> of_arithmetic = Ratios(Product(4096), v3), of_memory = Ratios(Product(8), v3);
  EXPECT_NEAR(of_arithmetic["floor-textbook"], 2.3333, 1e-9);
  EXPECT_NEAR(of_arithmetic["roofline"], 2.3333, 1e-9);
  EXPECT_NEAR(of_arithmetic["floor-dense-read"], 1.5, 1e-9);
  EXPECT_NEAR(of_memory["floor-textbook"], 1.5, 1e-9);
  EXPECT_NEAR(of_memory["roofline"], 1.5, 1e-9);
  // One of the two alone.
  EXPECT_NEAR(Ratios(Product(4096), "peak:memory=1.5x")["floor-textbook"], 1, 1e-9);
  EXPECT_NEAR(Ratios(Product(8), "peak:f32=2.3333x")["floor-textbook"], 1, 1e-9);
}

// Rates that rows show, and rows themselves, are of the device as it is.
TEST_F(OtherPeaks, MeasuredRowsRaiseTheRatesThatAreMultipliedAndChangeNothingElse) {
  const ModelGraph graph = Product(8);
  Measurement row = testing::MeasuredRow(KeyOf(*graph.layers[0].workload), "fast", {Latency(1)});
  row.device = selection_.device;
  source_.Add(row, testing::TestEnvironment(1));
  EXPECT_NEAR(Ratios(graph, "peak:memory=1.5x")["floor-dense-read"], 1.5, 1e-9);
  const Bracket bracket = testing::BracketOf(graph, source_, selection_);
  EXPECT_NEAR(bracket.textbook().latency.count(), 1, 1e-9);
}

TEST_F(OtherPeaks, APeakThatIsNotKnownIsAnError) {
  const ModelGraph graph = Product(8);
  BracketOptions options;
  options.what_ifs = {{"peak:f16=2x", {}, {{"f16", 2}}}};
  const Result<Bracket> bracket = ComputeBracket(graph, source_, selection_, options);
  ASSERT_FALSE(bracket.ok());
  EXPECT_THAT(bracket.error().message, HasSubstr("--what-if peak:f16=2x: no peak of 'f16' is known"));
  EXPECT_THAT(bracket.error().message, HasSubstr("memory, f32"));
  for (const char* text :
       {"peak:", "peak:f32", "peak:f32=2", "peak:f32=0x", "peak:f32=-1x", "peak:f32=2x,", "peak:f32=infx"})
    EXPECT_FALSE(ParseWhatIf(text, graph).ok()) << text;
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
