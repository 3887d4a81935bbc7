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
  const ColdWeightsPlan plan = PlanColdWeights(graph, *bracket);
  ASSERT_EQ(plan.chosen.size(), 1U);
  EXPECT_EQ(KeyOf(plan.chosen[0].entry.workload), product);
  EXPECT_EQ(plan.chosen[0].entry.contract, NumericContract::kStrictF32);
  const std::string library = bracket->layers[0].candidate->library;
  EXPECT_THAT(plan.chosen[0].candidates, ElementsAre(library + "/best"));
}

TEST(ColdWeights, ThoseOfMostWeightsComeFirst) {
  testing::GraphBuilder model;
  ValueId last = model.Input("x", {8, 8});
  const std::vector<std::int64_t> widths{8, 16, 64, 32};
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const std::string name = std::to_string(i);
    last = model.MatMul("fc" + name, last, model.Weight("w" + name, {widths[i - 1], widths[i]}));
  }
  model.Output(last);
  const ModelGraph graph = model.Take();
  MemorySource source;
  source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  for (const Layer& layer : graph.layers)
    source.Add(MeasuredRow(KeyOf(*layer.workload), "only", {Latency(10)}), TestEnvironment(1));
  const Result<Bracket> bracket = ComputeBracket(graph, source, testing::TestSelection(1));
  ASSERT_TRUE(bracket.ok()) << bracket.error().message;
  std::vector<std::string> texts;
  for (const ColdWeightsEntry& entry : PlanColdWeights(graph, *bracket).chosen)
    texts.push_back(KeyOf(entry.entry.workload).text);
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[0], KeyOf(*graph.layers[2].workload).text);  // 64 x 32, then 16 x 64 and 8 x 16
  EXPECT_EQ(texts[2], KeyOf(*graph.layers[0].workload).text);
}

TEST(ColdWeights, AreOfNothingWhereNothingWasMeasured) {
  const ModelGraph graph = Model();
  MemorySource source;
  source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  const Result<Bracket> bracket = ComputeBracket(graph, source, testing::TestSelection(1));
  ASSERT_TRUE(bracket.ok());
  EXPECT_TRUE(PlanColdWeights(graph, *bracket).chosen.empty());
}

}  // namespace
}  // namespace infimum
