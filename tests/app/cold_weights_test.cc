#include "src/app/runners/cold_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infimum/base/text.h"
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

// "again" has more to gain than "fc": 30 us against 20 of the best; of each the candidate of least warm time that may
// lose nothing, until it was measured.
TEST(ColdWeights, RivalsWouldBeBetterIfTheyLostNothing) {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {8, 8}), model.Weight("w", {8, 16}));
  model.Output(model.MatMul("again", y, model.Weight("v", {16, 8})));
  const ModelGraph graph = model.Take();
  const Environment environment = TestEnvironment(1);
  MemorySource source;
  std::vector<ColdWeightsEntry> chosen;
  const auto add = [&](std::size_t layer, double time, const std::string& warm, const std::string& cold) {
    const WorkloadKey key = KeyOf(*graph.layers[layer].workload);
    const auto add_rows = [&](const std::string& texts, CacheState cache) {
      for (const std::string_view text : Split(texts, ',')) {
        const std::size_t space = text.find(' ');
        Measurement row = MeasuredRow(key, std::string(text.substr(0, space)),
                                      {Latency(std::stod(std::string(text.substr(space + 1))))});
        row.cache = cache;
        source.Add(row, environment);
      }
    };
    add_rows(warm, CacheState::kWarm);
    add_rows(cold, CacheState::kColdWeights);
    ColdWeightsEntry entry;
    entry.entry.workload = *graph.layers[layer].workload;
    entry.time = Latency(time);
    entry.uses = 1;
    chosen.push_back(entry);
  };
  const Selection selection = testing::TestSelection(1);
  const auto rivals = [&] {
    std::vector<std::string> names;
    const Result<std::vector<ColdWeightsEntry>> found = ColdRivals(chosen, source, selection);
    EXPECT_TRUE(found.ok());
    for (const ColdWeightsEntry& one : *found) names.insert(names.end(), one.candidates.begin(), one.candidates.end());
    return names;
  };
  add(0, 100, "best 60,second 80,third 90,slow 99", "best 100");
  add(1, 100, "best 60,second 70,slow 120", "best 100");
  const std::string library = MeasuredRow(KeyOf(*graph.layers[0].workload), "any", {Latency(1)}).candidate.library;
  EXPECT_THAT(rivals(), ElementsAre(library + "/second", library + "/second"));
  const auto measured = [&](std::size_t layer, const std::string& name) {
    Measurement row = MeasuredRow(KeyOf(*graph.layers[layer].workload), name, {Latency(110)});
    row.cache = CacheState::kColdWeights;
    source.Add(row, environment);
  };
  measured(0, "second");
  EXPECT_THAT(rivals(), ElementsAre(library + "/second", library + "/third"));  // "again" first
  measured(1, "second");
  measured(0, "third");
  EXPECT_THAT(rivals(), ElementsAre()) << "99 us is not clearly less than 100";
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
