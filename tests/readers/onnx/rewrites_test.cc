#include "src/readers/onnx/rewrites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/onnx/model_text.h"

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> RewritesOf(const ModelGraph& graph, const std::string& name) {
  for (const RewritePass& pass : graph.passes)
    if (pass.name == name) return pass.rewrites;
  return {};
}

constexpr const char* kBatchNormalization = R"(
    g (float[1, 3, 8, 8] x, float[4, 3, 1, 1] v) => (float[1, 4, 8, 8] y)
      <float[4, 3, 1, 1] w, float[4] a, float[4] b, float[4] m, float[4] s> {
      [conv] h = Conv (x, WEIGHTS)
      [bn] n = BatchNormalization (h, a, b, m, s)
      [relu] y = Relu (n)
    })";

std::string BatchNormalizationWith(const std::string& weights) {
  std::string text = kBatchNormalization;
  return text.replace(text.find("WEIGHTS"), 7, weights);
}

TEST(FoldChannelConstants, GivesTheConvolutionABias) {
  const ModelGraph graph = ReadText(BatchNormalizationWith("w"));
  EXPECT_THAT(RewritesOf(graph, "fold-channel-constants"), ElementsAre("bn into conv"));
  const Layer& conv = LayerCalled(graph, "conv");
  EXPECT_THAT(conv.origins, ElementsAre("conv", "bn"));
  EXPECT_THAT(Describe(conv), HasSubstr("bias=yes"));
  EXPECT_EQ(graph.layers.size(), 2u);
  EXPECT_EQ(conv.parameters.value, 4 * (12 + 4));
  // What the weights must be changed by, for whoever runs it.
  ASSERT_EQ(conv.folded.size(), 1u);
  EXPECT_TRUE(conv.bias_is_folded);
  EXPECT_EQ(conv.folded[0].epsilon, 1e-5);
  const auto name = [&](std::optional<ValueId> id) { return id ? graph.value(*id).name : "none"; };
  EXPECT_EQ(name(conv.folded[0].scale) + name(conv.folded[0].bias) + name(conv.folded[0].mean) +
                name(conv.folded[0].variance),
            "abms");
}

TEST(FoldChannelConstants, LeavesComputedWeightsAlone) {
  const ModelGraph graph = ReadText(BatchNormalizationWith("v"));
  EXPECT_TRUE(RewritesOf(graph, "fold-channel-constants").empty());
  EXPECT_EQ(graph.layers.size(), 3u);
}

TEST(FoldChannelConstants, LeavesAConvolutionWithOtherReadersAlone) {
  std::string text = BatchNormalizationWith("w");
  text.replace(text.find("y = Relu (n)"), 12, "y = Add (n, h)");
  EXPECT_TRUE(RewritesOf(ReadText(text), "fold-channel-constants").empty());
}

// A layer, then a product and a sum with constants of this shape.
std::string ScaledText(const std::string& layer, const std::string& constants) {
  return "g (float[1, 3, 4, 4] x) => (float[1, 4, 4, 4] y) <float[4, 3, 1, 1] w, float[4] s, float[4] t, float" +
         constants + " a, float" + constants + " b, float[4] p, float[4] q> {" + layer +
         "[mul] m = Mul (h, a) [add] n = Add (b, m) [relu] y = Relu (n) }";
}

TEST(FoldChannelConstants, TakesProductsAndSumsWithConstantsOfEachChannel) {
  for (const char* const constants : {"[4, 1, 1]", "[1, 4, 1, 1]"}) {
    const ModelGraph graph = ReadText(ScaledText("[conv] h = Conv (x, w)", constants));
    EXPECT_THAT(RewritesOf(graph, "fold-channel-constants"), ElementsAre("mul into conv", "add into conv"));
    const Layer& conv = LayerCalled(graph, "conv");
    EXPECT_THAT(conv.origins, ElementsAre("conv", "mul", "add"));
    EXPECT_THAT(Describe(conv), HasSubstr("bias=yes"));
    ASSERT_EQ(conv.folded.size(), 2u);
    EXPECT_EQ(graph.value(conv.folded[0].scale.value()).name, "a");
    EXPECT_EQ(graph.value(conv.folded[1].bias.value()).name, "b");
    EXPECT_FALSE(conv.folded[0].bias || conv.folded[0].variance || conv.folded[1].scale || conv.folded[1].variance);
  }
}

