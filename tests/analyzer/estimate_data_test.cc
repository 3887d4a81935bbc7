// Estimates for GPUs that are left out, one of eight at a time, of the ten models that were measured in 2019.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "analyzer/estimate/estimate.h"
#include "db/store/data_sheets.h"
#include "infimum/base/text.h"
#include "tests/analyzer/benanza_published.h"
#include "tests/readers/benanza_archives.h"
#include "tests/support/temporary_folder.h"

namespace infimum::estimate_data_test {
namespace {

using Cells = std::map<std::string, std::string>;

// "1x64x1x1" without what is no dimension.
Shape ShapeOf(const std::string& text) {
  Shape shape;
  for (const std::string_view part : Split(text, 'x'))
    if (const auto extent = ParseInteger(part); extent && *extent > 0) shape.dims.push_back(*extent);
  return shape;
}

std::string Padding(const std::string& pad) {
  const std::vector<std::string_view> sides = Split(pad, 'x');
  return Join(std::vector<std::string>{std::string(sides[0]), std::string(sides[1]), std::string(sides[0]),
                                       std::string(sides[1])},
              ",");
}

// The workload of a row of the table; empty where there is none (dropout).
std::string WorkloadText(const Cells& row) {
  const std::string &api = row.at("benchmark"), &input = row.at("input");
  const Shape shape = ShapeOf(input);
  const std::string count = std::to_string(ElementCount(shape)), type = " dtype=f32:-:f32", both = " dtype=f32:f32:f32";
  if (api == "CUDNN_CONV_FWD") {
    const std::vector<std::string_view> filter = Split(row.at("filter"), 'x');  // channels, then the window
    return "convolution" + both + " in=" + input + " out_channels=" + std::string(filter[0]) +
           " kernel=" + std::string(filter.at(1)) + "x" + std::string(filter.at(2)) + " stride=" + row.at("stride") +
           " dilation=" + row.at("dilation") + " pad=" + Padding(row.at("pad")) + " groups=" + row.at("group") +
           " bias=no weights=const";
  }
  if (api == "CUDNN_POOLING_FWD")
    return "pooling kind=max" + type + " in=" + input + " out=" + row.at("output") + " kernel=" + row.at("filter") +
           " stride=" + row.at("stride") + " dilation=1x1 pad=" + Padding(row.at("pad"));
  if (api == "CUDNN_ACTIVATION_FWD") return "pointwise kind=relu" + type + " in=" + count;
  if (api == "CUDNN_BATCHNORM_FWD_INFERENCE")
    return "normalization kind=batch" + both + " in=" + Format(shape) + " axis=1 scale=yes bias=yes";
  if (api == "CUDNN_ADD_TENSOR")
    return "movement kind=expand" + type + " in=1x" + std::to_string(shape.dims[1]) +
           "x1 out=" + std::to_string(shape.dims[0]) + "x" + std::to_string(shape.dims[1]) + "x" +
           std::to_string(ElementCount(shape) / shape.dims[0] / shape.dims[1]);
  if (api == "CUDNN_OP_TENSOR_ADD_FWD" || api == "CUDNN_OP_TENSOR_MUL_FWD")
    return std::string("pointwise kind=") + (api.find("ADD") != api.npos ? "add" : "multiply") + both + " in=" + count +
           "," + count;
  if (api == "CUDNN_SOFTMAX_FWD")
    return "softmax kind=softmax" + type + " in=" + std::to_string(shape.dims[0]) + "x" +
           std::to_string(ElementCount(shape) / shape.dims[0]) + " axis=1";
  const auto at = [&](std::size_t i) { return std::to_string(shape.dims[i]); };
  if (api == "CUBLAS_GEMM_FWD")
    return "matmul" + both + " a=1x" + at(0) + "x" + at(2) + " b=1x" + at(2) + "x" + at(1) + " bias=no weights=const";
  if (api == "CUBLAS_GEMV_FWD")
    return "matmul" + both + " a=1x1x" + at(1) + " b=1x" + at(1) + "x" + at(0) + " bias=no weights=const";
  return "";
}

class LeftOut : public ::testing::Test {
 protected:
  static constexpr double kLevel = 0.8;

