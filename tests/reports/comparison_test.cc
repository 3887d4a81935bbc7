#include <gtest/gtest.h>

#include <random>

#include "reports/model/model_rows.h"
#include "tests/reports/sample_report.h"

namespace infimum::comparison_test {
namespace {

void AddMeasured(const std::string& name, const std::string& config, double us, std::int64_t flops,
                 ReportModel& report) {
  SampleLayer layer = MakeLayer(name, "", config, Flops{flops}, Bytes{});
  layer.latency.status = LatencyStatus::kMeasured;
  layer.latency.latency = Latency(us);
  AddLayer(std::move(layer), report);
}

ReportModel ThreeLayers() {
  ReportModel report;
  AddMeasured("Conv_0",
              "convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
              "groups=1 bias=no weights=const",
              1000, 100, report);
  AddMeasured("Relu_1", "pointwise kind=relu dtype=f32:-:f32 in=256", 200, 10, report);
  AddMeasured("Gemm_2", "matmul dtype=f32:f32:f32 a=1x1x256 b=1x256x10 bias=no weights=const", 300, 50, report);
  report.run.emplace();
  report.run->latency = Latency(2100);
  return report;
}

void AddRow(std::vector<std::size_t> layers, const std::string& engine_layer, Latency took, ReportModel& report) {
  std::vector<LayerId> ids;
  for (const std::size_t layer : layers) ids.push_back(LayerId(layer));
  AddEngineRow(std::move(ids), {engine_layer}, took, *report.run);
}

TEST(Comparison, FusedLayersStandInOneRowWithTheSumOfTheirBounds) {
  ReportModel report = ThreeLayers();
  AddRow({0, 1}, "fused Conv_0", Latency(1500), report);
  AddRow({}, "Reorder", Latency(50), report);
  std::vector<ModelRow> rows = ModelRows(report);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].layers, (std::vector<LayerId>{LayerId(0), LayerId(1)}));
  EXPECT_EQ(rows[0].family, "convolution");
  EXPECT_DOUBLE_EQ(rows[0].best->count(), 1200);
  EXPECT_DOUBLE_EQ(rows[0].gap()->count(), 300);
  EXPECT_EQ(RowLabel(report, rows[0]), "Conv_0 (+1)");
  EXPECT_EQ(RowLabel(report, rows[1]), "Gemm_2");
  EXPECT_FALSE(rows[1].measured.has_value());
  EXPECT_TRUE(rows[2].layers.empty());
  EXPECT_EQ(RowLabel(report, rows[2]), "Reorder");
}

TEST(Comparison, ALayerWithoutATimeLeavesItsRowWithoutABound) {
  ReportModel report = ThreeLayers();
  report.bracket.layers[1].latency.reset();
  report.bracket.layers[1].status = LatencyStatus::kMissing;
  AddRow({0, 1}, "fused", Latency(1500), report);
  ModelRow row = ModelRows(report).front();
  EXPECT_FALSE(row.best.has_value());
  EXPECT_FALSE(row.gap().has_value());
  EXPECT_EQ(row.status, "missing");
}

TEST(Comparison, ALayerCountsOnceWhateverTheProfileSays) {
  ReportModel report = ThreeLayers();
  AddRow({0, 1}, "a", Latency(1), report);
  AddRow({1, 2, 99}, "b", Latency(2), report);
  std::vector<ModelRow> rows = ModelRows(report);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_DOUBLE_EQ(rows[0].best->count(), 1200);
  EXPECT_DOUBLE_EQ(rows[1].best->count(), 300);
}

TEST(Comparison, WithoutARunTheMostExpensiveLayersComeFirst) {
  ReportModel report = ThreeLayers();
  report.run.reset();
  std::vector<ModelRow> rows = ModelRows(report);
  EXPECT_EQ(LargestRows(rows, 2), (std::vector<std::size_t>{0, 2}));
}

TEST(Comparison, TheReproductionCommandSurvivesTheShell) {
  EXPECT_EQ(ReproductionCommand("softmax in=1"), "infimum bench --layer 'softmax in=1'");
  EXPECT_EQ(ReproductionCommand("a'b; rm"), "infimum bench --layer 'a'\\''b; rm'");
}

}  // namespace
}  // namespace infimum::comparison_test
