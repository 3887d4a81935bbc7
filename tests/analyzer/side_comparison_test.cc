// Sides whose times are known, so that every total, verdict and rank change is too.
#include "analyzer/sides/side_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace infimum::side_comparison_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kThreshold = 0.05;

SideTime Time(double microseconds, double relative_half_width = 0.01) {
  return {Latency(microseconds), Interval{Latency(microseconds * (1 - relative_half_width)),
                                          Latency(microseconds * (1 + relative_half_width))}};
}

SideTime OneNumber(double microseconds) { return {Latency(microseconds), std::nullopt}; }

SideLayer Layer(const std::string& name, const std::string& family, const SideTime& time) {
  return {name, family, family + " " + name.substr(0, name.find('.')), time};
}

// The example of the header: two convolutions alike, two activations alike, a softmax that the third lacks.
ModelSides Example() {
  ModelSides model{"net", {}};
  for (const auto& [conv, relu, softmax] : {std::tuple(1000.0, 50.0, 20.0), {200.0, 10.0, 4.0}, {300.0, 60.0, -1.0}}) {
    SideModel side;
    for (const char* copy : {".1", ".2"}) {
      side.layers.push_back(Layer(std::string("conv") + copy, "convolution", Time(conv)));
      side.layers.push_back(Layer(std::string("relu") + copy, "pointwise", Time(relu)));
    }
    side.layers.push_back(Layer("softmax", "softmax", softmax < 0 ? SideTime{} : Time(softmax)));
    model.sides.push_back(std::move(side));
  }
  return model;
}

const SetLayer& Find(const SideComparison& comparison, const std::string& config) {
  return *std::ranges::find(comparison.layers, config, &SetLayer::config);
}

TEST(SideComparison, TotalsAreOfTheLayersThatEverySideKnows) {
  const SideComparison comparison = CompareSides({{Example()}}, kThreshold);
  ASSERT_THAT(comparison.models, SizeIs(1));
  const ModelTotal& model = comparison.models.front();
  EXPECT_EQ(model.layers, 5u);
  EXPECT_EQ(model.common, 4u);
  EXPECT_THAT(model.unknown, ElementsAre(0, 0, 1));
  EXPECT_DOUBLE_EQ(model.times[0].latency->count(), 2100);
  EXPECT_DOUBLE_EQ(model.times[1].latency->count(), 420);
  EXPECT_DOUBLE_EQ(model.times[2].latency->count(), 720);
  EXPECT_DOUBLE_EQ(model.shares[0], 2100.0 / 2120);
  EXPECT_DOUBLE_EQ(model.shares[2], 1);
  EXPECT_DOUBLE_EQ(model.differences[1]->ratio, 0.2);
  EXPECT_EQ(model.differences[1]->verdict, Verdict::kFaster);
  EXPECT_FALSE(model.differences[0]);
  EXPECT_THAT(comparison.order, ElementsAre(1, 2, 0));
  // The layer that one side lacks is still there, held against where both know it.
  const SetLayer& softmax = Find(comparison, "softmax softmax");
  EXPECT_FALSE(softmax.is_common);
  EXPECT_DOUBLE_EQ(softmax.differences[1]->ratio, 0.2);
  EXPECT_FALSE(softmax.differences[2]);
}

TEST(SideComparison, LayersOfOneConfigurationCountOnceWithAllTheirUses) {
  const ModelSides models[] = {Example(), Example()};
  const SideComparison comparison = CompareSides(models, kThreshold);
  EXPECT_THAT(comparison.layers, SizeIs(3));
  EXPECT_THAT(Find(comparison, "convolution conv").uses, SizeIs(4));
  // What takes the longest over all its uses stands first.
  EXPECT_EQ(comparison.layers.front().config, "convolution conv");
}

TEST(SideComparison, OneConfigurationWithOtherTimesInAnotherModelIsAnotherLayer) {
  ModelSides other = Example();
  for (SideLayer& layer : other.sides[1].layers) layer.time = Time(500);
  const ModelSides models[] = {Example(), other};
  const SideComparison comparison = CompareSides(models, kThreshold);
  EXPECT_THAT(comparison.layers, SizeIs(6));
  EXPECT_DOUBLE_EQ(comparison.models[0].times[1].latency->count(), 420);
  EXPECT_DOUBLE_EQ(comparison.models[1].times[1].latency->count(), 2000);
}