// Caffe's Scale, as it was converted: its constants are turned into shape behind the convolution.
TEST(FoldChannelConstants, TakesConstantsThatLayersFurtherOnState) {
  const ModelGraph graph = ReadText(R"(
      g (float[1, 3, 4, 4] x) => (float[1, 4, 4, 4] y)
        <float[4, 3, 1, 1] w, float[4] a, float[4] b, int64[2] axes = {1, 2}> {
        [conv] h = Conv (x, w)
        [as] s = Unsqueeze (a, axes)
        [mul] m = Mul (h, s)
        [bs] t = Unsqueeze (b, axes)
        [add] n = Add (m, t)
        [relu] y = Relu (n)
      })");
  EXPECT_THAT(RewritesOf(graph, "fold-channel-constants"), ElementsAre("mul into conv", "add into conv"));
  const Status valid = Validate(graph);
  EXPECT_TRUE(valid.ok()) << valid.error().message;
}

TEST(FoldChannelConstants, AProductAloneGivesNoBias) {
  std::string text = ScaledText("[conv] h = Conv (x, w)", "[4, 1, 1]");
  text.replace(text.find("n = Add (b, m)"), 14, "n = Tanh (m)");
  const ModelGraph graph = ReadText(text);
  EXPECT_THAT(RewritesOf(graph, "fold-channel-constants"), ElementsAre("mul into conv"));
  EXPECT_THAT(Describe(LayerCalled(graph, "conv")), HasSubstr("bias=no"));
}

TEST(FoldChannelConstants, ANormalizationByItselfTakesWhatFollows) {
  const std::string conv = "[conv] c = Conv (x, w) [first] f = Relu (c) ";
  const ModelGraph graph = ReadText(ScaledText(conv + "[bn] h = BatchNormalization (f, s, t, p, q)", "[4, 1, 1]"));
  EXPECT_THAT(RewritesOf(graph, "fold-channel-constants"), ElementsAre("mul into bn", "add into bn"));
  EXPECT_EQ(graph.layers.size(), 4u);
  // A scale that is the variance or the bias too, or a bias that is the mean, could not become another.
  for (const char* const constants : {"s, t, p, s", "s, s, p, q", "s, t, t, q"}) {
    const std::string bn = "[bn] h = BatchNormalization (f, " + std::string(constants) + ")";
    const ModelGraph shared = ReadText(ScaledText(conv + bn, "[4, 1, 1]"));
    EXPECT_TRUE(RewritesOf(shared, "fold-channel-constants").empty()) << constants;
  }
}

TEST(FoldChannelConstants, LeavesOtherConstantsAlone) {
  // One number, one for each column, and one for each element.
  for (const char* const constants : {"[1]", "[4]", "[1, 4, 4, 4]", "[4, 1]"}) {
    const ModelGraph graph = ReadText(ScaledText("[conv] h = Conv (x, w)", constants));
    EXPECT_TRUE(RewritesOf(graph, "fold-channel-constants").empty()) << constants;
  }
  // A bias of each row, of all elements, and one that is not added.
  const auto gemm = [](const std::string& bias, const std::string& call) {
    return "g (float[4, 3] x) => (float[4, 4] y) <float[3, 4] w, float" + bias + " c, float[4] a> { [fc] h = Gemm " +
           call + " [mul] m = Mul (h, a) [relu] y = Relu (m) }";
  };
  EXPECT_THAT(RewritesOf(ReadText(gemm("[4]", "(x, w, c)")), "fold-channel-constants"), ElementsAre("mul into fc"));
  for (const std::string& text : {gemm("[4, 1]", "(x, w, c)"), gemm("[1]", "(x, w, c)"), gemm("[4, 4]", "(x, w, c)"),
                                  gemm("[4]", "<beta = 0.0> (x, w, c)")})
    EXPECT_TRUE(RewritesOf(ReadText(text), "fold-channel-constants").empty()) << text;
  // A result that is read before.
  std::string text = ScaledText("[conv] h = Conv (x, w)", "[4, 1, 1]");
  text.replace(text.find("y = Relu (n)"), 12, "y = Add (n, h)");
  EXPECT_THAT(RewritesOf(ReadText(text), "fold-channel-constants"), ::testing::IsEmpty());
}

