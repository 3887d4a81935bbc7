#include <gtest/gtest.h>

#include <random>

#include "reports/model/model_rows.h"
#include "tests/reports/sample_report.h"

namespace infimum::comparison_test {
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
  EXPECT_DOUBLE_EQ(rows[0].bound->count(), 1200);
  EXPECT_DOUBLE_EQ(rows[1].bound->count(), 300);
}

TEST(Comparison, WithoutARunTheMostExpensiveLayersComeFirst) {
  ReportModel report = ThreeLayers();
  report.run.reset();
  std::vector<ComparisonRow> rows = ComparisonRows(report);
  EXPECT_EQ(LargestRows(rows, 2), (std::vector<std::size_t>{0, 2}));
}

TEST(Comparison, TheReproductionCommandSurvivesTheShell) {
  EXPECT_EQ(ReproductionCommand("softmax in=1"), "infimum bench --layer 'softmax in=1'");
  EXPECT_EQ(ReproductionCommand("a'b; rm"), "infimum bench --layer 'a'\\''b; rm'");
}

}  // namespace
}  // namespace infimum::comparison_test