TEST(SideComparison, RegressionsCostWhatTheyTakeLongerOverAllUses) {
  const SideComparison comparison = CompareSides({{Example()}}, kThreshold);
  ASSERT_THAT(comparison.regressions, SizeIs(1));
  const LayerDifference& relu = comparison.regressions.front();
  EXPECT_EQ(comparison.layers[relu.layer].config, "pointwise relu");
  EXPECT_EQ(relu.side, 2u);
  EXPECT_DOUBLE_EQ(relu.cost.count(), 20);
  EXPECT_DOUBLE_EQ(relu.share, 20.0 / 2120);
  ASSERT_THAT(comparison.gains, SizeIs(4));
  EXPECT_DOUBLE_EQ(comparison.gains.front().cost.count(), -1600);
}

// An engine's own work that only one run has is a cost like another, and no layer of the model.
TEST(SideComparison, WhatTakesNothingOnOneSideIsACostOnTheOther) {
  ModelSides model{"net", {}};
  for (const double reorders : {0.0, 30.0}) {
    SideModel side;
    side.layers = {Layer("conv", "convolution", Time(100)),
                   {"only in the engine", "only in the engine", "", OneNumber(reorders), false}};
    model.sides.push_back(std::move(side));
  }
  SideComparison comparison = CompareSides({{model}}, kThreshold);
  ASSERT_THAT(comparison.regressions, SizeIs(1));
  const LayerDifference& entry = comparison.regressions.front();
  EXPECT_DOUBLE_EQ(entry.cost.count(), 30);
  EXPECT_FALSE(comparison.layers[entry.layer].differences[1]) << "there is no ratio to nothing";
  EXPECT_FALSE(comparison.layers[entry.layer].is_of_model);
  EXPECT_THAT(comparison.gains, IsEmpty());
  std::swap(model.sides[0], model.sides[1]);
  comparison = CompareSides({{model}}, kThreshold);
  EXPECT_THAT(comparison.regressions, IsEmpty());
  ASSERT_THAT(comparison.gains, SizeIs(1));
  EXPECT_DOUBLE_EQ(comparison.gains.front().cost.count(), -30);
  model.sides[1].layers[1].time.is_estimated = true;
  EXPECT_THAT(CompareSides({{model}}, kThreshold).gains, IsEmpty());
}

TEST(SideComparison, ASideThatIsFasterInAllAndSlowerInAClassIsARankChange) {
  const SideComparison comparison = CompareSides({{Example()}}, kThreshold);
  ASSERT_THAT(comparison.rank_changes, SizeIs(1));
  const RankChange& change = comparison.rank_changes.front();
  EXPECT_EQ(change.faster, 2u);
  EXPECT_EQ(change.slower, 0u);
  EXPECT_DOUBLE_EQ(change.overall, 720.0 / 2100);
  EXPECT_FALSE(change.is_model);
  EXPECT_EQ(change.name, "pointwise");
  EXPECT_TRUE(change.is_whole);
  EXPECT_EQ(change.layers, 2u);
  EXPECT_DOUBLE_EQ(change.lost.count(), 20);
}

