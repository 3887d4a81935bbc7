// Whole models: the light ones of the onnx package, which every set-up has, and those of the shared data.
// The promise is that every tensor has a shape, that no layer is unknown, and that multiply-adds are those
// that a separate program counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/readers/onnx/read_model.h"
#include "tests/support/shared_data.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;
using Dims = std::map<std::string, std::int64_t>;

std::vector<fs::path> ModelsIn(const fs::path& folder) {
  std::vector<fs::path> models;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing))
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  std::sort(models.begin(), models.end());
  return models;
}

// Of Conv, ConvTranspose, Gemm and MatMul, all taps: without what a bias adds, as the other program counts.
std::int64_t MultiplyAdds(const ModelGraph& graph) {
  std::int64_t flops = 0;
  for (const Layer& layer : graph.layers) {
    if (!layer.workload) continue;
    std::vector<LayerConfig> configs;
    if (const auto* config = std::get_if<LayerConfig>(&*layer.workload))
      configs.push_back(*config);
    else
      for (const RegionMember& member : std::get<Region>(*layer.workload).members) configs.push_back(member.config);
    for (LayerConfig config : configs) {
      if (auto* convolution = std::get_if<ConvolutionConfig>(&config)) {
        convolution->bias = false;
        flops += WorkOf(*convolution).direct.value;
      } else if (auto* product = std::get_if<MatMulConfig>(&config)) {
        product->bias = MatMulBias::kNone;
        flops += WorkOf(*product).direct.value;
      }
    }
  }
  return flops / 2;
}

void ExpectWhole(const ModelGraph& graph) {
  const Status valid = Validate(graph);
  EXPECT_TRUE(valid.ok()) << valid.error().message;
  EXPECT_EQ(graph.sha256.size(), 64u);
  for (const Value& value : graph.values) EXPECT_TRUE(value.shape.has_value()) << value.name;
  for (const Layer& layer : graph.layers) {
    EXPECT_NE(layer.status, LayerStatus::kUnknown) << layer.name << " (" << layer.op << "): " << layer.reason;
    EXPECT_FALSE(layer.origins.empty()) << layer.name;
    if (!layer.workload) continue;
    // What the workload writes is what the layer writes.
    const auto* config = std::get_if<LayerConfig>(&*layer.workload);
    if (config == nullptr || std::holds_alternative<RecurrentConfig>(*config)) continue;  // counts Y alone
    std::int64_t written = 0;
    for (const std::optional<ValueId>& output : layer.outputs)
      if (output) written += SizeOf(graph.value(*output).type, ElementCount(*graph.value(*output).shape)).value;
    EXPECT_EQ(layer.work.written.value, written) << layer.name << " (" << layer.op << "): " << Format(*config);
    EXPECT_EQ(OperandsOf(*config).size(), layer.operand_inputs.size()) << layer.name;
  }
}

Result<ModelGraph> Read(const fs::path& path, const Dims& dims) {
  ReadOptions options;
  options.dims = dims;
  return ReadModel(path, options);
}

TEST(LightModels, AreShapedAndKnownWhole) {
  const std::vector<fs::path> models = ModelsIn(INFIMUM_LIGHT_MODELS);
  ASSERT_EQ(models.size(), 9u) << "in " << INFIMUM_LIGHT_MODELS;
  for (const fs::path& path : models) {
    SCOPED_TRACE(path.filename().string());
    const Result<ModelGraph> graph = Read(path, {});
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    ExpectWhole(*graph);
  }
}

TEST(LightModels, HaveTheMultiplyAddsOfTheirArchitecture) {
  const auto count = [](const std::string& name) {
    const Result<ModelGraph> graph = Read(fs::path(INFIMUM_LIGHT_MODELS) / name, {});
    return graph.ok() ? MultiplyAdds(*graph) : -1;
  };
  EXPECT_EQ(count("light_vgg19.onnx"), 19'632'062'464);
  EXPECT_EQ(count("light_resnet50.onnx"), 4'089'184'256);
}

struct SharedModel {
  const char* name;
  std::int64_t multiply_adds;  // batch 1, sequence 128
  bool has_batch;
};

constexpr SharedModel kSharedModels[] = {
    {"resnet50", 4'089'184'256, true},     {"resnet50_v1", 3'857'973'248, true},
    {"resnet50-f16", 4'089'184'256, true}, {"resnet50-int8", 4'089'184'256, false},
    {"mobilenet_v2", 300'774'272, true},   {"vgg16", 15'470'264'320, true},
    {"unet", 12'073'304'064, false},       {"lraspp_mobilenet_v3", 772'346'880, false},
    {"vit_b16", 17'563'828'224, false},    {"gpt2", 16'114'089'984, false},
    {"bert-base", 11'174'215'680, true},   {"lstm", 655'360'000, false},
};

TEST(SharedModels, AreShapedAndKnownWholeWithExactMultiplyAdds) {
  const fs::path folder = SharedData("models");
  INFIMUM_NEEDS_DATA(folder);
  EXPECT_EQ(ModelsIn(folder).size(), std::size(kSharedModels));
  for (const SharedModel& model : kSharedModels) {
    for (const std::int64_t batch : {1, 8}) {
      if (batch > 1 && !model.has_batch) continue;
      SCOPED_TRACE(std::string(model.name) + " with batch " + std::to_string(batch));
      Dims dims;
      if (model.has_batch) dims["batch"] = batch;
      if (std::string(model.name) == "bert-base") dims["sequence"] = 128;
      const Result<ModelGraph> graph = Read(folder / (std::string(model.name) + ".onnx"), dims);
      ASSERT_TRUE(graph.ok()) << graph.error().message;
      ExpectWhole(*graph);
      EXPECT_EQ(MultiplyAdds(*graph), batch * model.multiply_adds);
    }
  }
}

TEST(SharedModels, OfTheTracesAreShapedAndKnownWhole) {
  const fs::path folder = SharedData("traces/onnx-light");
  INFIMUM_NEEDS_DATA(folder);
  for (const fs::path& path : ModelsIn(folder)) {
    SCOPED_TRACE(path.filename().string());
    const Result<ModelGraph> graph = Read(path, {});
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    ExpectWhole(*graph);
  }
}

TEST(SharedModels, QuantizedRunOnEightBitsThroughout) {
  const fs::path path = SharedData("models/resnet50-int8.onnx");
  INFIMUM_NEEDS_DATA(path);
  const Result<ModelGraph> graph = Read(path, {});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  std::map<std::string, int> kinds;
  std::set<std::string> types;
  for (const Layer& layer : graph->layers) {
    if (!layer.workload) continue;
    ++kinds[layer.op];
    if (layer.op == "QLinearConv") types.insert(Format(*layer.workload).substr(0, 26));
  }
  EXPECT_EQ(kinds["QLinearConv"], 53);
  EXPECT_EQ(kinds["com.microsoft.QLinearAdd"], 16);
  EXPECT_EQ(kinds["com.microsoft.QGemm"], 1);
  EXPECT_EQ(kinds["QuantizeLinear"], 1);    // of the input
  EXPECT_EQ(kinds["DequantizeLinear"], 1);  // of the output
  EXPECT_EQ(types, std::set<std::string>{"convolution dtype=s8:s8:s8"});
  // Every node of the file is a layer of its own or an origin of one.
  std::size_t origins = 0;
  for (const Layer& layer : graph->layers) origins += layer.origins.size();
  EXPECT_EQ(origins, 336u);
}

}  // namespace
}  // namespace infimum
