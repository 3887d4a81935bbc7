// What-ifs about the whole model, held against models that really are what is assumed.
#include "src/app/models/model_variant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "src/app/models/one_layout_source.h"
#include "src/app/processes/temporary_folder.h"
#include "tests/support/random_graph.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MeasuredRow;
using testing::TestEnvironment;

// A convolution, its normalization and activation, a pooling, a product; every float of it is of type T.
std::string ModelText(const std::string& type, const std::string& batch, const std::string& number) {
  std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (T[BATCH, 8, 16, 16] x) => (T[BATCH, 10] y)
    <int64[4] ws = {32, 8, 3, 3}, int64[1] cs = {32}, int64[2] ms = {2048, 10}, int64[2] fs = {0, -1}>
    {
      w = ConstantOfShape <value: tensor = T {NUMBER}> (ws)
      scale = ConstantOfShape <value: tensor = T {NUMBER}> (cs)
      m = ConstantOfShape <value: tensor = T {NUMBER}> (ms)
      a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w)
      b = BatchNormalization (a, scale, scale, scale, scale)
      c = Relu (b)
      d = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (c)
      e = Reshape (d, fs)
      f = MatMul (e, m)
      y = Softmax <axis = 1> (f)
    })";
  const auto replace = [&](const std::string& what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
      text.replace(at, what.size(), with);
  };
  replace("T[", type + "[");
  replace("T {", type + "[1] {");
  replace("NUMBER", number);
  replace("BATCH", batch);
  return text;
}

class ModelVariantTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::Make();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    folder_.emplace(*std::move(folder));
    source_.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  }

  std::filesystem::path Write(const std::string& name, const std::string& text) {
    onnx::ModelProto model;
    const auto parsed = onnx::OnnxParser::Parse(model, text.c_str());
    EXPECT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
    const std::filesystem::path path = folder_->path() / name;
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    return path;
  }

  ModelGraph Read(const std::filesystem::path& path, const ReadOptions& options = {}) {
    Result<ModelGraph> graph = ReadModel(path, options);
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    return graph.ok() ? *std::move(graph) : ModelGraph();
  }

  void Add(const WorkloadKey& key, const std::string& algorithm, double time, const std::string& layout = "any",
           NumericContract contract = NumericContract::kStrictF32) {
    Measurement row = MeasuredRow(key, algorithm, {Latency(time), Latency(time * 1.01)});
    row.candidate.input_layout = row.candidate.output_layout = layout;
    row.contract = contract;
    source_.Add(row, TestEnvironment(1));
  }

  // A time for each layer of its own, `times` as long.
  void AddAll(const ModelGraph& graph, double times) {
    double time = 10;
    for (const Layer& layer : graph.layers) {
      if (!layer.workload) continue;
      Add(KeyOf(*layer.workload), "one", time * times, "any", NativeContract(*layer.workload));
      time += 10;
    }
  }

  // The model as it is, and one variant of it.
  Result<WhatIfOutcome> Solve(const std::string& what, const std::filesystem::path& path,
                              const std::map<std::string, std::int64_t>& dims) {
    const ModelGraph graph = Read(path, ReadOptions{dims});
    const Result<Bracket> bracket = ComputeBracket(graph, source_, testing::TestSelection(1));
    if (!bracket.ok()) return bracket.error();
    INFIMUM_ASSIGN_OR_RETURN(const ModelVariant variant, ParseModelVariant(what));
    return SolveVariant(variant, {path, dims, {}, graph, *bracket}, source_);
  }

  static WhatIfBound Sequential(const WhatIfOutcome& outcome) {
    for (const WhatIfBound& bound : outcome.bounds)
      if (bound.variant == BoundVariant::kSequential) return bound;
    ADD_FAILURE() << outcome.name << " has no sequential bound";
    return {};
  }

  std::optional<TemporaryFolder> folder_;
  MemorySource source_;
};

std::vector<std::string> Texts(const ModelGraph& graph) {
  std::vector<std::string> texts;
  for (const Layer& layer : graph.layers)
    texts.push_back(layer.workload ? Format(*layer.workload) : std::string(layer.op) + " " + layer.reason);
  return texts;
}

