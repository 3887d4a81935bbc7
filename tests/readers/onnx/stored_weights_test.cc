// Weights in fewer bits than the arithmetic: every form in which a file may have them is one product with its bytes as
// stored, scales and zero points among them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/readers/onnx/model_text.h"

namespace infimum::stored_weights_test {
namespace {

using ::testing::HasSubstr;

// A model whose last layer is the product: y = x (2 x 4096) times what `nodes` make of `weights`.
ModelGraph Model(const std::string& type, const std::string& weights, const std::string& nodes) {
  return ReadText("g (" + type + "[2, 4096] x) => (" + type + "[2, 1024] y) <" + weights + "> {" + nodes + "}", {}, 25);
}

struct Form {
  const char* name;
  const char* type;
  const char* weights;
  const char* nodes;
  const char* text;       // of the product, from its types on
  std::int64_t elements;  // bytes of the weights
  std::int64_t scales;    // bytes of scales and zero points
};

constexpr std::int64_t kCount = 4096 * 1024;

const Form kForms[] = {
    {"PerTensor", "float", "int8[4096, 1024] w, float s, int8 z", "f = DequantizeLinear (w, s, z) y = MatMul (x, f)",
     "f32:s8:f32 a=1x2x4096 b=1x4096x1024 bias=no weights=const", kCount, 0},
    {"PerColumnOfZeros", "float", "int8[4096, 1024] w, float[1024] s, int8[1024] z",
     "f = DequantizeLinear <axis = 1> (w, s, z) y = MatMul (x, f)", "weights=const scales=4096x1:f32", kCount,
     1024 * 4},
    {"PerColumnWithoutZeros", "float", "int8[4096, 1024] w, float[1024] s",
     "f = DequantizeLinear (w, s) y = MatMul (x, f)", "scales=4096x1:f32", kCount, 1024 * 4},
    {"PerRow", "float", "int8[4096, 1024] w, float[4096] s", "f = DequantizeLinear <axis = 0> (w, s) y = MatMul (x, f)",
     "scales=1x1024:f32", kCount, 4096 * 4},
    {"Blocked", "float", "int4[4096, 1024] w, float[128, 1024] s",
     "f = DequantizeLinear <axis = 0, block_size = 32> (w, s) y = MatMul (x, f)", "f32:s4:f32 a=1x2x4096", kCount / 2,
     128 * 1024 * 4},
    {"BlockedWithZeros", "float", "uint4[4096, 1024] w, float[128, 1024] s, uint4[128, 1024] z",
     "f = DequantizeLinear <axis = 0, block_size = 32> (w, s, z) y = MatMul (x, f)", "scales=32x1:f32:u4", kCount / 2,
     128 * 1024 * 4 + 128 * 1024 / 2},
    {"GemmTransposed", "float", "uint4[1024, 4096] w, float[1024, 32] s",
     "f = DequantizeLinear <axis = 1, block_size = 128> (w, s) y = Gemm <transB = 1> (x, f)",
     "b=1x4096x1024 bias=no weights=const scales=128x1:f32", kCount / 2, 1024 * 32 * 4},
    {"GemmWithBias", "float", "uint4[1024, 4096] w, float[1024, 32] s, float[1024] b",
     "f = DequantizeLinear <axis = 1, block_size = 128> (w, s) y = Gemm <transB = 1> (x, f, b)",
     "bias=column weights=const scales=128x1:f32", kCount / 2, 1024 * 32 * 4 + 1024 * 4},
    {"BehindTranspose", "float", "int4[1024, 4096] w, float[1024, 128] s",
     "f = DequantizeLinear <axis = -1, block_size = 32> (w, s) t = Transpose <perm = [1, 0]> (f) y = MatMul (x, t)",
     "f32:s4:f32 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=32x1:f32", kCount / 2, 1024 * 128 * 4},
    {"BehindTransposeAndCast", "float16", "int4[1024, 4096] w, float[1024, 128] s",
     "f = DequantizeLinear <axis = 1, block_size = 32> (w, s) t = Transpose (f) c = Cast <to = 10> (t) "
     "y = MatMul (x, c)",
     "f16:s4:f16 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=32x1:f32", kCount / 2, 1024 * 128 * 4},
    {"BehindCastAndTranspose", "float16", "uint4[1024, 4096] w, float[1024, 128] s, uint4[1024, 128] z",
     "f = DequantizeLinear <axis = 1, block_size = 32> (w, s, z) c = Cast <to = 10> (f) t = Transpose (c) "
     "y = MatMul (x, t)",
     "f16:u4:f16 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=32x1:f32:u4", kCount / 2,
     1024 * 128 * 4 + 1024 * 128 / 2},
    {"BehindReshape", "float", "int4[1024, 128, 32] w, float[1024, 128, 1] s, int64[2] shape = {1024, 4096}",
     "f = DequantizeLinear <axis = 2, block_size = 32> (w, s) r = Reshape (f, shape) t = Transpose (r) "
     "y = MatMul (x, t)",
     "b=1x4096x1024 bias=no weights=const scales=32x1:f32", kCount / 2, 1024 * 128 * 4},
    {"GroupsOfAReshape", "float", "int8[131072, 32] w, float[131072] s, int64[2] shape = {1024, 4096}",
     "f = DequantizeLinear <axis = 0> (w, s) r = Reshape (f, shape) t = Transpose (r) y = MatMul (x, t)",
     "b=1x4096x1024 bias=no weights=const scales=32x1:f32", kCount, 1024 * 128 * 4},
    {"Contrib", "float16", "uint4[4096, 1024] w, float16[32, 1024] s, uint4[32, 1024] z",
     "f = com.microsoft.DequantizeLinear <axis = 0, block_size = 128> (w, s, z) y = MatMul (x, f)",
     "f16:u4:f16 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=128x1:f16:u4", kCount / 2,
     32 * 1024 * 2 + 32 * 1024 / 2},
    {"CastAndScaled", "float16",
     "int4[1024, 4096] w, float16[1024, 128, 1] s, int64[3] in = {1024, 128, 32}, "
     "int64[2] out = {1024, 4096}",
     "f = Cast <to = 10> (w) b = Reshape (f, in) m = Mul (b, s) r = Reshape (m, out) t = Transpose (r) "
     "y = MatMul (x, t)",
     "f16:s4:f16 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=32x1:f16", kCount / 2, 1024 * 128 * 2},
    {"CastShiftedAndScaled", "float16",
     "uint4[1024, 128, 32] w, float16[1024, 128, 1] s, uint4[1024, 128, 1] z, "
     "int64[2] out = {1024, 4096}",
     "f = Cast <to = 10> (w) g = Cast <to = 10> (z) b = Sub (f, g) m = Mul (s, b) r = Reshape (m, out) "
     "t = Transpose (r) y = MatMul (x, t)",
     "f16:u4:f16 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=32x1:f16:u4", kCount / 2,
     1024 * 128 * 2 + 1024 * 128 / 2},
    {"CastAndScaledByOne", "float", "int8[4096, 1024] w, float[1] s",
     "f = Cast <to = 1> (w) m = Mul (f, s) "
     "y = MatMul (x, m)",
     "f32:s8:f32 a=1x2x4096 b=1x4096x1024 bias=no weights=const", kCount, 0},
    {"CastAlone", "float16", "int8[1024, 4096] w", "f = Cast <to = 10> (w) t = Transpose (f) y = MatMul (x, t)",
     "f16:s8:f16 a=1x2x4096 b=1x4096x1024 bias=no weights=const", kCount, 0},
    {"Float8", "float16", "float8e4m3fn[4096, 1024] w, float16[1024] s, float8e4m3fn[1024] z",
     "f = DequantizeLinear <axis = 1> (w, s, z) y = MatMul (x, f)",
     "f16:f8e4m3:f16 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=4096x1:f16", kCount, 1024 * 2},
    {"Float8OfTheOtherKind", "float", "float8e5m2[1024, 4096] w, float s",
     "f = DequantizeLinear (w, s) t = Transpose (f) y = MatMul (x, t)", "f32:f8e5m2:f32", kCount, 0},
    {"MxFloat4", "float", "float4e2m1[1024, 4096] w, float8e8m0[1024, 128] e",
     "s = Cast <to = 1> (e) f = DequantizeLinear <axis = 1, block_size = 32> (w, s) t = Transpose (f) "
     "y = MatMul (x, t)",
     "f32:f4e2m1:f32 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=32x1:f8e8m0", kCount / 2, 1024 * 128},
    {"NvFloat4", "float", "float4e2m1[1024, 4096] w, float8e4m3fn[1024, 256] e, float g",
     "s = DequantizeLinear (e, g) f = DequantizeLinear <axis = 1, block_size = 16> (w, s) t = Transpose (f) "
     "y = MatMul (x, t)",
     "f32:f4e2m1:f32 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=16x1:f8e4m3", kCount / 2, 1024 * 256},
    {"TwoBits", "float", "uint2[4096, 1024] w, float[128, 1024] s",
     "f = DequantizeLinear <axis = 0, block_size = 32> (w, s) y = MatMul (x, f)", "f32:u2:f32", kCount / 4,
     128 * 1024 * 4},
    {"MatMulNBits", "float", "uint8[1024, 128, 16] w, float[131072] s",
     "y = com.microsoft.MatMulNBits <K = 4096, N = 1024, bits = 4, block_size = 32> (x, w, s)",
     "f32:s4:f32 a=1x2x4096 b=1x4096x1024 bias=no weights=const scales=32x1:f32", kCount / 2, 131072 * 4},
    {"MatMulNBitsWithZeros", "float", "uint8[1024, 32, 128] w, float[32768] s, uint8[32768] z",
     "y = com.microsoft.MatMulNBits <K = 4096, N = 1024, bits = 8, block_size = 128, accuracy_level = 4> (x, w, s, z)",
     "scales=128x1:f32:u8 activations=s8", kCount, 32768 * 5},
};

class StoredWeights : public ::testing::TestWithParam<Form> {};

TEST_P(StoredWeights, AreOneProductThatReadsThemAsTheyAre) {
  const Form& form = GetParam();
  const ModelGraph graph = Model(form.type, form.weights, form.nodes);
  ASSERT_EQ(graph.layers.size(), 1u);
  const Layer& product = graph.layers.back();
  EXPECT_THAT(Describe(product), HasSubstr(form.text));
  ASSERT_GE(product.work.operand_reads.size(), 2u);
  EXPECT_EQ(product.work.operand_reads[1].value, form.elements);
  const auto rest = std::accumulate(product.work.operand_reads.begin() + 2, product.work.operand_reads.end(), Bytes());
  EXPECT_EQ(rest.value, form.scales);
}

INSTANTIATE_TEST_SUITE_P(Forms, StoredWeights, ::testing::ValuesIn(kForms),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(StoredWeights, AnEmbeddingsRowsAreReadAsTheyAre) {
  const ModelGraph graph = ReadText(R"(
    g (int64[8] i) => (float[8, 4096] y) <int4[32000, 4096] w, float[32000, 128] s> {
      [dequantize] f = DequantizeLinear <axis = 1, block_size = 32> (w, s)
      [rows] y = Gather (f, i)
    })");
  ASSERT_EQ(graph.layers.size(), 1u);
  const Layer& rows = LayerCalled(graph, "rows");
  EXPECT_EQ(rows.work.read().value, 8 * 4096 / 2 + 8 * 128 * 4 + 8 * 8);
  EXPECT_EQ(rows.origins, (std::vector<std::string>{"dequantize", "rows"}));
}

// One table, read by rows and by the last product: neither has a copy in floating point.
TEST(StoredWeights, ATiedTableIsReadTwice) {
  const ModelGraph graph = ReadText(R"(
    g (int64[1] i) => (float[1, 32000] y) <int8[32000, 512] w, float[32000] s> {
      f = DequantizeLinear <axis = 0> (w, s)
      [rows] x = Gather (f, i)
      t = Transpose (f)
      [head] y = MatMul (x, t)
    })");
  ASSERT_EQ(graph.layers.size(), 2u);
  EXPECT_EQ(LayerCalled(graph, "rows").work.read().value, 512 + 4 + 8);
  EXPECT_EQ(LayerCalled(graph, "head").work.operand_reads[1].value, 32000 * 512);
  EXPECT_THAT(Describe(LayerCalled(graph, "head")), HasSubstr("scales=512x1:f32"));
}

// Blocks that are none where the product reads them, and weights that are computed: as before, in floating point.
TEST(StoredWeights, WhatIsNoBlockStaysANumber) {
  const ModelGraph split = Model("float", "int8[2048, 2048] w, float[2048, 64] s, int64[2] shape = {4096, 1024}",
                                 "f = DequantizeLinear <axis = 1, block_size = 32> (w, s) r = Reshape (f, shape) "
                                 "[product] y = MatMul (x, r)");
  EXPECT_THAT(Describe(LayerCalled(split, "product")), HasSubstr("scales=1x32:f32"));
  const ModelGraph across = Model("float", "int8[1024, 4096] w, float[1024, 3] s, int64[2] shape = {4096, 1024}",
                                  "f = DequantizeLinear <axis = 1, block_size = 1366> (w, s) r = Reshape (f, shape) "
                                  "[product] y = MatMul (x, r)");
  EXPECT_THAT(Describe(LayerCalled(across, "product")), HasSubstr("f32:f32:f32"));
  const ModelGraph computed = ReadText(R"(
    g (float[2, 64] x, int8[64, 32] w) => (float[2, 32] y) <float s> {
      f = DequantizeLinear (w, s)
      [product] y = MatMul (x, f)
    })");
  EXPECT_THAT(Describe(LayerCalled(computed, "product")), HasSubstr("f32:f32:f32"));
}

TEST(StoredWeights, OfNothingIsNothing) {
  const ModelGraph graph = ReadText(R"(
    g (int64[2] i, float[2, 0] x) => (float[2, 64] y, float[2, 8] z) <int8[0, 64] w, float[64] s, int8[0, 8] v> {
      f = DequantizeLinear <axis = 1> (w, s)
      y = Gather (f, i)
      h = DequantizeLinear <axis = 1, block_size = 4> (v, s)
      z = MatMul (x, h)
    })");
  EXPECT_EQ(graph.outputs.size(), 2u);
}

// Four matrices, each with a scale of its own for every column.
TEST(StoredWeights, ABatchHasTheScalesOfEachMatrix) {
  const ModelGraph graph = ReadText(R"(
    g (float[4, 2, 64] x) => (float[4, 2, 32] y) <int8[4, 64, 32] w, float[4, 2, 32] s> {
      f = DequantizeLinear <axis = 1, block_size = 32> (w, s)
      [product] y = MatMul (x, f)
    })");
  const Layer& product = LayerCalled(graph, "product");
  EXPECT_THAT(Describe(product), HasSubstr("b=4x64x32 bias=no weights=const scales=32x1:f32"));
  EXPECT_EQ(product.work.operand_reads[2].value, 4 * 2 * 32 * 4);
}

// Both operands in blocks, as NVIDIA's Model Optimizer writes them: the product, and what quantizes its input.
TEST(StoredWeights, OfAnInputThatIsQuantizedInBlocksAreAProductOfBoth) {
  const ModelGraph nvfp4 = ReadText(R"(
    g (float16[2, 128, 256] x) => (float16[2, 128, 384] y)
      <float4e2m1[384, 256] w, float8e4m3fn[384, 16] e, float g, float h> {
      [quantize] xq, xe = trt.TRT_FP4DynamicQuantize <axis = -1, block_size = 16> (x, h)
      [d0] xs = trt.DequantizeLinear (xe, h)
      [d1] xd = trt.DequantizeLinear <axis = -1, block_size = 16> (xq, xs)
      [c0] xc = Cast <to = 10> (xd)
      s = DequantizeLinear (e, g)
      f = DequantizeLinear <axis = -1, block_size = 16> (w, s)
      c = Cast <to = 10> (f)
      t = Transpose <perm = [1, 0]> (c)
      [product] y = MatMul (xc, t)
    })");
  ASSERT_EQ(nvfp4.layers.size(), 2u);
  const Layer& product = LayerCalled(nvfp4, "product");
  EXPECT_THAT(Describe(product), HasSubstr("matmul dtype=f4e2m1:f4e2m1:f16 a=1x256x256 b=1x256x384 bias=no "
                                           "weights=const scales=16x1:f8e4m3 a_scales=1x16:f8e4m3"));
  ASSERT_EQ(product.work.operand_reads.size(), 4u);
  EXPECT_EQ(product.work.operand_reads[0].value, 256 * 256 / 2);
  EXPECT_EQ(product.work.operand_reads[3].value, 256 * 256 / 16);
  EXPECT_THAT(product.origins, ::testing::IsSupersetOf({"d0", "d1", "c0", "product"}));
  EXPECT_THAT(Describe(LayerCalled(nvfp4, "quantize")),
              HasSubstr("[pointwise kind=divide dtype=f16:f8e4m3:f4e2m1 in=4096x16,4096x1](in0,%1) out=%1,%2"));

  // Scales in bytes are powers of two.
  const ModelGraph mxfp8 = ReadText(R"(
    g (float16[128, 256] x) => (float16[128, 384] y)
      <float8e4m3fn[384, 256] w, uint8[384, 8] e, float16[384] b> {
      [quantize] xq, xe = trt.TRT_MXFP8DynamicQuantize <axis = -1, block_size = 32> (x)
      xd = trt.TRT_MXFP8DequantizeLinear <axis = -1, block_size = 32, output_dtype = 10> (xq, xe)
      f = trt.TRT_MXFP8DequantizeLinear <axis = -1, block_size = 32, output_dtype = 10> (w, e)
      [product] y = Gemm <transB = 1> (xd, f, b)
    })");
  ASSERT_EQ(mxfp8.layers.size(), 2u);
  EXPECT_THAT(Describe(LayerCalled(mxfp8, "product")),
              HasSubstr("matmul dtype=f8e4m3:f8e4m3:f16 a=1x128x256 b=1x256x384 bias=column weights=const "
                        "scales=32x1:f8e8m0 a_scales=1x32:f8e8m0"));
  EXPECT_THAT(Describe(LayerCalled(mxfp8, "quantize")), HasSubstr("kind=quantize dtype=f16:-:f8e8m0 in=1024"));
}

// Scales of whole rows and columns; and where the input has blocks of several rows, it stays a number.
TEST(StoredWeights, RowsOfTheInputHaveScalesOfTheirOwn) {
  const auto model = [](const std::string& scales, const std::string& attributes, const std::string& product) {
    return ReadText("g (float8e4m3fn[128, 256] x, float" + scales +
                    " e) => (float[128, 384] y) <float8e4m3fn[256, 384] w, float[384] s> {"
                    "xd = DequantizeLinear <" +
                    attributes + "> (x, e) f = DequantizeLinear <axis = 1> (w, s) [product] y = " + product +
                    " (xd, f) }");
  };
  const std::string rows = "f8e4m3:f8e4m3:f32 a=1x128x256 b=1x256x384 bias=no weights=const scales=256x1:f32 a_scales=";
  EXPECT_THAT(Describe(LayerCalled(model("[128]", "axis = 0", "MatMul"), "product")), HasSubstr(rows + "1x256:f32"));
  EXPECT_THAT(Describe(LayerCalled(model("[128, 2]", "axis = 1, block_size = 128", "Gemm"), "product")),
              HasSubstr(rows + "1x128:f32"));
  EXPECT_THAT(Describe(LayerCalled(model("[2, 256]", "axis = 0, block_size = 64", "MatMul"), "product")),
              HasSubstr("f32:f8e4m3:f32"));
  EXPECT_THAT(Describe(LayerCalled(model("", "axis = 0", "MatMul"), "product")),
              HasSubstr("f8e4m3:f8e4m3:f32 a=1x128x256 b=1x256x384 bias=no weights=const"))
      << "one scale is a value";
  EXPECT_THAT(Describe(LayerCalled(model("[256]", "axis = 1", "MatMul"), "product")), HasSubstr("f32:f8e4m3:f32"))
      << "scales within the sums";
}

// Scales of scales other than one, scales of integers, and scales in another order are none of a product's.
TEST(StoredWeights, OtherScalesOfRowsStayNumbers) {
  const auto product = [](const std::string& inputs, const std::string& scales) {
    const ModelGraph graph = ReadText("g (float8e4m3fn[128, 256] x, " + inputs +
                                      ") => (float[128, 384] y) <float8e4m3fn[256, 384] w, float[384] s> {" + scales +
                                      " xd = DequantizeLinear <axis = 1, block_size = 32> (x, e) "
                                      "f = DequantizeLinear <axis = 1> (w, s) [product] y = MatMul (xd, f) }");
    return Describe(LayerCalled(graph, "product"));
  };
  EXPECT_THAT(product("float[128, 8] e", ""), HasSubstr("a_scales=1x32:f32"));
  EXPECT_THAT(product("float8e4m3fn[128, 8] n, float[128] o", "e = DequantizeLinear <axis = 0> (n, o)"),
              HasSubstr("a_scales=1x32:f32"));
  EXPECT_THAT(product("uint8[128, 8] n", "e = Cast <to = 1> (n)"), HasSubstr("a_scales=1x32:f32"));
  EXPECT_THAT(product("float8e4m3fn[128, 8] n", "e = Cast <to = 1> (n)"), HasSubstr("a_scales=1x32:f8e4m3"));
}

// As the operator has it where nothing is said.
TEST(StoredWeights, MxFloat8HasBlocksOf32) {
  const ModelGraph graph = ReadText(R"(
    g (float16[128, 256] x) => (float[128, 384] y) <float8e4m3fn[384, 256] w, uint8[384, 8] e> {
      xq, xe = trt.TRT_MXFP8DynamicQuantize (x)
      xd = trt.TRT_MXFP8DequantizeLinear (xq, xe)
      f = trt.TRT_MXFP8DequantizeLinear (w, e)
      [product] y = Gemm <transB = 1> (xd, f)
    })");
  EXPECT_THAT(Describe(LayerCalled(graph, "product")), HasSubstr("scales=32x1:f8e8m0 a_scales=1x32:f8e8m0"));
}

TEST(StoredWeights, BlocksThatEndWithinTheLastDimensionAreUnknown) {
  const ModelGraph graph = ReadText(R"(
    g (float16[2, 24] x, float[1] h) => (float4e2m1[2, 24] q, float8e4m3fn[2, 2] e) {
      [quantize] q, e = trt.TRT_FP4DynamicQuantize <axis = -1, block_size = 16> (x, h)
    })");
  EXPECT_EQ(LayerCalled(graph, "quantize").status, LayerStatus::kUnknown);
  EXPECT_THAT(LayerCalled(graph, "quantize").reason, HasSubstr("multiple"));
}

}  // namespace
}  // namespace infimum::stored_weights_test
