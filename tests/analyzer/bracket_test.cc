#include "analyzer/bracket/bracket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "infimum/graph/run_profile.h"
#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::bracket_test {
namespace {

using testing::BracketOf;
using ::testing::Contains;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::KnownRows;
using testing::MeasuredRow;
using ::testing::Not;
using testing::TestEnvironment;

WorkloadKey KeyOfLayer(const ModelGraph& graph, std::size_t layer) { return KeyOf(*graph.layers[layer].workload); }

// x -> fc -> relu -> y, with a view between.
ModelGraph SmallModel() {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {8, 1000}), model.Weight("w", {1000, 10}));
  model.Output(model.Unary("relu", PointwiseKind::kRelu, model.View("flat", y, {80})));
  return model.Take();
}

TEST(Bracket, TheBestCandidateIsTheOneWithTheLeastMeanOfItsMedians) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  source.Add(graph.layers[0], "steady", {11, 11});
  source.Add(graph.layers[0], "lucky once", {30, 10});
  source.Add(graph.layers[2], "only", {2});
  const Bracket bracket = BracketOf(graph, source);
  EXPECT_EQ(bracket.layers[0].candidate->algorithm, "steady");
  // Each half of the repetitions names the other's candidate.
  EXPECT_NEAR(bracket.bounds[0].latency.count(), std::sqrt(30.0 * 11) + 2, 1e-9);
  EXPECT_EQ(bracket.layers[1].status, LatencyStatus::kFree);
  EXPECT_DOUBLE_EQ(bracket.coverage.measured, 1);
  EXPECT_THAT(bracket.bounds[0].assumptions, Not(Contains("unmeasured-layers")));
}

// "fc" holds 20 of 22 us, "relu" 2.
TEST(Bracket, FlagsOfRowsThatHoldATenthOfItAreAssumptions) {
  const ModelGraph graph = SmallModel();
  const auto assumptions = [&](std::size_t layer, const std::string& flag) {
    KnownRows source;
    for (const std::size_t each : {std::size_t{0}, std::size_t{2}}) {
      Measurement row = MeasuredRow(KeyOfLayer(graph, each), "only", {Latency(each == 0 ? 20 : 2)});
      if (each == layer) row.flags = {flag};
      source.Add(std::move(row), TestEnvironment(1));
    }
    return BracketOf(graph, source).bounds[0].assumptions;
  };
  for (const auto& [flag, tag] :
       {std::pair("unconverged", "unconverged-rows"), std::pair("throttled", "throttled-rows"),
        std::pair("uncaptured", "uncaptured-rows"), std::pair("overlaps", "overlapping-rows"),
        std::pair("launch_bound", "launch-bound-rows"), std::pair("host_bound", "host-bound-rows")}) {
    EXPECT_THAT(assumptions(0, flag), Contains(tag));
    EXPECT_THAT(assumptions(2, flag), Not(Contains(tag))) << "2 of 22 us";
  }
}

Environment OnHost(const std::string& host, const std::string& clocks) {
  Environment environment = TestEnvironment(1);
  environment.evidence = {{evidence::kHost, host}, {evidence::kClocks, clocks}};
  return environment;
}

