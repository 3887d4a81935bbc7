#include "infimum/reports/comparison.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/reports/sample_report.h"

namespace infimum {
namespace {

ReportLayer MakeLayer(const std::string& name, const std::string& family, double us, std::int64_t flops) {
  ReportLayer layer;
  layer.name = name;
  layer.family = family;
  layer.status = RowStatus::kMeasured;
  layer.latency = Latency(us);
  layer.flops = Flops{flops};
  return layer;
}

ReportModel ThreeLayers() {
  ReportModel report;
  report.layers = {MakeLayer("Conv_0", "convolution", 1000, 100), MakeLayer("Relu_1", "pointwise", 200, 10),
                   MakeLayer("Gemm_2", "matmul", 300, 50)};
  report.run.emplace();
  report.run->latency = Latency(2100);
  return report;
}

TEST(Comparison, FusedLayersStandInOneRowWithTheSumOfTheirBounds) {
  ReportModel report = ThreeLayers();
  report.run->rows = {{{0, 1}, {"fused Conv_0"}, Latency(1500)}, {{}, {"Reorder"}, Latency(50)}};
  std::vector<ComparisonRow> rows = ComparisonRows(report);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].layers, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(rows[0].family, "convolution");
  EXPECT_DOUBLE_EQ(rows[0].bound->count(), 1200);
  EXPECT_DOUBLE_EQ(rows[0].gap()->count(), 300);
  EXPECT_EQ(RowLabel(report, rows[0]), "Conv_0 (+1)");
  EXPECT_EQ(RowLabel(report, rows[1]), "Gemm_2");
  EXPECT_FALSE(rows[1].measured.has_value());
  EXPECT_TRUE(rows[2].layers.empty());
  EXPECT_EQ(RowLabel(report, rows[2]), "Reorder");
}

TEST(Comparison, ALayerWithoutATimeLeavesItsRowWithoutABound) {
  ReportModel report = ThreeLayers();
  report.layers[1].latency.reset();
  report.layers[1].status = RowStatus::kMissing;
  report.run->rows = {{{0, 1}, {"fused"}, Latency(1500)}};
  ComparisonRow row = ComparisonRows(report).front();
  EXPECT_FALSE(row.bound.has_value());
  EXPECT_FALSE(row.gap().has_value());
  EXPECT_EQ(row.status, RowStatus::kMissing);
}

TEST(Comparison, ALayerCountsOnceWhateverTheProfileSays) {
  ReportModel report = ThreeLayers();
  report.run->rows = {{{0, 1}, {"a"}, Latency(1)}, {{1, 2, 99}, {"b"}, Latency(2)}};
  std::vector<ComparisonRow> rows = ComparisonRows(report);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_DOUBLE_EQ(BoundOfRows(rows).count(), 1500);
}

TEST(Comparison, StepsNameFamiliesByTheSizeOfTheirGap) {
  ReportModel report = ThreeLayers();
  report.run->rows = {{{0}, {"a"}, Latency(1100)}, {{1}, {"b"}, Latency(100)}, {{2}, {"c"}, Latency(900)}};
  std::vector<FamilyStep> steps = FamilySteps(report, ComparisonRows(report));
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].name, "matmul");
  EXPECT_DOUBLE_EQ(steps[0].latency.count(), 600);
  EXPECT_EQ(steps[3].name, "outside the layers");
  EXPECT_DOUBLE_EQ(steps[3].latency.count(), 0);
}

TEST(Comparison, StepsAlwaysAddUpFromTheBoundToTheMeasuredTime) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    ReportModel report = SampleReport();
    report.run->latency = Latency(1000.0 + static_cast<double>(random() % 100000));
    std::vector<EngineRow> kept;
    for (EngineRow& row : report.run->rows) {
      if (random() % 4 == 0) continue;            // the profile does not show it
      if (random() % 5 == 0) row.layers.clear();  // matched to nothing
      row.latency *= static_cast<double>(random() % 300) / 100;
      kept.push_back(row);
    }
    report.run->rows = kept;
    for (ReportLayer& layer : report.layers) {
      if (random() % 10 == 0) {
        layer.status = RowStatus::kMissing;
        layer.latency.reset();
      }
    }
    std::vector<ComparisonRow> rows = ComparisonRows(report);
    Latency sum = BoundOfRows(rows);
    for (const FamilyStep& step : FamilySteps(report, rows)) sum += step.latency;
    EXPECT_NEAR(sum.count(), report.run->latency.count(), 1e-6);
  }
}

TEST(Comparison, WithoutARunTheMostExpensiveLayersComeFirst) {
  ReportModel report = ThreeLayers();
  report.run.reset();
  std::vector<ComparisonRow> rows = ComparisonRows(report);
  EXPECT_EQ(LargestRows(rows, 2), (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(FamilySteps(report, rows).empty());
}

TEST(Comparison, TheReproductionCommandSurvivesTheShell) {
  EXPECT_EQ(ReproductionCommand("softmax in=1"), "infimum bench --layer 'softmax in=1'");
  EXPECT_EQ(ReproductionCommand("a'b; rm"), "infimum bench --layer 'a'\\''b; rm'");
}

}  // namespace
}  // namespace infimum
