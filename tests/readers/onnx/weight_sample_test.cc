#include "src/readers/onnx/weight_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/readers/onnx/model_text.h"
#include "tests/support/temporary_folder.h"

namespace infimum::weight_sample_test {
namespace {

using onnx::TensorProto;

constexpr std::int64_t kColumns = 64;

template <class T>
std::string BytesOf(const std::vector<T>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}

std::string RandomBytes(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() & 255u);
  return bytes;
}

std::vector<float> Normal(std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.02F);
  std::vector<float> weights(count);
  for (float& weight : weights) weight = normal(random);
  return weights;
}

// f32 whose low half is zero: bf16.
std::vector<float> Brain(std::vector<float> weights) {
  for (float& weight : weights) weight = std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight) & 0xFFFF0000u);
  return weights;
}

TensorProto TensorOf(std::int64_t elements, int type = TensorProto::FLOAT) {
  TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(type);
  tensor.add_dims(elements / kColumns);
  tensor.add_dims(kColumns);
  return tensor;
}

TensorProto RawTensor(const std::string& bytes, int type = TensorProto::FLOAT, std::int64_t bits = 32) {
  TensorProto tensor = TensorOf(static_cast<std::int64_t>(bytes.size()) * 8 / bits, type);
  tensor.set_raw_data(bytes);
  return tensor;
}

std::optional<WeightSample> SampleOf(const TensorProto& tensor, std::optional<DataType> floats = std::nullopt) {
  WeightSampler sampler(floats);
  sampler.Add(tensor, Shape{{tensor.dims().begin(), tensor.dims().end()}}, {});
  return sampler.Take();
}

// y = w, so that no operator looks at the type.
onnx::ModelProto ModelOf(const TensorProto& w) {
  onnx::ModelProto model = infimum::ModelOf("g (float[2] x) => (float[2] y) { [r] y = Relu (x) }");
  *model.mutable_graph()->add_initializer() = w;
  return model;
}

std::optional<WeightSample> Read(const TensorProto& w) {
  const Result<ModelGraph> graph = TryRead(ModelOf(w));
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return graph.ok() ? graph->weights : std::nullopt;
}

void ExpectSample(const std::optional<WeightSample>& sample, std::int64_t bytes, double zeros, double information,
                  double tolerance = 0.02) {
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->bytes.value, bytes);
  EXPECT_NEAR(sample->zero_share, zeros, tolerance);
  EXPECT_NEAR(sample->information_share, information, tolerance);
}

TEST(WeightSample, RandomBytesNeedAllOfTheirBits) {
  struct Case {
    int type;
    std::int64_t bits;
    double zeros;
  };
  for (const Case& one : {Case{TensorProto::DOUBLE, 64, 0},
                          {TensorProto::FLOAT, 32, 0},
                          {TensorProto::BFLOAT16, 16, 0},
                          {TensorProto::FLOAT16, 16, 0},
                          {TensorProto::INT8, 8, 1.0 / 256},
                          {TensorProto::UINT4, 4, 1.0 / 16}})
    for (const std::size_t bytes : {std::size_t{32768}, std::size_t{1} << 20})
      ExpectSample(SampleOf(RawTensor(RandomBytes(bytes), one.type, one.bits)), static_cast<std::int64_t>(bytes),
                   one.zeros, 1);
}

TEST(WeightSample, NormallyDistributedWeightsNeedTheirMantissasAndAFewBits) {
  ExpectSample(SampleOf(RawTensor(BytesOf(Normal(65536)))), 65536 * 4, 0, 0.833, 0.01);
}

TEST(WeightSample, LowPlanesThatAreZeroNeedNothing) {
  ExpectSample(SampleOf(RawTensor(BytesOf(Brain(Normal(65536))))), 65536 * 4, 0, 0.333, 0.01);
}

TEST(WeightSample, PrunedWeightsShowTheirZeros) {
  std::vector<float> half = Normal(65536);
  for (std::size_t i = 0; i < half.size(); ++i)
    if (std::fabs(half[i]) < 0.6745F * 0.02F) half[i] = i % 2 == 0 ? 0.0F : -0.0F;
  ExpectSample(SampleOf(RawTensor(BytesOf(half))), 65536 * 4, 0.5, 0.54, 0.04);
}