TEST(Bracket, ShardsOfEightHostsAreOneWholeThatSaysSo) {
  GraphBuilder model;
  ValueId last = model.Input("x", {8, 16});
  for (int i = 0; i < 16; ++i)
    last = model.MatMul("fc" + std::to_string(i), last, model.Weight("w" + std::to_string(i), {16 + i, 17 + i}));
  model.Output(last);
  const ModelGraph graph = model.Take();
  KnownRows source, uneven;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const std::string host = "host" + std::to_string(i % 8);
    const Measurement row = MeasuredRow(KeyOfLayer(graph, i), "gemm", {Latency(10)});
    source.Add(row, OnHost(host, "performance"));
    uneven.Add(row, OnHost(host, i % 8 == 3 ? "powersave" : "performance"));
  }
  const Bracket bracket = BracketOf(graph, source);
  EXPECT_DOUBLE_EQ(bracket.coverage.measured, 1);
  EXPECT_EQ(bracket.environments.size(), 1u);
  ASSERT_TRUE(bracket.hosts.has_value());
  EXPECT_EQ(bracket.hosts->count, 8u);
  EXPECT_FALSE(bracket.hosts->clocks_differ());
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("several-hosts"));
  EXPECT_TRUE(BracketOf(graph, uneven).hosts->clocks_differ());
  // Another version of a library is another matter.
  Environment newer = OnHost("host1", "performance");
  newer.libraries["onednn"] = "newer";
  source.Add(MeasuredRow(KeyOfLayer(graph, 0), "gemm", {Latency(1)}), newer);
  EXPECT_EQ(BracketOf(graph, source).bounds[0].latency, Latency(160));
}

TEST(Bracket, RowsWithoutAHostAreOfAnotherOneWhereTheirSystemIs) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  Environment older = OnHost("", "powersave");
  older.evidence.erase(evidence::kHost);
  older.evidence[evidence::kSystem] = "Linux 5.10";
  source.Add(MeasuredRow(KeyOfLayer(graph, 0), "gemm", {Latency(10)}), OnHost("a", "performance"));
  source.Add(MeasuredRow(KeyOfLayer(graph, 2), "relu", {Latency(2)}), older);
  const std::optional<SeveralHosts> hosts = BracketOf(graph, source).hosts;
  ASSERT_TRUE(hosts.has_value());
  EXPECT_EQ(hosts->count, 2u);
  EXPECT_TRUE(hosts->clocks_differ());
}

// The best kernels of a GPU are those of its vendor's libraries.
TEST(Bracket, AGpuWithoutItsLibrariesIsSaid) {
  const ModelGraph graph = SmallModel();
  const auto tags = [&](std::map<std::string, std::string> libraries) {
    KnownRows source;
    Environment environment = OnHost("a", "performance");
    environment.libraries = std::move(libraries);
    source.Add(MeasuredRow(KeyOfLayer(graph, 0), "gemm", {Latency(10)}), environment);
    return BracketOf(graph, source).bounds[0].assumptions;
  };
  EXPECT_THAT(tags({{"cuda-driver", "13.0"}, {"cublaslt", "13.0"}}), Contains("missing-libraries"));
  EXPECT_THAT(tags({{"cuda-driver", "13.0"}, {"cudnn", "9.28"}}), Contains("missing-libraries"));
  EXPECT_THAT(tags({{"cuda-driver", "13.0"}, {"cudnn", "9.28"}, {"cublaslt", "13.0"}}),
              Not(Contains("missing-libraries")));
  EXPECT_THAT(tags({{"onednn", "3.2"}}), Not(Contains("missing-libraries")));
}

TEST(Bracket, OfOneHostNothingIsSaid) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  Environment updated = OnHost("a", "performance");
  updated.evidence[evidence::kSystem] = "Linux 6.2";
  source.Add(MeasuredRow(KeyOfLayer(graph, 0), "gemm", {Latency(10)}), OnHost("a", "performance"));
  source.Add(MeasuredRow(KeyOfLayer(graph, 2), "relu", {Latency(2)}), updated);
  const Bracket bracket = BracketOf(graph, source);
  EXPECT_FALSE(bracket.hosts.has_value());
  EXPECT_THAT(bracket.bounds[0].assumptions, Not(Contains("several-hosts")));
}