  void SetUp() override {
    if (!std::filesystem::exists(testing::BenanzaFolder())) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << testing::BenanzaFolder() << " is absent";
      GTEST_SKIP() << testing::BenanzaFolder() << " is absent";
    }
    const testing::TemporaryFolder folder;
    rows_ = testing::ReadTable(
        testing::Decompress(testing::BenanzaFolder() / "layers/layer_times_batch1_32.csv.xz", folder.path()));
    ASSERT_EQ(rows_.size(), 29472U);
  }

  void Read(const std::string& batch) {
    for (const Cells& row : rows_) {
      if (row.at("batch") != batch) continue;
      const std::string text = WorkloadText(row);
      if (text.empty()) continue;
      const Result<Workload> workload = ParseWorkload(text);
      ASSERT_TRUE(workload.ok()) << text << ": " << workload.error().message;
      const WorkloadKey key = KeyOf(*workload);
      const auto known = workloads_.emplace(key, Keyed(*workload)).first;
      const std::string& gpu = row.at("gpu");
      if (!devices_.contains(gpu)) {
        std::string name = gpu;
        std::ranges::replace(name, '_', ' ');
        const DataSheet* const sheet = FindDataSheet(name);
        ASSERT_NE(sheet, nullptr) << name;
        const Result<DeviceModel> peaks = DeviceModel::Make(sheet->device.Key(), sheet->peaks, 1);
        ASSERT_TRUE(peaks.ok());
        devices_.emplace(
            gpu, KnownDevice{name, YearOfGeneration(sheet->device.generation), *peaks, sheet->middle_clock, {}});
      }
      const Latency time(ParseNumber(row.at("time_ns")).value() / 1000);
      Latency& best = devices_.at(gpu).best.emplace(key, time).first->second;
      best = std::min(best, time);
      models_[row.at("model")][gpu].push_back({known->second, 1});
    }
    ASSERT_EQ(devices_.size(), 8U);
    ASSERT_EQ(models_.size(), 10U);
  }

  Latency TimeOf(const std::string& model, const std::string& gpu) {
    Latency sum{0};
    for (const WorkloadUse& use : models_[model][gpu]) sum += devices_.at(gpu).best.at(use.of.key);
    return sum;
  }

  // `model` as if nothing of it had been measured anywhere.
  EstimateQuestion Ask(const std::string& model, const std::string& gpu, bool model_is_new = false) {
    EstimateQuestion question{devices_.at(gpu), {}, workloads_, models_[model][gpu], {}, kLevel};
    question.target.best.clear();
    for (const auto& [name, device] : devices_)
      if (name != gpu) question.others.push_back(device);
    for (const auto& [name, on] : models_)
      if (name != model) question.other_models.push_back(on.at(gpu));
    if (model_is_new)
      for (KnownDevice& device : question.others)
        for (const WorkloadUse& use : question.model) device.best.erase(use.of.key);
    return question;
  }

  struct Outcome {
    double covered = 0, width = 0, error = 0;  // medians of log(high / low) and of |log(time / estimate)|
  };
  template <class Of>
  Outcome Evaluate(const Of& estimate_of) {
    std::vector<double> widths, errors;
    double covered = 0;
    for (const auto& [model, on] : models_) {
      for (const auto& [gpu, uses] : on) {
        const Estimate estimate = estimate_of(model, gpu);
        const Latency time = TimeOf(model, gpu);
        covered += estimate.interval && estimate.interval->low <= time && time <= estimate.interval->high ? 1 : 0;
        widths.push_back(estimate.interval ? std::log(estimate.interval->high / estimate.interval->low) : 100);
        errors.push_back(std::abs(std::log(time / estimate.latency)));
      }
    }
    EXPECT_EQ(widths.size(), 80U);
    std::ranges::sort(widths);
    std::ranges::sort(errors);
    return {covered / 80, (widths[39] + widths[40]) / 2, (errors[39] + errors[40]) / 2};
  }

  Latency RooflineOf(const std::string& model, const std::string& gpu) {
    const DataSheet* const sheet = FindDataSheet(devices_.at(gpu).name);
    double bandwidth = 0, arithmetic = 0;
    for (const PeakRate& peak : sheet->peaks.rates) {
      if (peak.is_memory()) bandwidth = peak.per_second;
      if (peak.kind == PeakRate::Kind::kArithmetic && peak.type == DataType::kF32) arithmetic = peak.per_second;
    }
    double seconds = 0;
    for (const WorkloadUse& use : models_[model][gpu])
      seconds += std::max(static_cast<double>(use.of.work.read().value + use.of.work.written.value) / bandwidth,
                          static_cast<double>(use.of.work.conventional.value) / arithmetic);
    return std::chrono::duration<double>(seconds);
  }