TEST(WeightSample, AConstantNeedsNothing) {
  const std::optional<WeightSample> sample = SampleOf(RawTensor(BytesOf(std::vector<float>(65536, 0.01F))));
  ExpectSample(sample, 65536 * 4, 0, 0, 0);
  ExpectSample(SampleOf(RawTensor(std::string(65536, '\0'))), 65536, 1, 0, 0);
}

TEST(WeightSample, FourBitsCountZerosByTheElement) {
  ExpectSample(SampleOf(RawTensor(std::string(65536, '\x30'), TensorProto::INT4, 4)), 65536, 0.5, 0, 0);
}

TEST(WeightSample, SmallTensorsAndIndicesSayNothing) {
  EXPECT_FALSE(SampleOf(RawTensor(RandomBytes(4032 * 4))));
  EXPECT_FALSE(SampleOf(RawTensor(RandomBytes(65536 * 8), TensorProto::INT64, 64)));
  EXPECT_FALSE(SampleOf(RawTensor(RandomBytes(65536 * 4), TensorProto::INT32)));
  EXPECT_FALSE(SampleOf(RawTensor(RandomBytes(65536), TensorProto::BOOL, 8)));
  EXPECT_FALSE(SampleOf(TensorOf(65536)));  // no elements
}

TEST(WeightSample, WeightsThatAreStoredAsAnotherTypeSayNothing) {
  const TensorProto tensor = RawTensor(RandomBytes(65536));
  EXPECT_FALSE(SampleOf(tensor, DataType::kF16));
  EXPECT_TRUE(SampleOf(tensor, DataType::kF32));
  EXPECT_TRUE(SampleOf(RawTensor(RandomBytes(65536), TensorProto::INT8, 8), DataType::kF16));
}

TEST(WeightSample, TensorsCountByTheirBytes) {
  WeightSampler sampler;
  sampler.Add(RawTensor(std::string(3 * 65536, '\0')), Shape{{3 * 16384}}, {});
  sampler.Add(RawTensor(RandomBytes(65536)), Shape{{16384}}, {});
  ExpectSample(sampler.Take(), 4 * 65536, 0.75, 0.25, 0.005);
}

// Typed fields say what raw bytes say, in small files, which are parsed whole, and in large ones, which are not.
TEST(WeightSample, EveryEncodingSaysTheSame) {
  for (const std::size_t count : {std::size_t{8192}, std::size_t{1} << 20}) {
    const std::vector<float> floats = Brain(Normal(count));
    TensorProto typed = TensorOf(static_cast<std::int64_t>(count));
    typed.mutable_float_data()->Add(floats.begin(), floats.end());
    const std::optional<WeightSample> raw = Read(RawTensor(BytesOf(floats))), of_floats = Read(typed);
    ASSERT_TRUE(raw && of_floats);
    EXPECT_EQ(raw->information_share, of_floats->information_share);
    EXPECT_NEAR(raw->information_share, 0.333, 0.01);

    TensorProto doubles = TensorOf(static_cast<std::int64_t>(count), TensorProto::DOUBLE);
    doubles.mutable_double_data()->Add(floats.begin(), floats.end());
    ExpectSample(Read(doubles), static_cast<std::int64_t>(count) * 8, 0, 0.333 * 32 / 64, 0.01);

    const std::string bytes = RandomBytes(2 * count);
    TensorProto halves = TensorOf(static_cast<std::int64_t>(count), TensorProto::FLOAT16);
    TensorProto integers = TensorOf(static_cast<std::int64_t>(count), TensorProto::INT8);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t half = 0;
      std::memcpy(&half, bytes.data() + 2 * i, 2);
      halves.add_int32_data(i % 4 == 0 ? 0 : half);
      integers.add_int32_data(static_cast<std::int8_t>(i % 4 == 0 ? 0 : bytes[i]));
    }
    ExpectSample(Read(halves), static_cast<std::int64_t>(count) * 2, 0.25, 0.84, 0.02);
    ExpectSample(Read(integers), static_cast<std::int64_t>(count), 0.25, 0.84, 0.02);
  }
}

