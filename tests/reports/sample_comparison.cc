#include "tests/reports/sample_comparison.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace infimum {
namespace {

SideTime Time(double microseconds, bool has_spread = true) {
  SideTime time;
  time.latency = Latency(microseconds);
  if (has_spread) time.interval = Interval{Latency(0.99 * microseconds), Latency(1.01 * microseconds)};
  time.candidate = "library/kernel";
  time.floor = Latency(microseconds / 10);
  return time;
}

// What every second side ran within a node of a long name.
NodeTable NodesOf(const std::vector<ReportSide>& sides) {
  NodeTable nodes;
  NodeRow& row = nodes.rows.emplace_back();
  row.name = "/encoder/layer.0/attention/self/query/" + std::string(60, 'm') + "/MatMul";
  row.op = "MatMul";
  for (std::size_t side = 0; side < sides.size(); ++side) {
    nodes.columns.push_back({sides[side].label});
    NodeCell& cell = row.cells.emplace_back();
    if (side % 2 == 0) cell.measured = Latency(100);
    if (side % 2 == 1) cell.within = row.name;
  }
  return nodes;
}

}  // namespace

ComparisonReport SampleComparison(ComparisonAxis axis, std::size_t more_layers, std::size_t more_sides) {
  ComparisonReport report;
  report.axis = axis;
  if (!IsOfRuns(axis)) report.data_as_of = "2026-11-23T12:00:00Z";
  report.infimum_version = "0.0.0";
  report.quantity = IsOfRuns(axis) ? "end to end" : "sequential bound";
  struct Given {
    std::string label;
    const char* generation;
    std::int64_t year;
    double conv, relu, softmax;
  };
  std::vector<Given> all = {{"Old <b>", "Kepler", 2013, 1000, 50, 20},
                            {"New", "Volta", 2017, 200, 10, -1},
                            {"Small", "Turing", 2018, 300, 60, 20.2}};
  for (std::size_t i = 0; i < more_sides; ++i) {
    const double times = std::exp2(static_cast<double>(i) - static_cast<double>(more_sides) + 1);
    all.push_back({fmt::format("More-{} SXM", i), "Hopper", 2022, 100 * times, 5 * times, 2 * times});
  }
  if (more_sides > 0)
    for (Given& given : all)
      given.label = fmt::format("resnet50 f32 batch 1 onnxruntime 1.31.1 {} 2 threads", given.label);
  ModelSides first{"resnet", {}}, second{kHostileModelName, {}};
  for (const Given& given : all) {
    ReportSide shown;
    shown.label = given.label;
    shown.device = given.label;
    shown.generation = given.generation;
    shown.year = given.year;
    shown.environment = "cudnn 7.6.4";
    shown.contract = "strict-f32";
    report.sides.push_back(shown);
    SideModel one, two;
    one.layers.push_back({"conv_1", "convolution", "convolution in=1", Time(given.conv)});
    one.layers.push_back({"conv_2", "convolution", "convolution in=1", Time(given.conv)});
    one.layers.push_back({kHostileModelName, "pointwise", "pointwise kind=relu", Time(given.relu, false)});
    one.layers.push_back({"softmax", "softmax", "softmax in=10", given.softmax < 0 ? SideTime{} : Time(given.softmax)});
    for (std::size_t i = 0; i < more_layers; ++i)
      one.layers.push_back({fmt::format("more_{}", i), "pooling", fmt::format("pooling in={}", i),
                            Time(given.conv / static_cast<double>(i + 2))});
    one.sequential = Latency(2100);
    two.layers.push_back({"relu", "pointwise", "pointwise kind=relu", Time(given.relu, false)});
    first.sides.push_back(std::move(one));
    second.sides.push_back(std::move(two));
  }
  const ModelSides models[] = {std::move(first), std::move(second)};
  report.comparison = CompareSides(models, 0.05);
  if (more_sides > 0) report.nodes = NodesOf(report.sides);
  report.gaps.push_back({1, "resnet", 1, {"softmax"}, "not measured yet", "infimum plan 'resnet.onnx' -o plan.txt"});
  report.remarks = {std::string("left out: ") + kHostileModelName};
  return report;
}

}  // namespace infimum
