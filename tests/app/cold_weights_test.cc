#include "src/app/runners/cold_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"
#include "tests/support/random_graph.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;
using testing::MeasuredRow;
using testing::TestEnvironment;

// x -> fc -> relu -> y, and fc once more.
ModelGraph Model() {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {8, 8}), model.Weight("w", {8, 8}));
  const ValueId z = model.Unary("relu", PointwiseKind::kRelu, y);
  model.Output(model.MatMul("again", z, model.Weight("v", {8, 8})));
  return model.Take();
}

TEST(ColdWeights, AreOfTheBestCandidatesOfWhatHasConstants) {
  const ModelGraph graph = Model();
  MemorySource source;
  source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  const WorkloadKey product = KeyOf(*graph.layers[0].workload);
  source.Add(MeasuredRow(product, "best", {Latency(10), Latency(10.1)}), TestEnvironment(1));
  source.Add(MeasuredRow(product, "as-good", {Latency(10.01), Latency(10.1)}), TestEnvironment(1));
  source.Add(MeasuredRow(product, "slow", {Latency(30), Latency(31)}), TestEnvironment(1));
  source.Add(MeasuredRow(KeyOf(*graph.layers[1].workload), "relu", {Latency(1)}), TestEnvironment(1));
  const Result<Bracket> bracket = ComputeBracket(graph, source, testing::TestSelection(1));
  ASSERT_TRUE(bracket.ok()) << bracket.error().message;
  const std::vector<ColdWeightsEntry> entries = ColdWeightsEntries(graph, *bracket);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(KeyOf(entries[0].entry.workload), product);
  EXPECT_EQ(entries[0].entry.contract, NumericContract::kStrictF32);
  const std::string library = bracket->layers[0].candidate->library;
  EXPECT_THAT(entries[0].candidates, ElementsAre(library + "/as-good", library + "/best"));
}

TEST(ColdWeights, AreOfNothingWhereNothingWasMeasured) {
  const ModelGraph graph = Model();
  MemorySource source;
  source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  const Result<Bracket> bracket = ComputeBracket(graph, source, testing::TestSelection(1));
  ASSERT_TRUE(bracket.ok());
  EXPECT_TRUE(ColdWeightsEntries(graph, *bracket).empty());
}

}  // namespace
}  // namespace infimum