TEST(Bracket, WithColdWeightsLayersThatHaveNoneAreWarmAndTheOthersAreNot) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  const Measurement warm = MeasuredRow(KeyOfLayer(graph, 0), "gemm", {Latency(10)});
  Measurement cold = MeasuredRow(KeyOfLayer(graph, 0), "gemv", {Latency(15)});
  cold.cache = CacheState::kColdWeights;
  source.Add(warm, TestEnvironment(1));
  source.Add(graph.layers[2], "only", {2});
  Selection selection = testing::TestSelection(1);
  selection.cache = CacheState::kWarm;
  EXPECT_EQ(BracketOf(graph, source, selection).bounds[0].latency, Latency(12));
  EXPECT_THAT(BracketOf(graph, source, selection).bounds[0].assumptions, Contains("warm-caches"));
  selection.cache = CacheState::kColdWeights;
  EXPECT_EQ(BracketOf(graph, source, selection).layers[0].status, LatencyStatus::kMissing);  // a warm row is none
  source.Add(cold, TestEnvironment(1));
  const Bracket bracket = BracketOf(graph, source, selection);
  EXPECT_EQ(bracket.bounds[0].latency, Latency(17));
  EXPECT_EQ(bracket.layers[0].candidate->algorithm, "gemv");
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("cold-weights"));
  EXPECT_THAT(bracket.bounds[0].assumptions, Not(Contains("warm-caches")));
}

TEST(Bracket, RowsThatDidNotRunDoNotCount) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  Measurement failed = MeasuredRow(KeyOfLayer(graph, 0), "crashed", {});
  failed.outcome = Outcome::kFailed;
  failed.reason = "signal 11";
  source.Add(failed, TestEnvironment(1));
  const Bracket bracket = BracketOf(graph, source);
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kMissing);
  EXPECT_EQ(bracket.layers[0].latency, std::nullopt);
  EXPECT_GT(bracket.coverage.missing, 0);
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("unmeasured-layers"));
  EXPECT_EQ(bracket.layers[0].reason, "") << "another run may have it";
}

TEST(Bracket, WhatNoCandidateSupportsIsMissingForThatReason) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  Measurement refused = MeasuredRow(KeyOfLayer(graph, 0), "any", {});
  refused.outcome = Outcome::kUnsupported;
  refused.reason = "onednn has no candidate for it";
  source.Add(refused, TestEnvironment(1));
  const LayerLatency missing = BracketOf(graph, source).layers[0];
  EXPECT_EQ(missing.status, LatencyStatus::kMissing);
  EXPECT_EQ(missing.reason, "onednn has no candidate for it");
  // Of others that were tried or will be, an engine's words are not the library's.
  Measurement engine = MeasuredRow(KeyOfLayer(graph, 0), "jit_dw", {});
  engine.outcome = Outcome::kUnsupported;
  engine.reason = "depthwise only";
  source.Add(engine, TestEnvironment(1));
  EXPECT_EQ(BracketOf(graph, source).layers[0].reason, "");
}

TEST(Bracket, AProductWithoutRowsIsMissingAndAnElementWiseLayerIsEstimated) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  const Bracket bracket = BracketOf(graph, source);
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kMissing);
  EXPECT_GT(bracket.layers[0].floor, Latency(0));
  EXPECT_EQ(bracket.layers[2].status, LatencyStatus::kEstimated);
  EXPECT_NEAR(bracket.layers[2].latency->count(), 640 / 160e9 * 1e6, 1e-9);
  EXPECT_EQ(bracket.bounds[0].latency, *bracket.layers[2].latency);
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("estimated-layers"));
}

// By the floor, which reads the weights, the product is a part of the time; of the arithmetic it is nearly all.
TEST(Bracket, TheCoverageTellsTheShareOfTheFlopsThatHaveNoTimeToo) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  const double product = static_cast<double>(graph.layers[0].work.conventional.value);
  const double relu = static_cast<double>(graph.layers[2].work.conventional.value);
  ASSERT_GT(product, 0);
  const Coverage coverage = BracketOf(graph, source).coverage;
  EXPECT_DOUBLE_EQ(coverage.missing_flops, product / (product + relu));
  EXPECT_DOUBLE_EQ(coverage.Lacking(), std::max(coverage.missing, coverage.missing_flops));
  source.Add(graph.layers[0], "gemm", {10});
  EXPECT_EQ(BracketOf(graph, source).coverage.missing_flops, 0);
}