TEST(NestConcatenations, OneThatBeginsWithAllOperandsOfAnotherReadsItsResult) {
  const ModelGraph graph = ReadText(R"(
      g (float[1, 2, 4] x) => (float[1, 4, 4] s, float[1, 4, 8] t, float[1, 8, 4] u, float[1, 16, 4] v,
                               float[1, 6, 4] w, float[1, 8, 4] z) {
        [a] a = Relu (x)
        [b] b = Tanh (x)
        [early] e = Sigmoid (x)
        [two] s = Concat <axis = 1> (a, b)
        [c] c = Sigmoid (s)
        [columns] t = Concat <axis = 2> (s, c)
        [three] u = Concat <axis = -2> (a, b, c)
        [d] d = Relu (u)
        [four] v = Concat <axis = 1> (a, b, c, d)
        [turned] z = Concat <axis = 1> (b, a, c)
        [apart] w = Concat <axis = 1> (a, b, e)
      })");
  // The last one need not wait for anything but its own parts.
  EXPECT_THAT(RewritesOf(graph, "nest-concatenations"), ElementsAre("three on two", "four on three"));
  const Layer& four = LayerCalled(graph, "four");
  ASSERT_EQ(four.inputs.size(), 2u);
  EXPECT_EQ(graph.value(*four.inputs[0]).name, "u");
  EXPECT_EQ(graph.value(*four.inputs[1]).name, "d");
}

TEST(Rewrites, CanBeSwitchedOff) {
  const ModelGraph graph = ReadText(BatchNormalizationWith("w"), {}, 21, false);
  EXPECT_TRUE(graph.passes.empty());
  EXPECT_EQ(graph.layers.size(), 3u);
}

TEST(FoldConstantPadding, AddsToTheConvolutionsOwn) {
  const ModelGraph graph = ReadText(R"(
      g (float[1, 3, 8, 8] x) => (float[1, 4, 9, 9] y)
        <float[4, 3, 3, 3] w, int64[8] p = {0, 0, 1, 0, 0, 0, 0, 1}> {
        [pad] h = Pad (x, p)
        [conv] y = Conv <pads = [1, 1, 1, 1]> (h, w)
      })");
  EXPECT_THAT(RewritesOf(graph, "fold-constant-padding"), ElementsAre("pad into conv"));
  EXPECT_THAT(Describe(LayerCalled(graph, "conv")), HasSubstr("pad=2,1,1,2"));
  EXPECT_THAT(LayerCalled(graph, "conv").origins, ElementsAre("pad", "conv"));
}

