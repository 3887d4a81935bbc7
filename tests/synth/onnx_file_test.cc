// Files of families against onnx's checker, our own reader, and the totals that --list gives.
#include "src/synth/onnx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <random>

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
  if (point.contains("heads")) point["hidden"] *= point["heads"];
  return point;
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
      const Result<Net> net = MakeNet(family, Drawn(family, random), Blocks::kUnrolled);
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
        moved += layer.work.read() + layer.work.written;
      }
      EXPECT_EQ(flops, made.flops) << net->name();
      EXPECT_EQ(moved, made.moved) << net->name();
      // The reader counts each constant operand, the factors of attention too.
      const auto numbers = std::ranges::count(net->tensors(), NetTensor::Role::kNumber, &NetTensor::role);
      EXPECT_EQ(read.parameters, made.parameters + numbers) << net->name();
      EXPECT_LE(static_cast<std::int64_t>(fs::file_size(path)), BytesOnDisk(*net, options)) << net->name();
    }
  }
}

onnx::ModelProto Load(const fs::path& path) {
  onnx::ModelProto model;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(model.ParseFromIstream(&file));
  return model;
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