// Along the rows of 64 columns two of each four are zero, other ones in each column.
std::vector<float> SparseWeights(std::size_t count) {
  std::vector<float> weights = Normal(count);
  for (std::size_t i = 0; i < count; ++i)
    if ((i / kColumns + i % kColumns) % 4 < 2) weights[i] = i % 3 == 0 ? -0.0F : 0.0F;
  return weights;
}

ZeroPattern Pattern(const TensorProto& tensor) {
  return ZeroPatternOf(tensor, Shape{{tensor.dims().begin(), tensor.dims().end()}}, {});
}

TEST(WeightSample, ZerosWhereSparseTensorCoresWantThem) {
  const auto of_rows = [](std::vector<float> weights, std::vector<std::size_t> filled) {
    for (const std::size_t i : filled) weights[i] = 1;
    return RawTensor(BytesOf(weights));
  };
  // The pattern of SparseWeights() goes both ways.
  EXPECT_EQ(Pattern(of_rows(SparseWeights(8192), {})), (ZeroPattern{true, true, false}));
  // A third one in the last four of a row, of a column.
  std::vector<float> rows = SparseWeights(8192), columns = rows;
  const auto fill = [](std::vector<float>& weights, std::size_t first, std::size_t step) {
    for (std::size_t i = 0; i < 4; ++i)
      if (weights[first + i * step] == 0) return weights[first + i * step] = 1;
    return 0.0F;
  };
  fill(rows, 8192 - 4, 1);
  EXPECT_EQ(Pattern(RawTensor(BytesOf(rows))), (ZeroPattern{}));
  // Two rows of each four that are zero throughout: along the rows alone.
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = i / kColumns % 4 < 2 ? 0.0F : 1.0F;
  EXPECT_EQ(Pattern(RawTensor(BytesOf(columns))), (ZeroPattern{true, false, false}));
  fill(columns, 64 * 124 + 63, kColumns);
  EXPECT_EQ(Pattern(RawTensor(BytesOf(columns))), (ZeroPattern{}));
  EXPECT_EQ(Pattern(RawTensor(BytesOf(Normal(8192)))), (ZeroPattern{}));
  EXPECT_EQ(Pattern(RawTensor(std::string(32768, '\0'))), (ZeroPattern{}));
  EXPECT_EQ(Pattern(of_rows(SparseWeights(2048), {})), (ZeroPattern{}));
  EXPECT_EQ(Pattern(TensorOf(8192)), (ZeroPattern{}));  // no elements
  // A zero of f8e8m0 is a number; 4 bits are not looked at.
  EXPECT_EQ(Pattern(RawTensor(std::string(8192, '\0') + std::string(8192, '1'), TensorProto::FLOAT8E8M0, 8)),
            (ZeroPattern{}));
  // Zero points that are none, however many.
  const auto zero_points = [](std::string bytes) {
    TensorProto tensor;
    tensor.set_data_type(TensorProto::INT8);
    tensor.add_dims(static_cast<std::int64_t>(bytes.size()));
    tensor.set_raw_data(bytes);
    return Pattern(tensor).all;
  };
  EXPECT_TRUE(zero_points(std::string(5000, '\0')));
  EXPECT_FALSE(zero_points(std::string(5000, '\0') + "1"));
  // 62 rows are no fours.
  TensorProto cut = TensorOf(62 * kColumns + 4 * kColumns * 64);
  EXPECT_EQ(Pattern(cut), (ZeroPattern{}));
}

// The product that the weights belong to, however they are given to it.
std::string ProductOf(const std::string& nodes, const std::string& x = "float[4, 128] x", bool dense = false) {
  onnx::ModelProto model =
      infimum::ModelOf("g (" + x + ") => (y) <float s = {0.1}, int8 z = {0}, int8 five = {5}> { " + nodes + " }");
  *model.mutable_graph()->add_initializer() = RawTensor(BytesOf(dense ? Normal(8192) : SparseWeights(8192)));
  const Result<ModelGraph> graph = TryRead(model);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  if (!graph.ok() || graph->layers.empty() || !graph->layers.back().workload) return "";
  return Format(*graph->layers.back().workload);
}

