// Over engines that others profiled and TREx ships, which stand beside the checkout: shared/data/traces/trex. What is
// expected of them is counted in their text by a search that knows nothing of the reader, or is trtexec's own summary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "infimum/base/text.h"
#include "src/readers/files/file_start.h"
#include "src/readers/profiles/tensorrt/tensorrt_engine.h"
#include "tests/support/shared_data.h"

namespace infimum::tensorrt_engine_data_test {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::size_t CountOf(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// The numbers behind each `"key" : `.
std::vector<double> NumbersOf(const std::string& text, const std::string& key) {
  const std::string mark = '"' + key + "\" : ";
  std::vector<double> numbers;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
    numbers.push_back(std::strtod(text.c_str() + at + mark.size(), nullptr));
  return numbers;
}

// The numbers of `"key": [1, 2, 3]`.
std::vector<double> ListOf(const std::string& text, const std::string& key) {
  const std::size_t at = text.find('"' + key + "\": [");
  if (at == std::string::npos) return {};
  std::istringstream list(text.substr(text.find('[', at) + 1));
  std::vector<double> numbers;
  for (double number = 0; list >> number; list.ignore(1)) numbers.push_back(number);
  return numbers;
}

double SumOf(const std::vector<double>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

double MedianOf(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const std::size_t half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

// As trtexec prints a number: six digits.
std::string Digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

struct Engine {
  std::string name;
  std::string graph, profile, times;  // the texts
  RunProfile run;
};

class TrexEngines : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder = SharedData("traces/trex");
    INFIMUM_NEEDS_DATA(folder);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      std::vector<fs::path> files;
      for (const fs::directory_entry& file : fs::directory_iterator(entry)) files.push_back(file.path());
      const Result<TensorRtFiles> sorted = SortTensorRtFiles(files);
      ASSERT_TRUE(sorted.ok()) << sorted.error().message;
      ASSERT_TRUE(sorted->layer_info && sorted->profile) << entry.path();
      Engine engine;
      engine.name = entry.path().filename().string();
      engine.graph = TextOf(*sorted->layer_info);
      engine.profile = TextOf(*sorted->profile);
      if (sorted->times) engine.times = TextOf(*sorted->times);
      for (const fs::path& metadata : sorted->metadata) metadata_[engine.name] += TextOf(metadata);
      Result<RunProfile> run = ReadTensorRtEngine(*sorted);
      ASSERT_TRUE(run.ok()) << run.error().message;
      engine.run = *std::move(run);
      const std::string name = engine.name;
      engines_.emplace(name, std::move(engine));
    }
    ASSERT_THAT(engines_, SizeIs(5));
  }

  // How often each node is covered.
  std::map<std::string, int> NodesOf(const std::string& engine) {
    std::map<std::string, int> nodes;
    for (const ProfiledLayer& layer : engines_.at(engine).run.layers)
      for (const std::string& node : layer.nodes) ++nodes[node];
    return nodes;
  }

  std::map<std::string, Engine> engines_;
  std::map<std::string, std::string> metadata_;
};

TEST_F(TrexEngines, EveryLayerHasItsTime) {
  const std::map<std::string, std::pair<std::size_t, double>> wanted = {{"resnet18_a100_fp16", {36, 1.016832}},
                                                                        {"resnet18_a100_fp32", {32, 2.123776}},
                                                                        {"resnet18_a100_int8_qat", {37, 1.09568}},
                                                                        {"resnet50_rtx3090_fp16", {86, 4.272736}},
                                                                        {"resnet50_rtx3090_fp32", {103, 12.399744}}};
  for (const auto& [name, engine] : engines_) {
    const std::vector<double> average = NumbersOf(engine.profile, "averageMs");
    const std::vector<double> percentage = NumbersOf(engine.profile, "percentage");
    ASSERT_THAT(engine.run.layers, SizeIs(CountOf(engine.graph, "\"LayerType\""))) << name;
    ASSERT_THAT(engine.run.layers, SizeIs(average.size())) << name;
    EXPECT_THAT(engine.run.layers, SizeIs(wanted.at(name).first));
    double sum = 0;
    for (const ProfiledLayer& layer : engine.run.layers) {
      ASSERT_THAT(layer.samples, SizeIs(1)) << name << ": " << layer.name;
      sum += layer.samples[0].count() / 1e3;
    }
    EXPECT_NEAR(sum, SumOf(average), 1e-9) << name;
    EXPECT_NEAR(sum, wanted.at(name).second, 1e-9) << name;
    // Of each share six digits are printed, of a sum in single precision.
    for (std::size_t i = 0; i < average.size(); ++i) {
      const double share = engine.run.layers[i].samples[0].count() / 1e3 / sum * 100;
      EXPECT_NEAR(share, percentage[i], 5.2e-6 * share) << name << ": " << engine.run.layers[i].name;
    }
    EXPECT_THAT(engine.run.warnings, ElementsAre(HasSubstr("from a single inference"))) << name;
  }
}

TEST_F(TrexEngines, ReformatsCoverNoNodeAndServeALayerOfTheEngine) {
  const std::map<std::string, std::size_t> wanted = {{"resnet18_a100_fp16", 12},
                                                     {"resnet18_a100_fp32", 8},
                                                     {"resnet18_a100_int8_qat", 3},
                                                     {"resnet50_rtx3090_fp16", 26},
                                                     {"resnet50_rtx3090_fp32", 43}};
  for (const auto& [name, engine] : engines_) {
    std::set<std::string> names;
    for (const ProfiledLayer& layer : engine.run.layers) names.insert(layer.name);
    std::size_t reformats = 0;
    for (const ProfiledLayer& layer : engine.run.layers) {
      if (!layer.name.starts_with("Reformatting")) continue;
      ++reformats;
      EXPECT_THAT(layer.op, ::testing::AnyOf("Reformat", "NoOp"));
      EXPECT_THAT(layer.nodes, IsEmpty()) << layer.name;
      EXPECT_THAT(names, Contains(layer.serves)) << layer.name;
    }
    EXPECT_EQ(reformats, CountOf(engine.profile, "\"name\" : \"Reformatting")) << name;
    EXPECT_EQ(reformats, wanted.at(name)) << name;
  }
}

// Nodes of that model are numbered through; the Flatten_47 was folded away.
TEST_F(TrexEngines, EveryNodeOfResNet18IsCoveredOnce) {
  for (const char* const name : {"resnet18_a100_fp16", "resnet18_a100_fp32"}) {
    std::set<std::int64_t> numbers;
    for (const auto& [node, times] : NodesOf(name)) {
      EXPECT_EQ(times, 1) << name << ": " << node;
      const std::optional<std::int64_t> number = ParseInteger(node.substr(node.find('_') + 1));
      ASSERT_TRUE(number) << node;
      EXPECT_TRUE(numbers.insert(*number).second) << node;
    }
    std::set<std::int64_t> wanted;
    for (std::int64_t number = 0; number <= 48; ++number)
      if (number != 47) wanted.insert(number);
    EXPECT_EQ(numbers, wanted) << name;
  }
}

TEST_F(TrexEngines, BothEnginesOfResNet50CoverTheSameNodesOnce) {
  const std::map<std::string, int> half = NodesOf("resnet50_rtx3090_fp16"), single = NodesOf("resnet50_rtx3090_fp32");
  EXPECT_EQ(half, single);
  std::map<std::string, int> kinds;
  for (const auto& [node, times] : half) {
    EXPECT_EQ(times, 1) << node;
    ++kinds[node.starts_with("Conv__") ? "Conv2D" : node.substr(node.rfind('/') + 1)];
  }
  const std::map<std::string, int> wanted = {{"Conv2D", 53}, {"Relu", 49},  {"add", 16},    {"MaxPool", 1},  {"Pad", 1},
                                             {"Mean", 1},    {"MatMul", 1}, {"Softmax", 1}, {"Conv2D__6", 1}};
  EXPECT_EQ(kinds, wanted);
}

TEST_F(TrexEngines, QuantizedLayersCoverTheirQuantizationsAndNoParameters) {
  std::map<std::string, int> kinds;
  for (const auto& [node, times] : NodesOf("resnet18_a100_int8_qat")) {
    EXPECT_EQ(times, 1) << node;
    EXPECT_THAT(node, Not(HasSubstr("weight")));
    ++kinds[node.substr(0, node.find('_'))];
  }
  const std::string& graph = engines_.at("resnet18_a100_int8_qat").graph;
  EXPECT_EQ(kinds.at("Conv"), 20);
  EXPECT_EQ(kinds.at("MaxPool"), 1);
  EXPECT_EQ(kinds.at("Gemm"), 1);
  // Those of 21 weights, and those of values that run alone.
  EXPECT_EQ(kinds.at("QuantizeLinear"), static_cast<int>(21 + CountOf(graph, "\"Name\": \"QuantizeLinear_") -
                                                         CountOf(graph, "    \"Name\": \"QuantizeLinear_")));
}

TEST_F(TrexEngines, TensorsAndTacticsAreKnown) {
  for (const auto& [name, engine] : engines_) {
    std::size_t tensors = 0, tactics = 0;
    for (const ProfiledLayer& layer : engine.run.layers) {
      EXPECT_NE(layer.op, "") << layer.name;
      EXPECT_EQ(layer.inputs.size(), layer.input_tensors.size());
      EXPECT_EQ(layer.outputs.size(), layer.output_tensors.size());
      tactics += layer.algorithm.empty() ? 0 : 1;
      EXPECT_TRUE(layer.op != "CaskConvolution" || !layer.algorithm.empty()) << layer.name;
      for (const auto* side : {&layer.input_tensors, &layer.output_tensors}) {
        for (const ProfiledTensor& tensor : *side) {
          ++tensors;
          EXPECT_THAT(tensor.dtype, ::testing::AnyOf("f32", "f16", "s8")) << layer.name;
          EXPECT_THAT(tensor.layout, ::testing::AnyOf("linear", StartsWith("NHWC"), StartsWith("NC/"))) << layer.name;
          EXPECT_THAT(tensor.dims, Not(IsEmpty())) << layer.name;
          EXPECT_TRUE(!name.ends_with("fp32") || tensor.dtype == "f32") << layer.name;
        }
      }
    }
    EXPECT_EQ(tensors, CountOf(engine.graph, "\"Format/Datatype\"")) << name;
    EXPECT_EQ(tactics, CountOf(engine.graph, "\"TacticName\"")) << name;
  }
  const ProfiledLayer& first = engines_.at("resnet50_rtx3090_fp16").run.layers[2];
  EXPECT_EQ(first.name, "Conv__435 + resnet50/conv1_relu/Relu");
  EXPECT_THAT(first.input_tensors, ElementsAre(ProfiledTensor{"f16", {32, 3, 224, 224}, "NHWC4"}));
  EXPECT_THAT(first.output_tensors, ElementsAre(ProfiledTensor{"f16", {32, 64, 112, 112}, "NHWC8"}));
}

// Without the warm-up the samples are those of trtexec's summary, to each of its digits.
TEST_F(TrexEngines, TheTimesAreThoseOfTheSummary) {
  int with_times = 0;
  for (const auto& [name, engine] : engines_) {
    if (engine.times.empty()) {
      EXPECT_THAT(engine.run.end_to_end, IsEmpty()) << name;
      continue;
    }
    ++with_times;
    ASSERT_THAT(engine.run.end_to_end, SizeIs(1)) << name;
    std::vector<double> samples;
    for (const Latency sample : engine.run.end_to_end[0].samples) samples.push_back(sample.count() / 1e3);
    const std::vector<double> summary = ListOf(metadata_.at(name), "GPU Compute Time");
    const std::vector<double> enqueue = ListOf(metadata_.at(name), "Enqueue Time");
    ASSERT_THAT(summary, SizeIs(5)) << name;  // least, most, mean, median, 99th percentile
    EXPECT_EQ(Digits(*std::ranges::min_element(samples)), Digits(summary[0])) << name;
    EXPECT_EQ(Digits(*std::ranges::max_element(samples)), Digits(summary[1])) << name;
    EXPECT_NEAR(SumOf(samples) / static_cast<double>(samples.size()), summary[2], 2e-6 * summary[2]) << name;
    EXPECT_NEAR(MedianOf(samples), summary[3], 1e-9) << name;
    EXPECT_EQ(engine.run.settings.at("host_latency_median_ms"), Digits(summary[3])) << name;
    // Of its begin and end three to six digits are kept.
    EXPECT_NEAR(*ParseNumber(engine.run.settings.at("enqueue_median_ms")), enqueue[3], 2e-3) << name;
  }
  EXPECT_EQ(with_times, 3);
  const Engine& resnet50 = engines_.at("resnet50_rtx3090_fp16");
  EXPECT_THAT(resnet50.run.end_to_end[0].samples, SizeIs(747));
  EXPECT_EQ(resnet50.run.settings.at("warm_up_inferences_left_out"), "48");
  // With the warm-up it would be this, which TREx shows.
  EXPECT_NEAR(MedianOf(NumbersOf(resnet50.times, "computeMs")), 4.02222, 1e-9);
}

TEST_F(TrexEngines, TheDeviceAndTheOptionsAreSettings) {
  const RunProfile& fp16 = engines_.at("resnet50_rtx3090_fp16").run;
  EXPECT_EQ(fp16.framework, "tensorrt");
  EXPECT_EQ(fp16.model_name, "resnet");
  EXPECT_EQ(fp16.device, "");
  EXPECT_EQ(fp16.settings.at("device_name"), "NVIDIA GeForce RTX 3090");
  EXPECT_EQ(fp16.settings.at("compute_capability"), "8.6");
  EXPECT_EQ(fp16.settings.at("multiprocessors"), "82");
  EXPECT_EQ(fp16.settings.at("clock_mhz"), "1695");
  EXPECT_EQ(fp16.settings.at("memory_clock_mhz"), "9751");
  EXPECT_EQ(fp16.settings.at("precision"), "FP32+FP16");
  EXPECT_EQ(fp16.settings.at("input_shapes"), "input_1=32x224x224x3");
  EXPECT_EQ(fp16.settings.at("bindings"), "input_1, predictions");
  // Two files tell of this one, and agree.
  const RunProfile& int8 = engines_.at("resnet18_a100_int8_qat").run;
  EXPECT_EQ(int8.settings.at("device_name"), "NVIDIA A100 80GB PCIe");
  EXPECT_EQ(int8.settings.at("multiprocessors"), "108");
}

TEST_F(TrexEngines, EveryFileIsKnownByItsContent) {
  std::map<ingest::TensorRtKind, int> kinds;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(SharedData("traces/trex"))) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    ++kinds[ingest::TensorRtKindOf(ingest::FileStart(file).text())];
  }
  const std::map<ingest::TensorRtKind, int> wanted = {{ingest::TensorRtKind::kLayerInfo, 5},
                                                      {ingest::TensorRtKind::kProfile, 5},
                                                      {ingest::TensorRtKind::kTimes, 3},
                                                      {ingest::TensorRtKind::kMetadata, 13}};
  EXPECT_EQ(kinds, wanted);
}

}  // namespace
}  // namespace infimum::tensorrt_engine_data_test