TEST(Bracket, ARegionWithoutItsOwnRowsIsMissing) {
  ModelGraph graph = SmallModel();
  Region region;
  region.members.push_back({std::get<LayerConfig>(*graph.layers[2].workload), {{RegionOperand::Source::kInput, 0}}});
  PointwiseConfig tanh;
  tanh.kind = PointwiseKind::kTanh;
  tanh.inputs = {Shape{{80}}};
  region.members.push_back({LayerConfig(tanh), {{RegionOperand::Source::kMember, 0}}});
  region.outputs = {1};
  graph.layers[2].workload = region;
  ASSERT_TRUE(Validate(graph).ok());
  KnownRows source;
  EXPECT_EQ(BracketOf(graph, source).layers[2].status, LatencyStatus::kMissing);
  source.Add(graph.layers[2], "fused", {3});
  EXPECT_EQ(*BracketOf(graph, source).layers[2].latency, Latency(3));
}

TEST(Bracket, AMissingDeviceIsAnErrorThatSaysWhatToRun) {
  MemorySource source;
  const Result<Bracket> bracket = ComputeBracket(SmallModel(), source, testing::TestSelection(1));
  ASSERT_FALSE(bracket.ok());
  EXPECT_THAT(bracket.error().message, HasSubstr("no peak rates"));
}

class FailingSource : public MeasurementSource {
 public:
  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey>, const Selection&) override {
    return Error{"the store is gone"};
  }
  Result<DevicePeaks> Peaks(const DeviceKey&) override { return testing::TestPeaks(); }
};

TEST(Bracket, AnErrorOfTheSourceIsPassedOn) {
  FailingSource source;
  const Result<Bracket> bracket = ComputeBracket(SmallModel(), source, testing::TestSelection(1));
  ASSERT_FALSE(bracket.ok());
  EXPECT_EQ(bracket.error().message, "the store is gone");
}

class CountingSource : public KnownRows {
 public:
  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey> keys, const Selection& selection) override {
    ++questions;
    most_keys = std::max(most_keys, keys.size());
    return MemorySource::Find(keys, selection);
  }
  int questions = 0;
  std::size_t most_keys = 0;
};

TEST(Bracket, AsksOnceForAllLayersBodiesIncluded) {
  GraphBuilder body;
  body.Output(body.Unary("inner", PointwiseKind::kTanh, body.Input("state", {80})));
  GraphBuilder model;
  const ValueId y = model.Unary("relu", PointwiseKind::kRelu, model.Input("x", {80}));
  model.Output(model.Loop("loop", y, body.Take(), 3));
  CountingSource source;
  BracketOf(model.graph(), source);
  EXPECT_EQ(source.questions, 1);
  EXPECT_EQ(source.most_keys, 2u);
}

TEST(Bracket, ALoopCountsItsBodyAsOftenAsItSurelyRuns) {
  GraphBuilder body;
  body.Output(body.Unary("inner", PointwiseKind::kTanh, body.Input("state", {80})));
  KnownRows source;
  source.Add(body.graph().layers[0], "a", {2});
  GraphBuilder model;
  model.Output(model.Loop("loop", model.Input("x", {80}), body.Take(), 5));
  const Bracket bracket = BracketOf(model.graph(), source);
  EXPECT_EQ(bracket.bounds[0].latency, Latency(10));
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kMeasured);
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("least-loop-iterations"));
}