TEST(WeightSample, ProductsOfSparseWeightsSaySo) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  const auto is_sparse = HasSubstr("weights=const sparsity=2:4");
  EXPECT_THAT(ProductOf("y = MatMul (x, w)"), is_sparse);
  EXPECT_THAT(ProductOf("y = MatMul (x, w)", "float[4, 128] x", true), Not(HasSubstr("sparsity")));
  EXPECT_THAT(ProductOf("y = Gemm <transB = 1> (x, w)", "float[4, 64] x"), is_sparse);
  EXPECT_THAT(ProductOf("t = Transpose (w) y = MatMul (x, t)", "float[4, 64] x"), is_sparse);
  EXPECT_THAT(ProductOf("c = Cast <to = 10> (w) y = MatMul (x, c)", "float16[4, 128] x"), is_sparse);
  EXPECT_THAT(ProductOf("t = Transpose <perm = [0, 1]> (w) y = MatMul (x, t)"), is_sparse);
  EXPECT_THAT(ProductOf("c = Cast <to = 3> (w) d = DequantizeLinear (c, s) y = MatMul (x, d)"), is_sparse);
  EXPECT_THAT(ProductOf("c = Cast <to = 3> (w) d = DequantizeLinear (c, s, z) y = MatMul (x, d)"), is_sparse);
  EXPECT_THAT(ProductOf("c = Cast <to = 3> (w) d = DequantizeLinear (c, s, five) y = MatMul (x, d)"),
              Not(HasSubstr("sparsity")));
  EXPECT_THAT(ProductOf("c = Cast <to = 3> (w) d = DequantizeLinear (c, s) t = Transpose (d) y = MatMul (x, t)",
                        "float[4, 64] x"),
              is_sparse);
  // Another matrix than the one that was looked at, of too few bits, or no constant.
  EXPECT_THAT(ProductOf("c = Cast <to = 22> (w) d = DequantizeLinear (c, s) y = MatMul (x, d)"),
              Not(HasSubstr("sparsity")));
  EXPECT_THAT(ProductOf("n = Neg (w) y = MatMul (x, n)"), Not(HasSubstr("sparsity")));
  EXPECT_THAT(ProductOf("n = Add (w, b) y = MatMul (x, n)", "float[4, 128] x, float[128, 64] b"),
              HasSubstr("weights=variable"));
}

TEST(WeightSample, AMarkOfElidedElementsThatIsForgedIsNotFollowed) {
  for (const char* place : {"65536,9,0", "65536,9,9223372036854775807", "65536,9,-1", "9223372036854775807,9,1",
                            "65536,0,0", "65536,5,0", "65536,99999999999,0", "65536,9", "65536"}) {
    TensorProto tensor = TensorOf(16384);
    tensor.set_doc_string(std::string("infimum: elements left out, bytes, field, offset=") + place);
    const Result<ModelGraph> graph = TryRead(ModelOf(tensor));
    EXPECT_FALSE(graph.ok() && graph->weights) << place;
  }
}

TensorProto ExternalTensor(std::int64_t elements, const std::string& offset) {
  TensorProto tensor = TensorOf(elements);
  tensor.set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair("location", std::string("w.bin")), std::pair("offset", offset)}) {
    onnx::StringStringEntryProto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  return tensor;
}

TEST(WeightSample, ExternalDataIsSampledAtItsOffset) {
  const testing::TemporaryFolder folder;
  const std::vector<float> weights = Brain(Normal(65536));
  folder.Write("w.bin", RandomBytes(4096) + BytesOf(weights));
  const auto read = [&](const std::string& offset) {
    return ReadModel(folder.Write("model.onnx", ModelOf(ExternalTensor(65536, offset)).SerializeAsString()), {});
  };
  const Result<ModelGraph> graph = read("4096");
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  ASSERT_TRUE(graph->weights);
  EXPECT_EQ(graph->weights->information_share, SampleOf(RawTensor(BytesOf(weights)))->information_share);
  for (const char* offset : {"4097", "9223372036854775807", "-1"}) EXPECT_FALSE(read(offset).ok()) << offset;
}

TEST(WeightSample, AModelWithoutStoredWeightsHasNone) {
  const ModelGraph graph = ReadText(
      "g (float[2, 512] x) => (float[2, 512] y) <int64[2] shape = {512, 512}> {"
      "  w = ConstantOfShape <value: tensor = float[1] {0.01}> (shape) y = MatMul (x, w) }");
  EXPECT_FALSE(graph.weights);
}

}  // namespace
}  // namespace infimum::weight_sample_test