  // Of log(high / low): what the best constant factor on the roofline, known beforehand, needs to cover as many.
  double WidthOfConstantFactor(double covered) {
    std::vector<double> logs;
    for (const auto& [model, on] : models_)
      for (const auto& [gpu, uses] : on) logs.push_back(std::log(TimeOf(model, gpu) / RooflineOf(model, gpu)));
    std::ranges::sort(logs);
    const auto count = static_cast<std::size_t>(std::ceil(covered * static_cast<double>(logs.size()) - 1e-9));
    double least = 100;
    for (std::size_t i = 0; i + count <= logs.size(); ++i) least = std::min(least, logs[i + count - 1] - logs[i]);
    return least;
  }

  void Expect(const char* what, const Outcome& outcome, double most_width) {
    const double constant = WidthOfConstantFactor(outcome.covered);
    std::printf("%s: covered %.3f, median error %.3f, width %.2f, of a constant factor %.2f: %.2f\n", what,
                outcome.covered, outcome.error, outcome.width, constant, outcome.width / constant);
    EXPECT_GE(outcome.covered, 0.7) << what;
    EXPECT_LE(outcome.width, most_width * constant) << what;
  }

  std::vector<Cells> rows_;
  std::map<WorkloadKey, KeyedWorkload> workloads_;
  std::map<std::string, KnownDevice> devices_;
  std::map<std::string, std::map<std::string, ModelWork>> models_;
};

// With INFIMUM_LONG (scripts/test long) at batch 32 too.
TEST_F(LeftOut, IntervalsOf80PercentCoverAndAreNarrow) {
  for (const char* batch : {"1", "32"}) {
    if (*batch != '1' && std::getenv("INFIMUM_LONG") == nullptr) continue;
    SCOPED_TRACE(batch);
    workloads_.clear();
    devices_.clear();
    models_.clear();
    Read(batch);
    const auto known = [&](const std::string& model, const std::string& gpu) {
      const Result<Estimate> estimate = EstimateModel(Ask(model, gpu));
      EXPECT_TRUE(estimate.ok());
      EXPECT_EQ(estimate->level, kLevel);
      EXPECT_EQ(estimate->devices, 7U);
      EXPECT_NEAR(estimate->transferred, 1, 1e-9);
      return *estimate;
    };
    Expect("known on others", Evaluate(known), 0.6);
    const auto is_new = [&](const std::string& model, const std::string& gpu) {
      const Result<Estimate> estimate = EstimateModel(Ask(model, gpu, true));
      EXPECT_TRUE(estimate.ok());
      return *estimate;
    };
    Expect("never measured", Evaluate(is_new), 0.9);
  }
}

TEST_F(LeftOut, AFewRowsOfItsOwnNarrowThem) {
  Read("1");
  double before = 0, after = 0, covered = 0, count = 0;
  for (const char* gpu : {"GRID_K520", "Tesla_M60", "TITAN_V", "Tesla_T4"}) {
    for (const auto& [model, on] : models_) {
      EstimateQuestion question = Ask(model, gpu);
      const Result<Estimate> first = EstimateModel(question);
      const Result<std::vector<MeasureNext>> advice = WhatToMeasureNext(question, 4);
      ASSERT_TRUE(first.ok() && advice.ok());
      if (advice->empty()) continue;
      for (const MeasureNext& next : *advice) {
        EXPECT_EQ(next.device, question.target.name);
        question.target.best[next.workload] = devices_.at(gpu).best.at(next.workload);
      }
      const Result<Estimate> second = EstimateModel(question);
      ASSERT_TRUE(second.ok());
      EXPECT_GT(second->measured, 0);
      const double width = std::log(second->interval->high / second->latency);
      EXPECT_NEAR(width, std::log(advice->back().factor), 1e-9);
      before += std::log(first->interval->high / first->latency);
      after += width;
      const Latency time = TimeOf(model, gpu);
      covered += second->interval->low <= time && time <= second->interval->high ? 1 : 0;
      count += 1;
    }
  }
  std::printf("width before %.3f, after %.3f, covered %.2f of %.0f\n", before / count, after / count, covered / count,
              count);
  EXPECT_LT(after, 0.5 * before);
  EXPECT_GE(covered, 0.7 * count);
}

}  // namespace
}  // namespace infimum::estimate_data_test