TEST(FoldConstantPadding, LeavesOtherValuesAndMaximaAlone) {
  const ModelGraph ones = ReadText(R"(
      g (float[1, 3, 8, 8] x) => (float[1, 4, 8, 8] y)
        <float[4, 3, 3, 3] w, int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float one = {1.0}> {
        h = Pad (x, p, one)
        y = Conv (h, w)
      })");
  EXPECT_TRUE(ones.passes.empty());
  const ModelGraph maxima = ReadText(R"(
      g (float[1, 3, 8, 8] x) => (float[1, 3, 8, 8] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> {
        h = Pad (x, p)
        y = MaxPool <kernel_shape = [3, 3]> (h)
      })");
  EXPECT_TRUE(maxima.passes.empty());
}

TEST(DropIdentity, ReadersOfIdentityReadItsInput) {
  const ModelGraph graph = ReadText(R"(
      g (float[1, 3, 8, 8] x) => (float[1, 4, 8, 8] y)
        <float[4, 3, 1, 1] w, float[4] a, float[4] b, float[4] m, float[4] s> {
        [conv] h = Conv (x, w)
        [same] i = Identity (h)
        [drop] d = Dropout (i)
        [bn] y = BatchNormalization (d, a, b, m, s)
      })");
  EXPECT_THAT(RewritesOf(graph, "drop-identity"), ElementsAre("same", "drop"));
  EXPECT_THAT(LayerCalled(graph, "conv").origins, ElementsAre("conv"));
}

TEST(RemoveDeadLayers, KeepsLayersWhoseResultsTheGraphReturns) {
  const ModelGraph graph = ReadText(R"(
      g (float[4] x) => (float[4] y) { [used] y = Relu (x) [dead] z = Exp (x) [behind] q = Tanh (z) })");
  EXPECT_THAT(RewritesOf(graph, "remove-dead-layers"), ElementsAre("dead", "behind"));
  EXPECT_EQ(graph.layers.size(), 1u);
}

TEST(RemoveDeadLayers, MakesASplitOfWhichOnePartIsReadASlice) {
  const ModelGraph graph = ReadText(R"(
      g (float[1, 10, 4] x) => (float[1, 3, 4] y) <int64[3] parts = {2, 3, 5}> {
        [split] a, b, c = Split <axis = -2> (x, parts)
        [used] y = Relu (b)
        [dead] z = Relu (c)
      })");
  EXPECT_THAT(RewritesOf(graph, "remove-dead-layers"), ElementsAre("dead", "split to the slice that is read"));
  const Layer& split = LayerCalled(graph, "split");
  EXPECT_THAT(Describe(split), AllOf(HasSubstr("kind=slice"), HasSubstr("out=3x4")));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(split.attributes.at("starts")), std::vector<std::int64_t>{2});
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(split.attributes.at("axes")), std::vector<std::int64_t>{1});
  EXPECT_TRUE(Validate(graph).ok());
}

TEST(RemoveDeadLayers, LeavesASplitOfWhichTwoPartsAreRead) {
  const ModelGraph graph = ReadText(R"(
      g (float[1, 10, 4] x) => (float[1, 2, 4] y, float[1, 5, 4] z) <int64[3] parts = {2, 3, 5}> {
        [split] a, b, c = Split <axis = 1> (x, parts)
        [used] y = Relu (a)
        [too] z = Relu (c)
      })");
  EXPECT_THAT(Describe(LayerCalled(graph, "split")), HasSubstr("kind=split"));
}

// x and w on 8 bits around `op`, the result quantized with the zero point of q.
std::string Quantized(const std::string& operators, const std::string& zero = "0") {
  return R"(
    g (uint8[1, 4, 8, 8] x) => (uint8[N] y)
      <int8[4, 4, 1, 1] w, float sx = {0.1}, float[4] sw = {0.1, 0.2, 0.3, 0.4}, uint8 zx = {128}, int8[4] zw = {0, 0, 0, 0},
       float sy = {0.05}, uint8 zy = {)" +
         zero + R"(}, int32[4] b = {1, 2, 3, 4}, float sb = {0.01}> {
      [dx] fx = DequantizeLinear (x, sx, zx)
      [dw] fw = DequantizeLinear <axis = 0> (w, sw, zw)
      [db] fb = DequantizeLinear (b, sb)
      )" +
         operators + R"(
    })";
}