// The model stored in another type is the one that a file of that type holds, layer by layer and region by region.
TEST_F(ModelVariantTest, AModelReadUnderAContractIsTheModelOfThatType) {
  const struct {
    NumericContract contract;
    const char* type;
  } kCases[] = {
      {NumericContract::kStrictF32, "float"}, {NumericContract::kF16, "float16"}, {NumericContract::kBf16, "bfloat16"}};
  const auto read = [&](const char* type, std::optional<NumericContract> contract) {
    const auto path =
        Write(std::string(type) + ".onnx", ModelText(type, "1", type == std::string("float") ? "1.0" : "1"));
    Result<ModelUnder> under = ReadModelUnder(path, {}, contract);
    EXPECT_TRUE(under.ok()) << under.error().message;
    return under.ok() ? *std::move(under) : ModelUnder();
  };
  for (const auto& [contract, type] : kCases) {
    const ModelUnder real = read(type, {});
    EXPECT_EQ(MainContract(real.graph), contract);
    for (const auto& [other_contract, other] : kCases) {
      EXPECT_EQ(Texts(read(other, {}).graph) == Texts(real.graph), contract == other_contract);
      const ModelUnder assumed = read(other, contract);
      EXPECT_EQ(Texts(assumed.graph), Texts(real.graph)) << other << " as " << type;
      EXPECT_EQ(testing::RegionKeys(assumed.graph), testing::RegionKeys(real.graph)) << other << " as " << type;
      EXPECT_EQ(assumed.selected, std::nullopt);
    }
  }
  // Contracts that types do not imply select the rows themselves.
  const ModelUnder tf32 = read("float", NumericContract::kTf32);
  EXPECT_EQ(Texts(tf32.graph), Texts(read("float", {}).graph));
  EXPECT_EQ(tf32.selected, NumericContract::kTf32);
  EXPECT_EQ(read("float", NumericContract::kInt8).selected, NumericContract::kInt8);
}

TEST_F(ModelVariantTest, ContractsThatHaveRowsStandBesideEachOther) {
  const auto path = Write("f32.onnx", ModelText("float", "1", "1.0"));
  const ModelGraph graph = Read(path);
  AddAll(graph, 1);
  const Result<Bracket> bracket = ComputeBracket(graph, source_, testing::TestSelection(1));
  ASSERT_TRUE(bracket.ok()) << bracket.error().message;
  const std::map<std::string, std::int64_t> dims;
  Result<std::vector<WhatIfOutcome>> contracts = SolveMeasuredVariants({path, dims, {}, graph, *bracket}, source_);
  ASSERT_TRUE(contracts.ok()) << contracts.error().message;
  EXPECT_THAT(*contracts, IsEmpty());

  Result<ModelUnder> under = ReadModelUnder(path, {}, NumericContract::kBf16);
  ASSERT_TRUE(under.ok()) << under.error().message;
  AddAll(under->graph, 0.25);
  contracts = SolveMeasuredVariants({path, dims, {}, graph, *bracket}, source_);
  ASSERT_TRUE(contracts.ok()) << contracts.error().message;
  ASSERT_EQ(contracts->size(), 1U);
  const WhatIfOutcome& bf16 = contracts->front();
  EXPECT_EQ(bf16.name, "contract:bf16");
  const Latency as_it_is = bracket->Find(BoundVariant::kSequential)->latency;
  EXPECT_DOUBLE_EQ(Sequential(bf16).latency.count(), as_it_is.count() / 4);
  EXPECT_DOUBLE_EQ(Sequential(bf16).gain->count(), as_it_is.count() * 3 / 4);
  ASSERT_TRUE(bf16.coverage.has_value());
  EXPECT_DOUBLE_EQ(bf16.coverage->measured, 1);
  EXPECT_EQ(bf16.bounds.size(), bracket->bounds.size());
}

