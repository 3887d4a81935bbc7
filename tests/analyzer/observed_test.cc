#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/alignment/align_run.h"
#include "analyzer/rows/workload_candidates.h"
#include "tests/analyzer/built_run.h"

namespace infimum::observed_test {
namespace {

using ::testing::SizeIs;
using Builder = testing::GraphBuilder;

// fc -> relu -> tanh; the engine runs fc and relu as one.
struct Observed {
  ModelGraph graph;
  RunProfile run;
};

Observed Make() {
  Observed made;
  Builder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {8, 16}), model.Weight("w", {16, 32}));
  model.Output(model.Unary("tanh", PointwiseKind::kTanh, model.Unary("relu", PointwiseKind::kRelu, y)));
  made.graph = model.Take();
  made.run.framework = "engine";
  made.run.framework_version = "2.1";
  made.run.layers = {testing::Ran("fused fc", "FusedMatMul", {"x"}, {"relu_out"}, 0),
                     testing::Ran("tanh", "Tanh", {"relu_out"}, {"tanh_out"}, 3)};
  made.run.layers[0].samples = {Latency(6), Latency(7), Latency(8)};
  return made;
}

TEST(Observed, EachRowOfTheRunIsACandidateForItsLayers) {
  const Observed made = Make();
  const std::vector<ObservedNode> nodes = ObservedIn(made.graph, made.run);
  ASSERT_THAT(nodes, SizeIs(2));
  EXPECT_EQ(nodes[0].layers, (std::vector<LayerId>{LayerId(0), LayerId(1)}));
  EXPECT_EQ(nodes[0].latency, Latency(7));
  EXPECT_EQ(nodes[0].candidate.name(), "observed/engine-2.1");
  EXPECT_EQ(nodes[1].layers, (std::vector<LayerId>{LayerId(2)}));
}

// 6 + 4 + 2.5 by candidates that a replay can run.
void AddOwn(const ModelGraph& graph, testing::KnownRows& source) {
  const double times[] = {6, 4, 2.5};
  for (std::size_t i = 0; i < 3; ++i) source.Add(graph.layers[i], "own", {times[i]});
}

TEST(Observed, ARunsLayersEnterABoundOfTheirOwnWhereTheyAreFaster) {
  Observed made = Make();
  testing::KnownRows source;
  AddOwn(made.graph, source);
  const Bracket without = testing::BracketOf(made.graph, source);
  EXPECT_EQ(without.Find(BoundVariant::kBestKnownOrObserved), nullptr);
  BracketOptions options;
  options.observed = ObservedIn(made.graph, made.run);
  Bracket with = testing::BracketOf(made.graph, source, testing::TestSelection(1), options);
  EXPECT_EQ(with.Find(BoundVariant::kFusedSequential)->latency, Latency(12.5));
  EXPECT_EQ(with.BestKnown()->latency, Latency(12.5));
  const Bound* observed = with.Find(BoundVariant::kBestKnownOrObserved);
  ASSERT_NE(observed, nullptr);
  EXPECT_EQ(observed->latency, Latency(9.5));
  EXPECT_EQ(observed->assumptions.back(), "observed-candidates");
  EXPECT_TRUE(with.regions.empty());
  ASSERT_THAT(with.observed, SizeIs(1));
  EXPECT_EQ(with.observed[0].layers, (std::vector<LayerId>{LayerId(0), LayerId(1)}));
  EXPECT_EQ(with.observed[0].known, Latency(10));
  EXPECT_EQ(with.layers[2].candidate->library, "test");
  // What a framework was seen to run cannot contradict a run.
  AddUpperLimit({"engine 2.1", Latency(9), {Latency(9), Latency(9)}}, with);
  for (const Inversion& inversion : with.inversions) EXPECT_NE(inversion.bound, "best-known-or-observed");
}

// As `infimum measure --by-bricks` keeps it.
void AddObserved(const Layer& layer, const std::string& framework, double time, testing::KnownRows& source) {
  Measurement row = testing::MeasuredRow(KeyOf(*layer.workload), framework, {Latency(time)});
  row.candidate.library = kObservedLibrary;
  row.contract = NativeContract(*layer.workload);
  source.Add(std::move(row), {{{framework, "1"}}, 1});
}

TEST(Observed, FillsALayerThatNobodyElseMeasuredInThatBoundAlone) {
  Observed made = Make();
  testing::KnownRows source;
  AddObserved(made.graph.layers[0], "openvino-2026.4", 7, source);
  const Bracket bracket = testing::BracketOf(made.graph, source);
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kMissing);
  ASSERT_THAT(bracket.observed, SizeIs(1));
  EXPECT_EQ(bracket.observed[0].known, std::nullopt);
  EXPECT_DOUBLE_EQ(bracket.Find(BoundVariant::kBestKnownOrObserved)->latency.count(),
                   bracket.Find(BoundVariant::kFusedSequential)->latency.count() + 7);
}

TEST(Observed, RowsOfFrameworksCountInThatBoundAlone) {
  Observed made = Make();
  testing::KnownRows source;
  AddOwn(made.graph, source);
  AddObserved(made.graph.layers[0], "openvino-2026.4", 1, source);
  AddObserved(made.graph.layers[1], "onnxruntime-1.31", 5, source);
  const Bracket bracket = testing::BracketOf(made.graph, source);
  EXPECT_EQ(bracket.Find(BoundVariant::kSequential)->latency, Latency(12.5));
  EXPECT_EQ(bracket.Find(BoundVariant::kFusedSequential)->latency, Latency(12.5));
  EXPECT_EQ(bracket.Find(BoundVariant::kBestKnownOrObserved)->latency, Latency(1 + 4 + 2.5));
  EXPECT_EQ(bracket.layers[0].candidate->library, "test");
  // The evidence shows them; none of them is the best.
  Result<CandidatesOfModel> candidates = CandidatesOf(made.graph, source, testing::TestSelection(1));
  ASSERT_TRUE(candidates.ok());
  for (const WorkloadCandidates& one : candidates->workloads)
    EXPECT_FALSE(one.candidates.at(*one.best).row.candidate.is_observed());
  EXPECT_TRUE(std::ranges::any_of(candidates->workloads, [](const WorkloadCandidates& one) {
    return one.candidates.front().row.candidate.is_observed();
  }));
}

}  // namespace
}  // namespace infimum::observed_test
