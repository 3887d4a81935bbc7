// Files of families against onnx's checker, our own reader, and the totals that --list gives.
#include "src/synth/onnx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "reports/inspect/inspect_totals.h"
#include "src/readers/onnx/read_model.h"
#include "src/synth/families.h"
#include "tests/support/temporary_folder.h"

namespace infimum::synth::onnx_file_test {
namespace {

namespace fs = std::filesystem;

// Small ones, drawn.
Point Drawn(const Family& family, std::mt19937_64& random) {
  Point point = DefaultsOf(family);
  for (const Parameter& parameter : family.parameters) {
    std::int64_t most = std::min<std::int64_t>(parameter.most, 6);
    if (parameter.name == "image") most = 48;
    point[parameter.name] = std::uniform_int_distribution(parameter.least, most)(random);
  }
  if (point.contains("kv-heads")) {
    if (point["kv-heads"] > 0) point["heads"] *= point["kv-heads"];
    point["head-width"] *= 2;
    point["hidden"] *= 2;
    point["context"] += point["tokens"];
  }
  if (point.contains("experts")) point["experts"] += point["top-k"];
  if (point.contains("heads")) point["hidden"] *= point["heads"];
  return point;
}

// Elements of constants that are no weights and that layers compute with, as the reader counts them.
std::int64_t ConstantOperands(const Net& net) {
  constexpr std::string_view kReading[] = {"Add", "Mul", "Where", "Gather", "LessOrEqual", "Greater"};
  std::set<std::size_t> constants;
  for (const NetNode& node : net.nodes()) {
    if (std::ranges::find(kReading, node.op) == std::end(kReading)) continue;
    for (const std::optional<NetValue>& input : node.inputs) {
      const NetTensor::Role role = net.tensors()[input->index].role;
      if (role == NetTensor::Role::kNumber || role == NetTensor::Role::kIndices) constants.insert(input->index);
    }
  }
  std::int64_t elements = 0;
  for (const std::size_t constant : constants) elements += ElementCount(net.tensors()[constant].shape);
  return elements;
}

class OnnxFile : public ::testing::Test {
 protected:
  fs::path Write(const Net& net, const WeightOptions& options) {
    fs::path path = folder_.path() / (net.name() + ".onnx");
    const Status written = WriteOnnx(net, options, path);
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message);
    return path;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(OnnxFile, OfEachFamilyIsValidAndHasTheTotalsOfTheList) {
  std::mt19937_64 random(7);
  for (const Family& family : Families()) {
    for (int round = 0; round < 12; ++round) {
      const Point point = Drawn(family, random);
      const Result<Net> net = MakeNet(family, point, Blocks::kUnrolled);
      ASSERT_TRUE(net.ok()) << family.name << ": " << net.error().message;
      const WeightOptions options{round % 2 == 0 ? std::nullopt : std::optional<std::uint64_t>(round)};
      const fs::path path = Write(*net, options);
      EXPECT_NO_THROW(onnx::checker::check_model(path.string(), true)) << net->name();
      const Result<ModelGraph> graph = ReadModel(path, {});
      ASSERT_TRUE(graph.ok()) << net->name() << ": " << graph.error().message;
      const InspectTotals read = infimum::TotalsOf(*graph);
      const NetTotals made = *TotalsOf(*net);
      EXPECT_EQ(read.unknown, 0U) << net->name();
      Flops flops;
      Bytes moved;
      for (const Layer& layer : graph->layers) {
        if (layer.status != LayerStatus::kMeasurable) continue;
        flops += layer.work.direct;
        // As its workload moves: of experts that a gather picks the layer counts where they are read, once.
        const Work work = WorkOf(*layer.workload);
        moved += work.read() + work.written;
      }
      EXPECT_EQ(flops, made.flops) << net->name();
      EXPECT_EQ(moved, made.moved) << net->name();
      EXPECT_EQ(read.parameters, made.parameters + ConstantOperands(*net)) << net->name();
      const NetTotals counted = *TotalsOf(*MakeNet(family, point, Blocks::kCounted));
      EXPECT_EQ(counted.parameters, made.parameters) << net->name();
      EXPECT_EQ(counted.weights, made.weights) << net->name();
      EXPECT_EQ(counted.flops, made.flops) << net->name();
      EXPECT_EQ(counted.moved, made.moved) << net->name();
      EXPECT_EQ(counted.memory, made.memory) << net->name();
      EXPECT_LE(static_cast<std::int64_t>(fs::file_size(path)), BytesOnDisk(*net, options)) << net->name();
    }
  }
}

TEST_F(OnnxFile, TheReaderFindsTheCacheOfADecoderAndItsQuantizedWeights) {
  const Family& family = *FindFamily("decoder");
  const std::int64_t layers = 2, kv_heads = 2, width = 16, hidden = 64;
  Point point = DefaultsOf(family);
  for (const auto& [name, value] : Point{{"layers", layers}, {"hidden", hidden}, {"heads", 4}, {"kv-heads", kv_heads}})
    point[name] = value;
  for (std::int64_t context = 128; context <= 4096; context *= 2) {
    point["context"] = context;
    point["type"] = context % 3 == 1 ? 1 : 0;
    point["weights"] = context % 3;
    const Net net = *MakeNet(family, point, Blocks::kUnrolled);
    const Result<ModelGraph> graph = ReadModel(Write(net, {}), {});
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    const auto bytes = [&](const std::vector<ValueId>& values, std::string_view prefix) {
      std::int64_t sum = 0;
      for (const ValueId id : values) {
        const Value& value = graph->value(id);
        if (value.name.starts_with(prefix)) sum += SizeOf(value.type, ElementCount(*value.shape)).value;
      }
      return sum;
    };
    const std::int64_t token = 2 * layers * kv_heads * width * (point["type"] == 1 ? 2 : 4);
    EXPECT_EQ(bytes(graph->inputs, "past_key_values."), token * (context - 1));
    EXPECT_EQ(bytes(graph->outputs, "present."), token * context);
    // The products of attention read all of the cache, those of weights what is stored.
    std::int64_t cache = 0, weights = 0;
    for (const Layer& layer : graph->layers) {
      const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
      const auto* product = config != nullptr ? std::get_if<MatMulConfig>(config) : nullptr;
      if (product == nullptr) continue;
      const bool is_constant = product->weights == Constness::kConstant;
      (is_constant ? weights : cache) += layer.work.operand_reads[1].value;
    }
    EXPECT_EQ(cache, token * context);
    const std::int64_t inner = 256, vocabulary = 32000;
    const std::int64_t elements =
        layers * (2 * hidden * hidden + 2 * hidden * kv_heads * width + 3 * hidden * inner) + hidden * vocabulary;
    const std::int64_t bits[] = {point["type"] == 1 ? 16 : 32, 8, 4};
    EXPECT_EQ(weights, elements * bits[point["weights"]] / 8);
  }
}

onnx::ModelProto Load(const fs::path& path) {
  onnx::ModelProto model;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(model.ParseFromIstream(&file));
  return model;
}

TEST_F(OnnxFile, QuantizedElementsAreWithinTheirRangeAndTheirScaleMakesThemNumbers) {
  const Family& family = *FindFamily("decoder");
  Point point = DefaultsOf(family);
  for (const auto& [name, value] : Point{{"layers", 1}, {"hidden", 64}, {"heads", 4}, {"vocabulary", 100}})
    point[name] = value;
  for (const std::int64_t weights : {1, 2}) {
    point["weights"] = weights;
    const onnx::ModelProto model = Load(Write(*MakeNet(family, point, Blocks::kUnrolled), {.seed = 1}));
    const std::int64_t most = weights == 1 ? 127 : 7;
    std::map<std::string, const onnx::TensorProto*> tensors;
    for (const onnx::TensorProto& tensor : model.graph().initializer()) tensors[tensor.name()] = &tensor;
    int count = 0;
    for (const onnx::NodeProto& node : model.graph().node()) {
      if (node.op_type() != "DequantizeLinear") continue;
      ++count;
      const onnx::TensorProto &integers = *tensors.at(node.input(0)), &scale = *tensors.at(node.input(1));
      const std::int64_t elements = integers.dims(0) * integers.dims(1);
      ASSERT_EQ(static_cast<std::int64_t>(integers.raw_data().size()), weights == 1 ? elements : elements / 2);
      double squares = 0;
      for (std::int64_t i = 0; i < elements; ++i) {
        const std::size_t at = static_cast<std::size_t>(weights == 1 ? i : i / 2);
        const auto raw = static_cast<std::uint8_t>(integers.raw_data()[at]);
        const int value = weights == 1 ? static_cast<std::int8_t>(raw)
                          : i % 2 == 0 ? static_cast<std::int8_t>(raw << 4) >> 4
                                       : static_cast<std::int8_t>(raw) >> 4;
        EXPECT_LE(std::abs(value), most);
        squares += value * value;
      }
      float factor = 0;
      std::memcpy(&factor, scale.raw_data().data(), 4);
      EXPECT_NEAR(squares / static_cast<double>(elements) * factor * factor * static_cast<double>(integers.dims(0)), 1,
                  0.1);
    }
    EXPECT_EQ(count, 8);
  }
}

const onnx::TensorProto& Largest(const onnx::ModelProto& model) {
  return *std::ranges::max_element(model.graph().initializer(), {},
                                   [](const onnx::TensorProto& tensor) { return tensor.raw_data().size(); });
}

TEST_F(OnnxFile, StoredWeightsAreOfTheirSeedAndOfUnitVarianceInASum) {
  const Family& family = *FindFamily("fc");
  Point point = DefaultsOf(family);
  point["layers"] = 1;
  const auto weights = [&](std::uint64_t seed, std::int64_t type) {
    point["type"] = type;
    return Largest(Load(Write(*MakeNet(family, point, Blocks::kUnrolled), {seed}))).raw_data();
  };
  const std::string first = weights(1, 0);
  EXPECT_EQ(first, weights(1, 0));
  EXPECT_NE(first, weights(2, 0));
  ASSERT_EQ(first.size(), 2000U * 1024 * 4);
  const auto element = [](const std::string& bytes, std::size_t i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + 4 * i, 4);
    return static_cast<double>(value);
  };
  double sum = 0, squares = 0;
  const std::size_t count = first.size() / 4;
  for (std::size_t i = 0; i < count; ++i) {
    sum += element(first, i);
    squares += element(first, i) * element(first, i);
  }
  EXPECT_NEAR(squares / static_cast<double>(count) * 2000, 1, 0.01);
  EXPECT_NEAR(sum / static_cast<double>(count) * std::sqrt(2000), 0, 0.01);
  // The same elements, rounded.
  const std::string half = weights(1, 1), brain = weights(1, 2);
  for (std::size_t i = 0; i < 100'000; ++i) {  // some of which are below f16's normal numbers
    std::uint16_t bits = 0;
    std::memcpy(&bits, half.data() + 2 * i, 2);
    const int exponent = (bits >> 10) & 31;
    const double value = std::ldexp((bits & 0x3ffU) | (exponent > 0 ? 0x400U : 0U), std::max(exponent, 1) - 25) *
                         ((bits & 0x8000U) != 0 ? -1 : 1);
    EXPECT_NEAR(value, element(first, i), std::max(std::abs(element(first, i)) * 0x1p-11, 0x1p-25)) << i;
    std::memcpy(&bits, brain.data() + 2 * i, 2);
    const double rounded = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    EXPECT_NEAR(rounded / element(first, i), 1, 0x1p-8) << i;
  }
}

TEST_F(OnnxFile, WithoutASeedItIsSmallHoweverLargeTheModelIs) {
  Point point = DefaultsOf(*FindFamily("transformer"));
  point["layers"] = 24;
  point["hidden"] = 1020;
  const Net net = *MakeNet(*FindFamily("transformer"), point, Blocks::kUnrolled);
  EXPECT_GT(TotalsOf(net)->weights.value, 1'000'000'000);
  EXPECT_LT(fs::file_size(Write(net, {})), 300'000U);
}

TEST_F(OnnxFile, ManyWeightsLieBesideItAndAreTheSame) {
  const Net net = *MakeNet(*FindFamily("fc"), DefaultsOf(*FindFamily("fc")), Blocks::kUnrolled);
  const std::string inside = Largest(Load(Write(net, {.seed = 1}))).raw_data();
  const fs::path path = Write(net, {.seed = 1, .most_inside = 1 << 20});
  EXPECT_NO_THROW(onnx::checker::check_model(path.string(), true));
  EXPECT_LT(fs::file_size(path), 20'000U);
  const Result<ModelGraph> graph = ReadModel(path, {});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(infimum::TotalsOf(*graph).parameters, TotalsOf(net)->parameters);
  // The first weight is the largest.
  std::ifstream data(path.string() + ".data", std::ios::binary);
  std::string beside(inside.size(), '\0');
  ASSERT_TRUE(data.read(beside.data(), static_cast<std::streamsize>(beside.size())));
  EXPECT_EQ(beside, inside);
}

TEST_F(OnnxFile, AFolderThatIsNotThereIsSaid) {
  const Net net = *MakeNet(*FindFamily("fc"), DefaultsOf(*FindFamily("fc")), Blocks::kUnrolled);
  const Status written = WriteOnnx(net, {}, folder_.path() / "absent" / "fc.onnx");
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, ::testing::HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace infimum::synth::onnx_file_test