// Rows of the same layers that a contract alone admits.
TEST_F(ModelVariantTest, RowsOfAContractOfTheSameTypesCount) {
  const auto path = Write("f32.onnx", ModelText("float", "1", "1.0"));
  const ModelGraph graph = Read(path);
  AddAll(graph, 1);
  const Result<Bracket> bracket = ComputeBracket(graph, source_, testing::TestSelection(1));
  ASSERT_TRUE(bracket.ok()) << bracket.error().message;
  for (const Layer& layer : graph.layers)
    if (layer.workload) Add(KeyOf(*layer.workload), "tensor-core", 1, "any", NumericContract::kTf32);
  const std::map<std::string, std::int64_t> dims;
  const Result<std::vector<WhatIfOutcome>> contracts =
      SolveMeasuredVariants({path, dims, {}, graph, *bracket}, source_);
  ASSERT_TRUE(contracts.ok()) << contracts.error().message;
  ASSERT_EQ(contracts->size(), 1U);
  EXPECT_EQ(contracts->front().name, "contract:tf32");
  // Each layer's repetitions take 1 and 1.01 us.
  EXPECT_DOUBLE_EQ(Sequential(contracts->front()).latency.count(),
                   std::sqrt(1.01) * static_cast<double>(contracts->front().layers));
}

TEST_F(ModelVariantTest, OtherCacheStatesThatHaveRowsStandBeside) {
  const auto path = Write("f32.onnx", ModelText("float", "1", "1.0"));
  const ModelGraph graph = Read(path);
  AddAll(graph, 1);
  const Result<Bracket> bracket = ComputeBracket(graph, source_, testing::TestSelection(1));
  ASSERT_TRUE(bracket.ok()) << bracket.error().message;
  const auto add_cold = [&](const Layer& layer, double time) {
    Measurement row = MeasuredRow(KeyOf(*layer.workload), "one", {Latency(time), Latency(time)});
    row.cache = CacheState::kColdWeights;
    source_.Add(row, TestEnvironment(1));
  };
  std::vector<const Layer*> weighted;
  for (const Layer& layer : graph.layers)
    if (layer.workload && HasConstants(*layer.workload)) weighted.push_back(&layer);
  ASSERT_EQ(weighted.size(), 2U);
  for (const Layer* layer : weighted) add_cold(*layer, 100);
  const std::map<std::string, std::int64_t> dims;
  const Result<std::vector<WhatIfOutcome>> variants = SolveMeasuredVariants({path, dims, {}, graph, *bracket}, source_);
  ASSERT_TRUE(variants.ok()) << variants.error().message;
  ASSERT_EQ(variants->size(), 1U);
  EXPECT_EQ(variants->front().name, "cache:cold-weights");
  EXPECT_LT(Sequential(variants->front()).gain->count(), 0);
  EXPECT_DOUBLE_EQ(variants->front().coverage->measured, 1);
}

TEST_F(ModelVariantTest, ALargerBatchIsHeldAgainstAsManyInferences) {
  const auto path = Write("batch.onnx", ModelText("float", "N", "1.0"));
  const std::map<std::string, std::int64_t> one{{"N", 1}};
  AddAll(Read(path, ReadOptions{one}), 1);
  AddAll(Read(path, ReadOptions{{{"N", 8}}}), 3);
  const Result<WhatIfOutcome> outcome = Solve("dim:N=8", path, one);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_DOUBLE_EQ(outcome->inferences, 8);
  const WhatIfBound bound = Sequential(*outcome);
  ASSERT_TRUE(bound.gain.has_value());
  EXPECT_DOUBLE_EQ(bound.gain->count(), bound.latency.count() * 5 / 3);  // eight single ones against three
  const Result<WhatIfOutcome> unmeasured = Solve("dim:N=4", path, one);
  ASSERT_TRUE(unmeasured.ok()) << unmeasured.error().message;
  EXPECT_THAT(unmeasured->bounds, IsEmpty());
  // One layer of it alone says nothing about the whole.
  Result<ModelGraph> two = ReadModel(path, ReadOptions{{{"N", 2}}});
  ASSERT_TRUE(two.ok()) << two.error().message;
  const auto product = std::ranges::find(two->layers, "MatMul", &Layer::op);
  ASSERT_NE(product, two->layers.end());
  Add(KeyOf(*product->workload), "one", 20);
  const Result<WhatIfOutcome> partly = Solve("dim:N=2", path, one);
  ASSERT_TRUE(partly.ok()) << partly.error().message;
  EXPECT_EQ(Sequential(*partly).gain, std::nullopt);
  const Result<WhatIfOutcome> unknown = Solve("dim:M=4", path, one);
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("M"));
}