TEST(Bracket, AnIfTakesTheCheaperBranch) {
  const auto branch = [](PointwiseKind kind) {
    GraphBuilder body;
    body.Output(body.Unary("inner", kind, body.Captured("x", {80})));
    return body.Take();
  };
  const ModelGraph tanh = branch(PointwiseKind::kTanh), exp = branch(PointwiseKind::kExponential);
  KnownRows source;
  source.Add(tanh.layers[0], "a", {7});
  source.Add(exp.layers[0], "a", {4});
  GraphBuilder model;
  model.Input("x", {80});
  model.Output(model.If("if", model.Input("c", {1}, DataType::kBool), branch(PointwiseKind::kTanh),
                        branch(PointwiseKind::kExponential)));
  ASSERT_TRUE(Validate(model.graph()).ok()) << Validate(model.graph()).error().message;
  const Bracket bracket = BracketOf(model.graph(), source);
  EXPECT_EQ(bracket.bounds[0].latency, Latency(4));
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("if-cheaper-branch"));
}

TEST(Bracket, ALoopWithAMissingPartIsMissingButItsKnownPartCounts) {
  GraphBuilder body;
  const ValueId h = body.Unary("inner", PointwiseKind::kTanh, body.Input("state", {8, 10}));
  body.Output(body.MatMul("fc", h, body.Weight("w", {10, 10})));
  KnownRows source;
  source.Add(body.graph().layers[0], "a", {2});
  const double tanh = static_cast<double>(body.graph().layers[0].work.conventional.value);
  const double product = static_cast<double>(body.graph().layers[1].work.conventional.value);
  GraphBuilder model;
  model.Output(model.Loop("loop", model.Input("x", {8, 10}), body.Take(), 2));
  const Bracket bracket = BracketOf(model.graph(), source);
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kMissing);
  EXPECT_EQ(bracket.layers[0].latency, std::nullopt);
  EXPECT_EQ(bracket.bounds[0].latency, Latency(4));
  EXPECT_GT(bracket.coverage.missing, 0);
  EXPECT_GT(bracket.coverage.measured, 0);
  EXPECT_DOUBLE_EQ(bracket.coverage.missing_flops, product / (product + tanh));
}

TEST(Bracket, AnEmptyModelIsAllFree) {
  KnownRows source;
  const Bracket bracket = BracketOf(ModelGraph{}, source);
  EXPECT_EQ(bracket.bounds[0].latency, Latency(0));
  EXPECT_EQ(bracket.coverage.free, 1);
}

TEST(Bracket, TheContractIsThatOfMostWork) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  EXPECT_EQ(BracketOf(graph, source).contract, NumericContract::kStrictF32);
  Selection selection = testing::TestSelection(1);
  selection.contract = NumericContract::kBf16;
  EXPECT_EQ(BracketOf(graph, source, selection).contract, NumericContract::kBf16);
}

// Parts of 12, 6 and 2 us of a program that took 30: each half as long again.
TEST(ShownLoss, PartsAddUpToRHoweverTheyWereTimed) {
  const ModelGraph graph = SmallModel();
  KnownRows source;
  source.Add(graph.layers[0], "gemm", {10, 10});
  source.Add(graph.layers[2], "relu", {2, 2});
  const Bracket bracket = BracketOf(graph, source);
  const auto part = [](std::vector<std::string> nodes, double us) {
    ProfiledLayer layer;
    layer.nodes = std::move(nodes);
    layer.samples = {Latency(us)};
    return layer;
  };
  RunProfile replay;
  replay.layers = {part({"fc"}, 12), part({"relu"}, 6), part({}, 2)};
  const ShownLoss loss = FindShownLoss(graph, bracket, replay, Latency(30));
  EXPECT_NEAR(loss.weights.count(), 18 - 10, 1e-9);
  EXPECT_NEAR(loss.others.count(), 9 - 2, 1e-9);
  EXPECT_NEAR(loss.reorders.count(), 3, 1e-9);
  EXPECT_NEAR((loss.weights + loss.others + loss.reorders).count(), 30 - bracket.BestKnown()->latency.count(), 1e-9);
}

}  // namespace
}  // namespace infimum::bracket_test
