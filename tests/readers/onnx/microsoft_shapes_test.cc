// Shapes of the operators that ONNX Runtime writes: one line a case.
#include <gtest/gtest.h>

#include "tests/readers/onnx/model_text.h"

namespace infimum {
namespace {

struct Case {
  const char* inputs;
  const char* node;  // writes y
  const char* type;
};

class MicrosoftShapes : public ::testing::TestWithParam<Case> {};

TEST_P(MicrosoftShapes, AreInferred) {
  const Case& c = GetParam();
  const ModelGraph graph = ReadText("g (" + std::string(c.inputs) + ") => (float[N] y) { " + c.node + " }", {}, 21,
                                    /*apply_rewrites=*/false);
  EXPECT_EQ(TypeOf(graph, "y"), c.type) << c.node;
}

constexpr Case kCases[] = {
    {"float[1, 3, 8, 8] x, float[4, 3, 3, 3] w", "y = com.microsoft.FusedConv <activation = \"Relu\"> (x, w)",
     "f32 1x4x6x6"},
    {"float[2, 3] a, float[5, 3] b", "y = com.microsoft.FusedGemm <transB = 1> (a, b)", "f32 2x5"},
    {"float[2, 8, 3, 4] a, float[2, 8, 5, 4] b", "y = com.microsoft.FusedMatMul <transB = 1> (a, b)", "f32 2x8x3x5"},
    {"float[3, 2, 8, 4] a, float[2, 8, 4, 5] b", "y = com.microsoft.FusedMatMul <transBatchA = 1> (a, b)",
     "f32 2x8x3x5"},
    {"float[2, 3] x, float[3] b", "y = com.microsoft.BiasGelu (x, b)", "f32 2x3"},
    {"float[2, 3, 8] x, float[2, 3, 8] s, float[8] g", "y = com.microsoft.SkipLayerNormalization (x, s, g)",
     "f32 2x3x8"},
    {"float[2, 3, 8] x, float[2, 3, 8] s, float[8] g",
     "a, b, c, y = com.microsoft.SkipSimplifiedLayerNormalization (x, s, g)", "f32 2x3x8"},
    {"float[2, 3, 8] x, float[8] g", "y = SimplifiedLayerNormalization (x, g)", "f32 2x3x8"},
    {"int32[2, 7] i, int32[2, 7] s, float[100, 16] w, float[9, 16] p, float[2, 16] q, float[16] g, float[16] b",
     "y = com.microsoft.EmbedLayerNormalization (i, s, w, p, q, g, b)", "f32 2x7x16"},
    {"float[2, 7, 16] x, float[16, 48] w, float[48] b", "y = com.microsoft.Attention <num_heads = 4> (x, w, b)",
     "f32 2x7x16"},
    {"float[2, 7, 16] x, float[16, 48] w, float[48] b", "a, y = com.microsoft.Attention <num_heads = 4> (x, w, b)",
     "f32 2x2x4x7x4"},
    {"float[2, 7, 16] q, float[2, 9, 16] k, float[2, 9, 32] v",
     "y = com.microsoft.MultiHeadAttention <num_heads = 4> (q, k, v)", "f32 2x7x32"},
    {"float[2, 7, 4, 3, 8] q", "y = com.microsoft.MultiHeadAttention <num_heads = 4> (q)", "f32 2x7x32"},
    {"float[2, 1, 64] q, float[2, 1, 16] k, float[2, 1, 16] v, float[2, 2, 9, 8] pk, float[2, 2, 9, 8] pv, int32[2] s, "
     "int32 t",
     "y, a, b = com.microsoft.GroupQueryAttention <num_heads = 8, kv_num_heads = 2> (q, k, v, pk, pv, s, t)",
     "f32 2x1x64"},
    {"float[2, 1, 64] q, float[2, 1, 16] k, float[2, 1, 16] v, float[2, 2, 9, 8] pk, float[2, 2, 9, 8] pv, int32[2] s, "
     "int32 t",
     "a, y, b = com.microsoft.GroupQueryAttention <num_heads = 8, kv_num_heads = 2> (q, k, v, pk, pv, s, t)",
     "f32 2x2x10x8"},
    {"float[2, 7, 96] q, int32[2] s, int32 t",
     "y = com.microsoft.GroupQueryAttention <num_heads = 8, kv_num_heads = 2> (q, , , , , s, t)", "f32 2x7x64"},
    {"float[2, 7, 16] x, int64[2, 7] i, float[9, 2] c, float[9, 2] s", "y = com.microsoft.RotaryEmbedding (x, i, c, s)",
     "f32 2x7x16"},
    {"float[2, 3] a, int8[3, 5] b, float s", "y = com.microsoft.DynamicQuantizeMatMul (a, b, s)", "f32 2x5"},
    {"uint8[2, 3] a, int8[3, 5] b, float s, float t", "y = com.microsoft.MatMulIntegerToFloat (a, b, s, t)", "f32 2x5"},
    {"float[2, 3, 64] a, uint8[7, 2, 16] b, float[14] s",
     "y = com.microsoft.MatMulNBits <K = 64, N = 7, bits = 4, block_size = 32> (a, b, s)", "f32 2x3x7"},
    {"uint8[2, 3] a, float s, uint8 z, uint8[1, 3] b", "y = com.microsoft.QLinearAdd (a, s, z, b, s, z, s, z)",
     "u8 2x3"},
    {"uint8[1, 4, 8, 8] x, float s, uint8 z", "y = com.microsoft.QLinearGlobalAveragePool (x, s, z, s, z)",
     "u8 1x4x1x1"},
    {"uint8[1, 8, 8, 4] x, float s, uint8 z",
     "y = com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (x, s, z, s, z)", "u8 1x1x1x4"},
    {"uint8[1, 4, 8, 8] x, float s, uint8 z",
     "y = com.microsoft.QLinearAveragePool <kernel_shape = [2, 2], strides = [2, 2]> (x, s, z, s, z)", "u8 1x4x4x4"},
    {"uint8[1, 8, 8, 4] x, float s, uint8 z, int8[6, 4, 3, 3] w, int8 v",
     "y = com.microsoft.QLinearConv <channels_last = 1> (x, s, z, w, s, v, s, z)", "u8 1x6x6x6"},
    {"uint8[1, 4] a, uint8[1, 5] b, float s, uint8 z",
     "y = com.microsoft.QLinearConcat <axis = 1> (s, z, a, s, z, b, s, z)", "u8 1x9"},
    {"uint8[2, 3, 4] a, float s, uint8 z",
     "y = com.microsoft.QLinearReduceMean <axes = [1], keepdims = 0> (a, s, z, s, z)", "u8 2x4"},
    {"bool[2, 1] c, uint8[1, 3] a, float s, uint8 z, uint8[1, 3] b",
     "y = com.microsoft.QLinearWhere (c, a, s, z, b, s, z, s, z)", "u8 2x3"},
    {"uint8[2, 3] a, float s, uint8 z, int8[5, 3] b, int8 v",
     "y = com.microsoft.QGemm <transB = 1> (a, s, z, b, s, v, , s, z)", "u8 2x5"},
    {"uint8[2, 3] a, float s, uint8 z, int8[3, 5] b, int8 v", "y = com.microsoft.QGemm (a, s, z, b, s, v)", "f32 2x5"},
    {"uint8[1, 8, 8, 4] x", "y = com.microsoft.NhwcMaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)",
     "u8 1x4x4x4"},
    {"float[2, 3] x, float s, int8 z", "y = com.microsoft.QuantizeLinear (x, s, z)", "s8 2x3"},
    {"uint8[2, 3] x, float s, uint8 z", "y = com.microsoft.DequantizeLinear (x, s, z)", "f32 2x3"},
    {"float[2, 3, 8] x, float[8] b", "y = com.microsoft.BiasSplitGelu (x, b)", "f32 2x3x4"},
};

INSTANTIATE_TEST_SUITE_P(Table, MicrosoftShapes, ::testing::ValuesIn(kCases));

}  // namespace
}  // namespace infimum
