#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/alignment/align_run.h"
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

TEST(Observed, EntersABoundOnlyWhenAskedAndOnlyWhereItIsFaster) {
  Observed made = Make();
  testing::KnownRows source;
  const double times[] = {6, 4, 2.5};
  for (std::size_t i = 0; i < 3; ++i) source.Add(made.graph.layers[i], "own", {times[i]});
  const Bracket without = testing::BracketOf(made.graph, source);
  EXPECT_EQ(without.Find(BoundVariant::kFusedSequential)->latency, Latency(12.5));
  BracketOptions options;
  options.observed = ObservedIn(made.graph, made.run);
  const Bracket with = testing::BracketOf(made.graph, source, testing::TestSelection(1), options);
  EXPECT_EQ(with.Find(BoundVariant::kSequential)->latency, Latency(12.5));
  EXPECT_EQ(with.Find(BoundVariant::kFusedSequential)->latency, Latency(9.5));
  ASSERT_THAT(with.regions, SizeIs(1));
  EXPECT_EQ(with.regions[0].rule, "observed");
  EXPECT_TRUE(with.regions[0].is_chosen);
  EXPECT_EQ(with.layers[2].candidate->library, "test");
}

TEST(Observed, FillsALayerThatNobodyElseMeasured) {
  Observed made = Make();
  testing::KnownRows source;
  BracketOptions options;
  options.observed = ObservedIn(made.graph, made.run);
  const Bracket bracket = testing::BracketOf(made.graph, source, testing::TestSelection(1), options);
  EXPECT_EQ(bracket.layers[2].status, LatencyStatus::kMeasured);
  EXPECT_EQ(bracket.layers[2].candidate->name(), "observed/engine-2.1");
}

}  // namespace
}  // namespace infimum::observed_test