// One model of convolutions, one of activations: the second orders the devices the other way around.
TEST(SideComparison, AModelThatOrdersTheSidesOtherwiseNamesTheClassThatCausesIt) {
  ModelSides convolutions{"convolutions", {}}, activations{"activations", {}};
  for (const auto& [conv, relu, pool] : {std::tuple(1000.0, 50.0, 10.0), {200.0, 60.0, 10.0}}) {
    convolutions.sides.push_back({.layers = {Layer("conv", "convolution", Time(conv))},
                                  .end_to_end = {},
                                  .whole = {},
                                  .sequential = {},
                                  .fused = {}});
    activations.sides.push_back(
        {.layers = {Layer("relu", "pointwise", Time(relu)), Layer("pool", "pooling", Time(pool))},
         .end_to_end = {},
         .whole = {},
         .sequential = {},
         .fused = {}});
  }
  const ModelSides models[] = {convolutions, activations};
  const SideComparison comparison = CompareSides(models, kThreshold);
  // The geometric mean of 0.2 and 70 / 60.
  EXPECT_NEAR(comparison.means[1]->ratio, std::sqrt(0.2 * 70 / 60), 1e-12);
  EXPECT_EQ(comparison.means[1]->verdict, Verdict::kFaster);
  EXPECT_THAT(comparison.order, ElementsAre(1, 0));
  ASSERT_THAT(comparison.rank_changes, SizeIs(2));
  EXPECT_TRUE(comparison.rank_changes[0].is_model);
  EXPECT_EQ(comparison.rank_changes[0].name, "activations");
  EXPECT_EQ(comparison.rank_changes[0].cause, "pointwise");
  EXPECT_DOUBLE_EQ(comparison.rank_changes[0].lost.count(), 10);
  EXPECT_EQ(comparison.rank_changes[1].name, "pointwise");
}

TEST(DifferenceOf, IsDecidedOnlyWhereTheIntervalsAre) {
  const auto verdict = [](const SideTime& a, const SideTime& b) { return DifferenceOf(a, b, kThreshold)->verdict; };
  EXPECT_EQ(verdict(Time(120), Time(100)), Verdict::kSlower);
  EXPECT_EQ(verdict(Time(80), Time(100)), Verdict::kFaster);
  EXPECT_EQ(verdict(Time(101), Time(100)), Verdict::kSame);
  EXPECT_EQ(verdict(Time(107, 0.03), Time(100, 0.03)), Verdict::kUndecided);
  const std::optional<Difference> difference = DifferenceOf(Time(120), Time(100), kThreshold);
  EXPECT_DOUBLE_EQ(difference->between.low, 120 * 0.99 / 101);
  EXPECT_DOUBLE_EQ(difference->between.high, 120 * 1.01 / 99);
  EXPECT_TRUE(difference->is_spread_known);
}

TEST(DifferenceOf, TimesOfOneNumberAreHeldAgainstTheThresholdAlone) {
  const std::optional<Difference> within = DifferenceOf(OneNumber(104), OneNumber(100), kThreshold);
  EXPECT_EQ(within->verdict, Verdict::kSame);
  EXPECT_FALSE(within->is_spread_known);
  EXPECT_EQ(DifferenceOf(OneNumber(106), OneNumber(100), kThreshold)->verdict, Verdict::kSlower);
  EXPECT_FALSE(DifferenceOf(OneNumber(106), Time(100), kThreshold)->is_spread_known);
}

TEST(DifferenceOf, NothingIsDecidedByAnEstimate) {
  SideTime estimated = OneNumber(10);
  estimated.is_estimated = true;
  EXPECT_EQ(DifferenceOf(estimated, OneNumber(100), kThreshold)->verdict, Verdict::kUndecided);
  EXPECT_FALSE(DifferenceOf(SideTime{}, OneNumber(100), kThreshold));
  EXPECT_FALSE(DifferenceOf(OneNumber(0), OneNumber(100), kThreshold));
}

TEST(SideComparison, SumsOfLayersWithoutASpreadHaveNone) {
  ModelSides model{"net", {}};
  for (const double factor : {1.0, 1.2}) {
    SideModel side;
    side.layers = {Layer("a", "convolution", OneNumber(100 * factor)), Layer("b", "pointwise", Time(10 * factor))};
    model.sides.push_back(std::move(side));
  }
  const SideComparison comparison = CompareSides({{model}}, kThreshold);
  EXPECT_FALSE(comparison.models.front().times[1].interval);
  EXPECT_FALSE(comparison.means[1]->is_spread_known);
  EXPECT_EQ(comparison.means[1]->verdict, Verdict::kSlower);
}