TEST(FuseQuantized, MakesAConvolutionOnEightBits) {
  const ModelGraph graph = ReadText(Quantized(R"(
      [conv] c = Conv (fx, fw, fb)
      [relu] r = Relu (c)
      [q] y = QuantizeLinear (r, sy, zy))"));
  ASSERT_EQ(graph.layers.size(), 1u);
  const Layer& conv = LayerCalled(graph, "conv");
  EXPECT_EQ(conv.op, "QLinearConv");
  EXPECT_THAT(Describe(conv), HasSubstr("convolution dtype=u8:s8:u8"));
  EXPECT_THAT(Describe(conv), HasSubstr("bias=yes"));
  EXPECT_THAT(conv.origins, ElementsAre("dx", "dw", "db", "conv", "relu", "q"));
}

// As of integers: what a product of 8-bit floats has behind it decides its result's type. Of a scale for each block
// there is no one product.
TEST(FuseQuantized, MakesProductsOfEightBitFloats) {
  const ModelGraph graph = ReadText(R"(
    g (float8e4m3fn[8, 64] x, float8e4m3fn[64, 32] w, float8e4m3fn[32, 16] v, float8e4m3fn[16, 8] u,
       float8e4m3fn[1, 4, 8, 8] image, float8e4m3fn[4, 4, 3, 3] k)
      => (float8e4m3fn[8, 32] y, float[8, 16] z, float[8, 8] blocks, float[8, 16] of_rows, float[1, 4, 6, 6] c)
      <float s = {0.1}, float[32] sv, float[32] sw = {)" +
                                    [] {
                                      std::string ones = "1";
                                      for (int i = 1; i < 32; ++i) ones += ", 1";
                                      return ones;
                                    }() +
                                    R"(}, float[2, 8] su = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}> {
      fx = DequantizeLinear (x, s)
      fw = DequantizeLinear <axis = 1> (w, sw)
      [first] a = MatMul (fx, fw)
      [q] y = QuantizeLinear <output_dtype = 17> (a, s)
      fy = DequantizeLinear (y, s)
      fv = DequantizeLinear (v, s)
      [second] z = MatMul (fy, fv)
      [q2] zq = QuantizeLinear <output_dtype = 17> (z, s)
      fz = DequantizeLinear (zq, s)
      fu = DequantizeLinear <axis = 0, block_size = 8> (u, su)
      [third] blocks = MatMul (fz, fu)
      fr = DequantizeLinear <axis = 0> (v, sv)
      [rows] of_rows = MatMul (fy, fr)
      fi = DequantizeLinear (image, s)
      fk = DequantizeLinear (k, s)
      [conv] c = Conv (fi, fk)
    })");
  EXPECT_THAT(Describe(LayerCalled(graph, "first")), HasSubstr("matmul dtype=f8e4m3:f8e4m3:f8e4m3"));
  EXPECT_THAT(Describe(LayerCalled(graph, "second")), HasSubstr("matmul dtype=f8e4m3:f8e4m3:f32"));
  EXPECT_THAT(Describe(LayerCalled(graph, "third")), HasSubstr("matmul dtype=f32:f32:f32"));
  EXPECT_THAT(Describe(LayerCalled(graph, "rows")), HasSubstr("matmul dtype=f32:f32:f32")) << "scales in the sums";
  EXPECT_THAT(Describe(LayerCalled(graph, "conv")), HasSubstr("convolution dtype=f8e4m3:f8e4m3:f32"));
}

// NVIDIA's Model Optimizer casts behind DequantizeLinear, and has names of its own.
TEST(FuseQuantized, LooksThroughCastsToTheTypeOfAProduct) {
  const ModelGraph graph = ReadText(R"(
    g (float16[8, 64] x) => (float16[8, 32] y) <float8e4m3fn[64, 32] w, float s = {0.1}> {
      [quantize] q = trt.TRT_FP8QuantizeLinear (x, s)
      [dx] d = trt.TRT_FP8DequantizeLinear (q, s)
      [cx] c = Cast <to = 10> (d)
      [dw] f = trt.TRT_FP8DequantizeLinear (w, s)
      [cw] g = Cast <to = 10> (f)
      [product] y = MatMul (c, g)
    })");
  ASSERT_EQ(graph.layers.size(), 2u);
  EXPECT_THAT(Describe(LayerCalled(graph, "product")), HasSubstr("matmul dtype=f8e4m3:f8e4m3:f16"));
  EXPECT_THAT(Describe(LayerCalled(graph, "quantize")), HasSubstr("kind=quantize dtype=f16:-:f8e4m3 in=512"));
  EXPECT_THAT(LayerCalled(graph, "product").origins,
              ::testing::UnorderedElementsAre("dx", "cx", "dw", "cw", "product"));
}

