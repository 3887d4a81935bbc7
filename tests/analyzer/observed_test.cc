#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/alignment/align_run.h"
#include "analyzer/bracket/bracket.h"
#include "tests/support/graph_builder.h"
#include "tests/support/random_graph.h"

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
  ProfiledLayer fused;
  fused.name = "fused fc";
  fused.op = "FusedMatMul";
  fused.inputs = {"x"};
  fused.outputs = {"relu_out"};
  fused.samples = {Latency(6), Latency(7), Latency(8)};
  ProfiledLayer tanh;
  tanh.name = "tanh";
  tanh.op = "Tanh";
  tanh.inputs = {"relu_out"};
  tanh.outputs = {"tanh_out"};
  tanh.samples = {Latency(3), Latency(3), Latency(3)};
  made.run.layers = {fused, tanh};
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
  MemorySource source;
  const double times[] = {6, 4, 2.5};
  for (std::size_t i = 0; i < 3; ++i)
    source.Add(testing::MeasuredRow(KeyOf(*made.graph.layers[i].workload), "own", {Latency(times[i])}),
               testing::TestEnvironment(1));
  source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  const Bracket without = *ComputeBracket(made.graph, source, testing::TestSelection(1));
  EXPECT_EQ(without.Find(BoundVariant::kFusedSequential)->latency, Latency(12.5));
  BracketOptions options;
  options.observed = ObservedIn(made.graph, made.run);
  const Bracket with = *ComputeBracket(made.graph, source, testing::TestSelection(1), options);
  EXPECT_EQ(with.Find(BoundVariant::kSequential)->latency, Latency(12.5));
  EXPECT_EQ(with.Find(BoundVariant::kFusedSequential)->latency, Latency(9.5));
  ASSERT_THAT(with.regions, SizeIs(1));
  EXPECT_EQ(with.regions[0].rule, "observed");
  EXPECT_TRUE(with.regions[0].is_chosen);
  EXPECT_EQ(with.layers[2].candidate->library, "test");
}

TEST(Observed, FillsALayerThatNobodyElseMeasured) {
  Observed made = Make();
  MemorySource source;
  source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  BracketOptions options;
  options.observed = ObservedIn(made.graph, made.run);
  const Bracket bracket = *ComputeBracket(made.graph, source, testing::TestSelection(1), options);
  EXPECT_EQ(bracket.layers[2].status, LatencyStatus::kMeasured);
  EXPECT_EQ(bracket.layers[2].candidate->name(), "observed/engine-2.1");
}

}  // namespace
}  // namespace infimum::observed_test