// Errors of one configuration count with all its uses, those of different ones add in squares.
TEST(SideComparison, TheIntervalOfASumIsThatOfIndependentErrors) {
  const SideComparison comparison = CompareSides({{Example()}}, kThreshold);
  const SideTime& total = comparison.models.front().times[0];
  const double half = std::sqrt(20.0 * 20 + 1.0 * 1);  // 2 x 10 of the convolution, 2 x 0.5 of the activation
  ASSERT_TRUE(total.interval);
  EXPECT_NEAR(total.interval->low.count(), 2100 - half, 1e-9);
  EXPECT_NEAR(total.interval->high.count(), 2100 + half, 1e-9);
}

// Samples of a busy machine lie far above a median and not below it: that makes no sum faster than its parts.
TEST(SideComparison, ASkewedSpreadStaysOnItsSide) {
  ModelSides model{"net", {}};
  for (const double high : {300.0, 101.0}) {
    SideModel side;
    for (const char* name : {"a", "b"})
      side.layers.push_back(Layer(name, "convolution", {Latency(100), Interval{Latency(99), Latency(high)}}));
    model.sides.push_back(std::move(side));
  }
  const SideComparison comparison = CompareSides({{model}}, kThreshold);
  const SideTime& total = comparison.models.front().times[0];
  EXPECT_NEAR(total.interval->low.count(), 200 - std::sqrt(2), 1e-9);
  EXPECT_NEAR(total.interval->high.count(), 200 + std::sqrt(2) * 200, 1e-9);
  EXPECT_EQ(comparison.means[1]->verdict, Verdict::kUndecided);
}

TEST(SideComparison, ARunIsJudgedByItsOwnRepetitions) {
  const auto run = [](std::vector<double> medians) {
    SideModel side;
    side.layers = {Layer("conv", "convolution", Time(10))};
    for (const double median : medians) side.end_to_end.push_back(Summarize({{Latency(median)}}));
    return side;
  };
  const ModelSides model{"net", {run({100, 101, 102}), run({120, 121, 122}), run({100, 130, 160})}};
  const SideComparison comparison = CompareSides({{model}}, kThreshold);
  const ModelTotal& total = comparison.models.front();
  EXPECT_DOUBLE_EQ(total.times[1].latency->count(), std::cbrt(120.0 * 121 * 122));
  EXPECT_EQ(total.differences[1]->verdict, Verdict::kSlower);
  EXPECT_TRUE(total.differences[1]->is_spread_known);
  EXPECT_EQ(total.differences[2]->verdict, Verdict::kUndecided);
}

TEST(SideComparison, SidesWithoutALayerInCommonHaveNoMean) {
  ModelSides model{"net", {}};
  for (const char* name : {"a", "b"}) {
    SideModel side;
    side.layers = {Layer(name, "convolution", Time(10))};
    model.sides.push_back(std::move(side));
  }
  const SideComparison comparison = CompareSides({{model}}, kThreshold);
  EXPECT_EQ(comparison.models.front().common, 0u);
  EXPECT_FALSE(comparison.means[1]);
  EXPECT_THAT(comparison.regressions, IsEmpty());
  EXPECT_THAT(comparison.rank_changes, IsEmpty());
}

TEST(JoinRows, TakesTheFewestLayersThatEachRunTimesWhole) {
  ModelGraph graph;
  graph.layers.resize(4);
  const auto row = [](std::vector<std::size_t> layers, double time) {
    ComparedRow compared;
    for (const std::size_t layer : layers) compared.layers.emplace_back(layer);
    if (time > 0) compared.measured = Latency(time);
    return compared;
  };
  const std::vector<ComparedRow> fused = {row({0, 1}, 5), row({2}, 1), row({}, 9), row({3}, 0)};
  const std::vector<ComparedRow> apart = {row({0}, 3), row({1}, 1), row({2}, 2), row({3}, 4)};
  const std::vector<ComparedRow>* const runs[] = {&fused, &apart};
  const std::vector<JointRow> rows = JoinRows(graph, runs);
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_THAT(rows[0].layers, ElementsAre(LayerId(0), LayerId(1)));
  EXPECT_THAT(rows[0].rows, ElementsAre(ElementsAre(0), ElementsAre(0, 1)));
  EXPECT_THAT(rows[1].rows, ElementsAre(ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(rows[2].rows, ElementsAre(IsEmpty(), ElementsAre(3)));
}

}  // namespace
}  // namespace infimum::side_comparison_test
