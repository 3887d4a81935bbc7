#include "analyzer/gap/waterfall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzer/built_run.h"

namespace infimum {
namespace {

using testing::BuiltRun;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::KnownRows;
using testing::Ran;

class BuiltWaterfall : public BuiltRun {
 protected:
  // Nothing but this cause, the branches that run one after the other, and what is above the floor.
  void ExpectOnly(const Waterfall& waterfall, GapCause cause, double microseconds) {
    for (const GapCause other :
         {GapCause::kHostGaps, GapCause::kAlgorithmRegret, GapCause::kMissedFusion, GapCause::kLayoutChanges,
          GapCause::kPrecision, GapCause::kUnexplained, GapCause::kComposition})
      EXPECT_NEAR(waterfall.Of(other).count(), other == cause ? microseconds : 0, 1e-6) << Name(other);
    EXPECT_NEAR(waterfall.Of(GapCause::kMissedParallelism).count(), kSerial, 1e-6);
  }
};

TEST_F(BuiltWaterfall, AtItsBestOnlyTheSerialBranchIsLeft) {
  const Waterfall waterfall = Account();
  EXPECT_EQ(waterfall.measured_by, MeasuredBy::kEndToEnd);
  EXPECT_EQ(waterfall.bound, Latency(51 + 120 + 6 + 30));
  EXPECT_EQ(waterfall.variant, BoundVariant::kFusedParallel);
  ExpectOnly(waterfall, GapCause::kUnexplained, 0);
}

TEST_F(BuiltWaterfall, ASlowerAlgorithmIsAlgorithmRegretAtItsLayer) {
  run.layers[5].samples = {Latency(30 + 45)};
  const Waterfall waterfall = Account();
  ExpectOnly(waterfall, GapCause::kAlgorithmRegret, 45);
  ASSERT_EQ(waterfall.Find(GapCause::kAlgorithmRegret)->parts.size(), 1u);
  EXPECT_EQ(waterfall.Find(GapCause::kAlgorithmRegret)->parts[0].name, "fc2");
}

TEST_F(BuiltWaterfall, AnUnfusedChainIsMissedFusionOfItsLayers) {
  run.layers[0] = Ran("fc1", "MatMul", {"x"}, {"fc1_out"}, 50);
  run.layers.insert(run.layers.begin() + 1, Ran("relu1", "Relu", {"fc1_out"}, {"relu1_out"}, 5));
  const Waterfall waterfall = Account();
  ExpectOnly(waterfall, GapCause::kMissedFusion, 4);
  const GapPart& part = waterfall.Find(GapCause::kMissedFusion)->parts.at(0);
  EXPECT_EQ(part.name, "fc1 + relu1");
  EXPECT_EQ(part.rows, (std::vector<std::size_t>{0, 1}));
}

TEST_F(BuiltWaterfall, ReformatsAreLayoutChanges) {
  run.layers.insert(run.layers.begin() + 3, Ran("ReorderOutput", "ReorderOutput", {"right_out"}, {"right_plain"}, 17));
  run.layers[4].inputs = {"right_plain"};
  ExpectOnly(Account(), GapCause::kLayoutChanges, 17);
}

TEST_F(BuiltWaterfall, TimeBetweenTheLayersIsAHostGap) {
  run.profiled = {Latency(500)};  // the profiler itself takes some of it
  ExpectOnly(Account(60), GapCause::kHostGaps, 60);
}

TEST_F(BuiltWaterfall, WithLayersWithoutATimeNothingIsKnownOfTheHost) {
  run.layers[5].samples.clear();
  run.profiled = {Latency(500)};
  run.end_to_end = {{{Latency(400)}}};
  const Waterfall waterfall = Against(testing::BracketOf(graph, source, testing::TestSelection(2)));
  EXPECT_EQ(waterfall.Of(GapCause::kHostGaps), Latency(0));
  EXPECT_NEAR(waterfall.Of(GapCause::kUnexplained).count(), 400 - 277 - 30, 1e-6);
}

TEST_F(BuiltWaterfall, ABoundBelowTheFloorIsNone) {
  Bracket known = testing::BracketOf(graph, source, testing::TestSelection(2));
  for (Bound& bound : known.bounds) bound.latency = known.dense_read().latency / 2;
  EXPECT_FALSE(Against(known).bound);
}

TEST_F(BuiltWaterfall, WhatOnlyTheProfilerCostsIsNoHostGap) {
  // Layers of 307 in 320 us under the profiler, and 300 without: the layers themselves were slowed down.
  run.profiled = {Latency(320)};
  run.end_to_end = {{{Latency(300)}}};
  const Waterfall waterfall = Account();
  ExpectOnly(waterfall, GapCause::kUnexplained, -7);
  EXPECT_THAT(waterfall.Find(GapCause::kUnexplained)->parts.at(0).name, HasSubstr("without a profiler"));
}

TEST_F(BuiltWaterfall, OtherWorkThatHeldUpALayerNowAndThenIsNoHostGap) {
  // Each inference lost 300 us to other work, in another layer each time; between the layers are 4.
  for (std::size_t i = 0; i < run.layers.size(); ++i) {
    const Latency own = run.layers[i].samples.front();
    run.layers[i].samples.assign(run.layers.size(), own);
    run.layers[i].samples[i] += Latency(300);
  }
  run.profiled.assign(run.layers.size(), Latency(307 + 300 + 4));
  run.end_to_end = {{{Latency(607)}}};
  const Waterfall waterfall = Account();
  EXPECT_NEAR(waterfall.Of(GapCause::kHostGaps).count(), 4, 1e-6);
  EXPECT_NEAR(waterfall.Of(GapCause::kUnexplained).count(), 296, 1e-6);
  EXPECT_NEAR(waterfall.scatter.count(), 296, 1e-6);
}

TEST_F(BuiltWaterfall, AnAcceleratorsIdleTimeIsAHostGapAndWhatRanAtOnceIsNoMissedParallelism) {
  run.idle = DeviceIdle{Latency(20), Latency(3), Latency(2), Latency(90)};
  run.end_to_end = {{{Latency(307 + 25 - 90)}}};
  const Waterfall waterfall = Account();
  EXPECT_NEAR(waterfall.Of(GapCause::kHostGaps).count(), 25, 1e-6);
  EXPECT_EQ(waterfall.Find(GapCause::kHostGaps)->parts.at(0).latency, Latency(20));
  EXPECT_NEAR(waterfall.Of(GapCause::kMissedParallelism).count(), kSerial - 90, 1e-6);
  EXPECT_NEAR(waterfall.Of(GapCause::kUnexplained).count(), 0, 1e-6);
}

TEST_F(BuiltWaterfall, WithoutEndToEndTimesTheProfileIsTheMeasure) {
  run.end_to_end = {{}};
  run.profiled = {Latency(320), Latency(330), Latency(310)};
  Waterfall waterfall = Account();
  EXPECT_EQ(waterfall.measured_by, MeasuredBy::kProfiled);
  EXPECT_EQ(waterfall.measured, Latency(320));
  EXPECT_NEAR(waterfall.Of(GapCause::kHostGaps).count(), 13, 1e-6);
  run.profiled.clear();
  waterfall = Account();
  EXPECT_EQ(waterfall.measured_by, MeasuredBy::kLayers);
  EXPECT_EQ(waterfall.measured, Latency(307));
}

TEST_F(BuiltWaterfall, WorkThatNothingIsKnownOfIsUnexplainedAndNamed) {
  run.layers.push_back(Ran("mystery", "Mystery", {}, {}, 11));
  const Waterfall waterfall = Account();
  ExpectOnly(waterfall, GapCause::kUnexplained, 11);
  EXPECT_EQ(waterfall.Find(GapCause::kUnexplained)->parts.at(0).name, "matched with no layer: mystery");
}

// An estimate by bytes is no kernel that could run in its place.
TEST_F(BuiltWaterfall, AgainstAnEstimateNoKernelIsSlower) {
  run.layers[5].samples = {Latency(30 + 45)};
  Bracket known = testing::BracketOf(graph, source, testing::TestSelection(2));
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (graph.layers[i].name == "fc2") known.layers[i].status = LatencyStatus::kEstimated;
  const Waterfall waterfall = Against(known);
  EXPECT_EQ(waterfall.Find(GapCause::kAlgorithmRegret), nullptr);
  ASSERT_NE(waterfall.Find(GapCause::kUnexplained), nullptr);
  EXPECT_EQ(waterfall.Find(GapCause::kUnexplained)->parts.at(0).name, "no kernel was measured for: fc2");
  EXPECT_NEAR(waterfall.Find(GapCause::kUnexplained)->parts.at(0).latency.count(), 45, 1e-6);
}

TEST_F(BuiltWaterfall, ALayerThatTheProfileDoesNotShowIsUnexplained) {
  run.layers.erase(run.layers.begin() + 5);
  const Waterfall waterfall = Account();
  ExpectOnly(waterfall, GapCause::kUnexplained, -30);
  EXPECT_EQ(waterfall.Find(GapCause::kUnexplained)->parts.at(0).name, "not in the profile: fc2");
}

TEST_F(BuiltWaterfall, ADemonstratedRunScalesWhatLayersTakeInTheModel) {
  // The replay took a tenth more than its parts: so would this engine, and that is no fault of its algorithms.
  demonstrated = Latency(307 * 1.1);
  for (ProfiledLayer& layer : run.layers) layer.samples = {layer.samples.front() * 1.1};
  run.layers[5].samples.front() += Latency(45);
  const Waterfall waterfall = Account();
  EXPECT_NEAR(waterfall.in_context, 1.1, 1e-12);
  EXPECT_NEAR(waterfall.Of(GapCause::kAlgorithmRegret).count(), 45, 1e-6);
  EXPECT_NEAR(waterfall.Of(GapCause::kMissedFusion).count(), 0, 1e-6);
  EXPECT_NEAR(waterfall.Of(GapCause::kUnexplained).count(), 0, 1e-6);
  EXPECT_NEAR(waterfall.Of(GapCause::kMissedParallelism).count(), 110, 1e-6);
  EXPECT_NEAR(waterfall.Of(GapCause::kComposition).count(), 307 * 1.1 - 110 - 207, 1e-6);
}

TEST_F(BuiltWaterfall, WithoutABoundTheLayersAreAboveTheFloorInOnePiece) {
  source = KnownRows();
  run.layers.push_back(Ran("ReorderOutput", "ReorderOutput", {"fc2_out"}, {"fc2_plain"}, 17));
  run.profiled = {Latency(400)};
  const Waterfall waterfall = Account(60);
  EXPECT_FALSE(waterfall.bound.has_value());
  EXPECT_NEAR(waterfall.Of(GapCause::kHostGaps).count(), 60, 1e-6);
  EXPECT_NEAR(waterfall.Of(GapCause::kLayoutChanges).count(), 17, 1e-6);
  EXPECT_NEAR(waterfall.Of(GapCause::kAboveFloor).count(), 307 - waterfall.floor.count(), 1e-6);
}

// fc of f16 whose engine computes in f32.
TEST_F(BuiltWaterfall, WithoutABoundWhatTheRunDoesNotShowIsNotAboveTheFloor) {
  source = KnownRows();
  run.layers = {Ran("zz", "Einsum", {"x"}, {"zz_out"}, 50)};
  run.end_to_end = {{{Latency(60)}}};
  const Waterfall waterfall = Account();
  ASSERT_FALSE(waterfall.bound);
  ASSERT_GT(waterfall.floor.count(), 0);
  EXPECT_EQ(waterfall.Find(GapCause::kAboveFloor), nullptr) << "nothing of the run is at a layer of the model";
  Latency sum = waterfall.floor;
  for (const GapStep& step : waterfall.steps) sum += step.latency;
  EXPECT_NEAR(sum.count(), waterfall.measured.count(), 1e-6);
}

TEST(WaterfallPrecision, WiderArithmeticIsToldApartFromTheAlgorithmWhereItsTimesAreKnown) {
  const auto model_in = [](DataType type) {
    GraphBuilder model;
    const ValueId x = model.Input("x", {8, 100}, type), w = model.Weight("w", {100, 200}, type);
    const auto config =
        MakeMatMul({type, type, type}, Shape{{8, 100}}, Shape{{100, 200}}, MatMulBias::kNone, Constness::kConstant);
    EXPECT_TRUE(config.ok());
    model.Output(model.Measurable("fc", "MatMul", {x, w}, *config));
    return model.Take();
  };
  const ModelGraph half = model_in(DataType::kF16), single = model_in(DataType::kF32);
  KnownRows source;
  source.Add(half.layers[0], "half", {40}).Add(single.layers[0], "single", {75});
  RunProfile run;
  run.layers = {Ran("fc", "MatMul", {"x"}, {"fc_out"}, 85)};
  run.layers[0].input_tensors = {{"f32", {8, 100}, ""}, {"f32", {100, 200}, ""}};
  run.end_to_end = {{{Latency(85)}}};
  const Bracket wanted = testing::BracketOf(half, source), as_run = testing::BracketOf(single, source);
  const Alignment alignment = AlignRun(half, run);

  const Waterfall told = MakeWaterfall({half, wanted, run, alignment, &as_run});
  EXPECT_NEAR(told.Of(GapCause::kAlgorithmRegret).count(), 10, 1e-9);
  EXPECT_NEAR(told.Of(GapCause::kPrecision).count(), 35, 1e-9);
  EXPECT_TRUE(told.is_wider.at(0));
  const Waterfall not_told = MakeWaterfall({half, wanted, run, alignment});
  EXPECT_NEAR(not_told.Of(GapCause::kAlgorithmRegret).count(), 0, 1e-9);
  EXPECT_NEAR(not_told.Of(GapCause::kPrecision).count(), 45, 1e-9);

  run.layers[0].input_tensors = {{"f16", {8, 100}, ""}, {"f16", {100, 200}, ""}};
  EXPECT_NEAR(MakeWaterfall({half, wanted, run, alignment, &as_run}).Of(GapCause::kPrecision).count(), 0, 1e-9);
}

// No microsecond is promised twice.
void ExpectGainsApart(const RunFacts& facts) {
  Latency gains{0}, there = facts.waterfall.Of(GapCause::kHostGaps);
  for (const ComparedRow& row : facts.waterfall.rows) there += row.measured.value_or(Latency(0));
  std::string kinds;
  for (const Finding& finding : FindingsOf(facts)) {
    EXPECT_GE(finding.gain.count(), 0) << finding.kind;
    EXPECT_FALSE(finding.overlaps) << finding.kind;
    gains += finding.gain;
    kinds += finding.kind + ": " + std::to_string(finding.gain.count()) + "\n";
  }
  EXPECT_LE(gains.count(), there.count() + 1e-5) << kinds;
}

// Any run of any graph: the steps lead from what was measured to the floor.
TEST(WaterfallLaw, StepsAddUpOnRandomGraphsAndRuns) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    testing::RandomGraphOptions options;
    options.layers = 5 + random() % 40;
    options.unknown_share = seed % 3 == 0 ? 0.1 : 0;
    const ModelGraph graph = MakeRandomGraph(random, options);
    KnownRows source;
    std::vector<WorkloadKey> keys = testing::WorkloadKeys(graph);
    if (seed % 4 == 0) keys.resize(keys.size() / 2);  // half of a campaign
    testing::AddRandomRows(random, keys, 2, source);
    testing::AddRandomRows(random, testing::RegionKeys(graph), 2, source);
    Bracket bracket = testing::BracketOf(graph, source, testing::TestSelection(2));
    std::uniform_real_distribution<double> draw(0, 1);
    if (seed % 5 == 0) bracket.demonstrated = Latency(1e4 * draw(random));
    RunProfile run;
    for (const Layer& layer : graph.layers) {
      if (draw(random) < 0.2) continue;  // fused into another, or not shown
      std::vector<std::string> outputs;
      for (const std::optional<ValueId>& output : layer.outputs)
        if (output) outputs.push_back(graph.value(*output).name);
      run.layers.push_back(Ran(draw(random) < 0.1 ? "Reorder" : layer.name,
                               draw(random) < 0.1 ? "ReorderInput" : layer.op, {}, outputs, 1000 * draw(random)));
      // What the rules about engines look for: halves that are computed in single precision, quantized layers.
      if (seed % 6 == 1 && draw(random) < 0.3) run.layers.back().name = "InsertedPrecisionFreeCast_" + layer.name;
      if (seed % 6 == 3 && draw(random) < 0.3) run.layers.back().op = "DequantizeLinear";
      if (seed % 2 == 1) run.layers.back().input_tensors = {{"f32", {}, ""}};
    }
    run.framework = "onnxruntime";
    if (seed % 2 == 0) run.end_to_end = {{{Latency(2e4 * draw(random)), Latency(1e4)}}};
    if (seed % 3 == 0) run.profiled = {Latency(2e4 * draw(random))};
    if (seed % 7 == 0)
      run.idle = DeviceIdle{Latency(draw(random)), Latency(5), Latency(0), Latency(100 * draw(random))};
    const Alignment alignment = AlignRun(graph, run);
    const Waterfall waterfall = MakeWaterfall({graph, bracket, run, alignment});
    Latency sum = waterfall.floor;
    for (const GapStep& step : waterfall.steps) sum += step.latency;
    EXPECT_NEAR(sum.count(), waterfall.measured.count(), 1e-5);
    // At their best and with the best selection of regions, rows are never faster than the bound over them.
    const GapStep* fusion = waterfall.Find(GapCause::kMissedFusion);
    if (fusion != nullptr && options.unknown_share == 0 && seed % 4 != 0) {
      EXPECT_GE(fusion->latency.count(), -1e-6);
    }
    ExpectGainsApart(RunFacts{graph, bracket, run, waterfall});
  }
}

}  // namespace
}  // namespace infimum