// The largest number of a run's input becomes its scale.
TEST(FuseQuantized, AScaleOfEightBitFloatsMayBeARuns) {
  const ModelGraph graph = ReadText(R"(
    g (float[8, 64] x) => (float[8, 32] y) <float8e4m3fn[64, 32] w, float s = {0.1}, float most = {448}> {
      a = Abs (x)
      [largest] m = ReduceMax <keepdims = 0> (a)
      [scale] e = Div (m, most)
      q = QuantizeLinear <output_dtype = 17> (x, e)
      d = DequantizeLinear (q, e)
      f = DequantizeLinear (w, s)
      [product] y = MatMul (d, f)
    })",
                                    {}, 23);
  EXPECT_THAT(Describe(LayerCalled(graph, "product")), HasSubstr("matmul dtype=f8e4m3:f8e4m3:f32"));
  EXPECT_EQ(graph.layers.size(), 5u);
}

TEST(FuseQuantized, LooksThroughNoCastThatChangesNumbers) {
  for (const char* const type : {"6", "3", "9"}) {
    const ModelGraph graph = ReadText(std::string(R"(
      g (float8e4m3fn[8, 64] q, float8e4m3fn[64, 32] w) => (y) <float s = {0.1}> {
        d = DequantizeLinear (q, s)
        c = Cast <to = )") + type + R"(> (d)
        f = DequantizeLinear (w, s)
        g = Cast <to = )" + type + R"(> (f)
        h = Cast <to = 1> (c)
        i = Cast <to = 1> (g)
        [product] y = MatMul (h, i)
      })",
                                      {}, 23);
    EXPECT_THAT(Describe(LayerCalled(graph, "product")), HasSubstr("matmul dtype=f32:f32:f32")) << type;
  }
}

// A table that an embedding and the last product share is read once.
TEST(FuseQuantized, AConstantThatIsTurnedRoundStaysOne) {
  const ModelGraph graph = ReadText(R"(
    g (float8e4m3fn[8, 64] a, float8e4m3fn[4, 64] b) => (float[8, 32] y, float[4, 32] z)
      <float8e4m3fn[32, 64] w, float s = {0.1}, float[32] e> {
      da = DequantizeLinear (a, s)
      db = DequantizeLinear (b, s)
      f = DequantizeLinear <axis = 0> (w, e)
      t = Transpose (f)
      u = Transpose (f)
      [first] y = MatMul (da, t)
      [second] z = MatMul (db, u)
    })",
                                    {}, 23);
  EXPECT_THAT(Describe(LayerCalled(graph, "first")),
              HasSubstr("matmul dtype=f8e4m3:f8e4m3:f32 a=1x8x64 b=1x64x32 bias=no weights=const"));
  EXPECT_EQ(LayerCalled(graph, "first").inputs[1], LayerCalled(graph, "second").inputs[1]);
  EXPECT_EQ(graph.layers.size(), 2u);
}

// A linear layer of PyTorch's has its weights turned round, as an attention has its keys.
TEST(FuseQuantized, TurnsEightBitFloatsAsTheyAre) {
  const ModelGraph graph = ReadText(R"(
    g (float[8, 64] x, float[32, 64] k) => (float[8, 32] y, float[8, 32] z)
      <float8e4m3fn[32, 64] w, float s = {0.1}, float[32] many> {
      [quantize] q = QuantizeLinear <output_dtype = 17> (x, s)
      d = DequantizeLinear (q, s)
      f = DequantizeLinear (w, s)
      t = Transpose <perm = [1, 0]> (f)
      [linear] y = MatMul (d, t)
      [keys] kq = QuantizeLinear <output_dtype = 17> (k, s)
      kd = DequantizeLinear (kq, s)
      [turn] kt = Transpose <perm = [1, 0]> (kd)
      [scores] z = MatMul (d, kt)
    })",
                                    {}, 23);
  EXPECT_THAT(Describe(LayerCalled(graph, "linear")),
              HasSubstr("matmul dtype=f8e4m3:f8e4m3:f32 a=1x8x64 b=1x64x32 bias=no weights=const"));
  EXPECT_THAT(Describe(LayerCalled(graph, "scores")),
              HasSubstr("matmul dtype=f8e4m3:f8e4m3:f32 a=1x8x64 b=1x64x32 bias=no weights=variable"));
  EXPECT_THAT(Describe(LayerCalled(graph, "turn")),
              HasSubstr("movement kind=transpose dtype=f8e4m3:-:f8e4m3 in=32x64"));
  EXPECT_EQ(graph.layers.size(), 5u);
}