TEST_F(ModelVariantTest, OneLayoutAdmitsItsOwnCandidatesAndThoseThatTakeAny) {
  const auto path = Write("layouts.onnx", ModelText("float", "1", "1.0"));
  const ModelGraph graph = Read(path);
  AddAll(graph, 1);  // of any layout: 10 for the convolution
  const auto first = std::ranges::find_if(graph.layers, [](const Layer& layer) { return layer.workload.has_value(); });
  ASSERT_NE(first, graph.layers.end());
  const WorkloadKey convolution = KeyOf(*first->workload);
  ASSERT_THAT(convolution.text, HasSubstr("convolution"));
  Add(convolution, "blocked", 2, "aBcd16b");
  Add(convolution, "last", 4, "acdb");
  Add(convolution, "nhwc", 5, "nhwc");
  Add(convolution, "first", 6, "abcd");
  Add(convolution, "hidden", 1, "opaque");
  const auto convolution_takes = [&](const std::string& what) {
    const Result<WhatIfOutcome> outcome = Solve(what, path, {});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    // The rest of the model takes what it took; a row's repetitions take its time and 1.01 times that.
    return outcome.ok() ? 1 - Sequential(*outcome).gain->count() / std::sqrt(1.01) : 0;
  };
  EXPECT_NEAR(convolution_takes("layout:aBcd16b"), 2, 1e-9);
  EXPECT_NEAR(convolution_takes("layout:channels-last"), 4, 1e-9);
  EXPECT_NEAR(convolution_takes("layout:row-major"), 6, 1e-9);
  EXPECT_NEAR(convolution_takes("layout:acbd"), 10, 1e-9);  // nobody's: what takes any is left
}

// What a region's element-wise member writes is the convolution's image, named as a row of elements.
TEST(OneLayout, LooksThroughARegionThatEndsElementWise) {
  const WorkloadKey region{
      "region [convolution dtype=f32:f32:f32 in=1x8x4x4 out_channels=8 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
      "groups=1 bias=no weights=const](in0,w0) ; [pointwise kind=relu dtype=f32:-:f32 in=128](%0)"};
  ASSERT_TRUE(ParseWorkload(region.text).ok());
  MemorySource source;
  const auto add = [&](const std::string& name, const std::string& input, const std::string& output) {
    Measurement row = testing::MeasuredRow(region, name, {Latency(1)});
    row.candidate.input_layout = input;
    row.candidate.output_layout = output;
    source.Add(row, testing::TestEnvironment(1));
  };
  add("mixed", "abcd", "1x8x16:acb");
  add("first", "abcd", "a");
  add("last", "acdb", "1x8x16:acb");
  const auto found = [&](const std::string& layout) {
    OneLayoutSource one(source, layout);
    const Result<std::vector<Measurement>> rows = one.Find(std::array{region}, testing::TestSelection(1));
    std::vector<std::string> names;
    for (const Measurement& row : *rows) names.push_back(row.candidate.algorithm);
    return names;
  };
  EXPECT_THAT(found("row-major"), ElementsAre("first"));
  EXPECT_THAT(found("channels-last"), ElementsAre("last"));
}

TEST(ParsedModelVariant, SaysWhatCouldStandThere) {
  for (const char* text :
       {"contract:", "contract:bf61", "dim:", "dim:N", "dim:N=0", "dim:=4", "dim:N=x", "cache:", "cache:col",
        "layout:", "layout:ab", "layout:chanels-last", "layout:abcc", "layout:zzz", "layout:a,b"}) {
    ASSERT_TRUE(IsModelVariant(text)) << text;
    EXPECT_FALSE(ParseModelVariant(text).ok()) << text;
  }
  EXPECT_THAT(ParseModelVariant("contract:bf61").error().message, HasSubstr("bf16"));
  EXPECT_FALSE(IsModelVariant("free:op=Softmax"));
  EXPECT_FALSE(IsModelVariant("floor:all"));
}

}  // namespace
}  // namespace infimum