// Folded into floating point, the weights would count four times their bytes.
TEST(FuseQuantized, AFloatMatMulReadsItsQuantizedWeightsAsStored) {
  const ModelGraph graph = ReadText(R"(
    g (float[8, 64] x, float[1, 4, 8, 8] image) => (float[8, 32] y, float[1, 4, 8, 8] z)
      <int8[64, 32] w, float s = {0.1}, uint8[4, 4, 1, 1] k, float sk = {0.1}, uint8 zk = {128}> {
      [dw] fw = DequantizeLinear (w, s)
      [product] y = MatMul (x, fw)
      [dk] fk = DequantizeLinear (k, sk, zk)
      [conv] z = Conv (image, fk)
    })");
  EXPECT_EQ(graph.layers.size(), 2u);
  EXPECT_THAT(Describe(LayerCalled(graph, "product")), HasSubstr("matmul dtype=f32:s8:f32"));
  EXPECT_EQ(LayerCalled(graph, "product").work.operand_reads.at(1).value, 64 * 32);
  EXPECT_THAT(Describe(LayerCalled(graph, "conv")), HasSubstr("convolution dtype=f32:u8:f32"));
  EXPECT_THAT(LayerCalled(graph, "conv").origins, ElementsAre("dk", "conv"));
}

TEST(FuseQuantized, KeepsAReluThatSaturationDoesNotDo) {
  const ModelGraph graph = ReadText(Quantized(R"(
      [conv] c = Conv (fx, fw)
      [relu] r = Relu (c)
      [q] y = QuantizeLinear (r, sy, zy))",
                                              "7"));
  EXPECT_EQ(LayerCalled(graph, "conv").op, "Conv");
  EXPECT_EQ(LayerCalled(graph, "relu").status, LayerStatus::kMeasurable);
}

TEST(FuseQuantized, SharesADequantizedTensor) {
  const ModelGraph graph = ReadText(Quantized(R"(
      [conv] c = Conv (fx, fw)
      [q] cq = QuantizeLinear (c, sy, zy)
      [dc] fc = DequantizeLinear (cq, sy, zy)
      [add] a = Add (fc, fx)
      [qa] y = QuantizeLinear (a, sy, zy))"));
  EXPECT_EQ(LayerCalled(graph, "conv").op, "QLinearConv");
  EXPECT_EQ(LayerCalled(graph, "add").op, "com.microsoft.QLinearAdd");
  EXPECT_THAT(Describe(LayerCalled(graph, "add")), HasSubstr("pointwise kind=add dtype=u8:u8:u8"));
  EXPECT_EQ(graph.layers.size(), 3u);  // db is left, read by nobody and folded
}

TEST(FuseQuantized, PullsQuantizationBeforeAView) {
  const ModelGraph graph = ReadText(Quantized(R"(
      [pool] p = GlobalAveragePool (fx)
      [flat] f = Flatten (p)
      [q] y = QuantizeLinear (f, sy, zy))"));
  EXPECT_EQ(LayerCalled(graph, "pool").op, "com.microsoft.QLinearGlobalAveragePool");
  EXPECT_EQ(LayerCalled(graph, "flat").status, LayerStatus::kFree);
  EXPECT_EQ(TypeOf(graph, "y"), "u8 1x4");
}

TEST(FuseQuantized, MovesElementsOnEightBitsWhereTheScaleStays) {
  const ModelGraph same =
      ReadText(Quantized("[pool] p = MaxPool <kernel_shape = [2, 2]> (fx) [q] y = QuantizeLinear (p, sx, zx)"));
  EXPECT_THAT(Describe(LayerCalled(same, "pool")), HasSubstr("dtype=u8:-:u8"));
  const ModelGraph other =
      ReadText(Quantized("[pool] p = MaxPool <kernel_shape = [2, 2]> (fx) [q] y = QuantizeLinear (p, sy, zy)"));
  EXPECT_THAT(Describe(LayerCalled(other, "pool")), HasSubstr("dtype=f32:-:f32"));
}

}  // namespace
}  // namespace infimum
