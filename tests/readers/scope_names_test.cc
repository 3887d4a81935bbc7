#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "src/readers/benchmarks/scope_layers.h"

namespace infimum::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// "<workload> by <candidate> under <contract>", or "none: <reason>", or "error: <message>".
std::string Meaning(const std::string& text) {
  const Result<ScopeName> name = ParseScopeName(text);
  if (!name.ok()) return "error: " + name.error().message;
  const auto layer = LayerOf(*name);
  if (!layer.ok()) return "error: " + layer.error().message;
  if (const auto* none = std::get_if<UnexpressedLayer>(&*layer)) return "none: " + none->reason;
  const ScopeLayer& known = std::get<ScopeLayer>(*layer);
  const std::string workload = Format(known.workload);
  EXPECT_TRUE(ParseWorkload(workload).ok()) << workload;
  return workload + " by " + known.candidate.name() + " under " + std::string(Name(known.contract));
}

std::string Tensor(const std::string& dims) {
  std::string text;
  int i = 0;
  for (std::size_t begin = 0; i < 8; ++i) {
    const std::size_t end = std::min(dims.find('x', begin), dims.size());
    text += "/input[" + std::to_string(i) + "]:" + (begin < dims.size() ? dims.substr(begin, end - begin) : "-1");
    begin = end + 1;
  }
  return text + "/batch_size:1/manual_time";
}

const std::string kConvolution =
    "/input[0]:1/input[1]:64/input[2]:56/input[3]:28/filter_count:32/filter_height:3/filter_width:1/pad_height:1/"
    "pad_width:0/stride_height:2/stride_width:1/dilation_height:1/dilation_width:1/group:2/batch_size:1/"
    "conv_fwd_type:1/"
    "conv_bwd_type:0/manual_time";

TEST(ScopeNames, PartsAreTakenApart) {
  const Result<ScopeName> name = ParseScopeName(
      "LAYER_CUDNN_CONV_BIAS_ACTIVATION_FWD_4_FLOAT32__BatchSize_256__129<A_1, B_2>/input[0]:256/group:-1/manual_time");
  ASSERT_TRUE(name.ok()) << name.error().message;
  EXPECT_EQ(name->api, "CUDNN_CONV_BIAS_ACTIVATION_FWD");
  EXPECT_EQ(name->type, "FLOAT32");
  EXPECT_THAT(name->modes, ElementsAre("A_1", "B_2"));
  EXPECT_THAT(name->arguments, UnorderedElementsAre(Pair("input[0]", 256), Pair("group", -1)));
}

TEST(ScopeNames, ANameThatBreaksTheGrammarIsAnErrorWithItsColumn) {
  const std::pair<const char*, const char*> kBad[] = {
      {"BM_x", "column 1"},
      {"LAYER_", "column 7"},
      {"LAYER_FLOAT32__BatchSize_1__2/a:1", "column 7"},
      {"LAYER_A_FLOAT32__BatchSize_x__2/a:1", "column 28"},
      {"LAYER_A_FLOAT32__BatchSize_1__x/a:1", "column 31"},
      {"LAYER_A_FLOAT32__BatchSize_1__2", "column 32"},
      {"LAYER_A_FLOAT32__BatchSize_1__2<B/a:1", "column 32"},
      {"LAYER_A_FLOAT32__BatchSize_1__2<b>/a:1", "column 33"},
      {"LAYER_A_FLOAT32__BatchSize_1__2/a:1/a:2", "column 37"},
  };
  for (const auto& [text, where] : kBad) {
    const Result<ScopeName> name = ParseScopeName(text);
    ASSERT_FALSE(name.ok()) << text;
    EXPECT_THAT(name.error().message, HasSubstr(where)) << text;
  }
}

TEST(ScopeLayers, Convolutions) {
  const std::string layer =
      "in=1x64x56x28 out_channels=32 kernel=3x1 stride=2x1 dilation=1x1 pad=1,0,1,0 groups=2 bias=";
  EXPECT_EQ(
      Meaning("LAYER_CUDNN_CONV_FWD_0_FLOAT32__BatchSize_1__2<CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM>" +
              kConvolution),
      "convolution dtype=f32:f32:f32 " + layer + "no weights=const by cudnn-legacy/implicit_gemm under strict-f32");
  EXPECT_EQ(Meaning("LAYER_CUDNN_CONV_FWD_TENSORCOREHALF__BatchSize_1__2<CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD>" +
                    kConvolution),
            "convolution dtype=f16:f16:f16 " + layer + "no weights=const by cudnn-legacy/winograd/tensor_op under f16");
  const std::string fused =
      "LAYER_CUDNN_CONV_BIAS_ACTIVATION_FWD_FLOAT32__BatchSize_1__2<CUDNN_CONVOLUTION_FWD_ALGO_FFT, ";
  EXPECT_EQ(Meaning(fused + "CUDNN_ACTIVATION_IDENTITY>" + kConvolution),
            "convolution dtype=f32:f32:f32 " + layer + "yes weights=const by cudnn-legacy/fft under strict-f32");
  const std::string region = "region [convolution dtype=f32:f32:f32 " + layer +
                             "yes weights=const](in0,w0,w1) ; [pointwise kind=relu dtype=f32:-:f32 in=25088](%0)";
  EXPECT_EQ(Meaning(fused + "CUDNN_ACTIVATION_RELU>" + kConvolution), region + " by cudnn-legacy/fft under strict-f32");
  EXPECT_EQ(Meaning(fused + "CUDNN_ACTIVATION_CLIPPED_RELU>" + kConvolution),
            region + " by cudnn-legacy/fft/clipped_relu under strict-f32");
  EXPECT_THAT(Meaning(fused + "CUDNN_ACTIVATION_TANH>" + kConvolution), HasSubstr("[pointwise kind=tanh"));
}

TEST(ScopeLayers, ElementWiseLayersHaveTheirCanonicalShape) {
  const std::string name = "_FLOAT32__BatchSize_1__2";
  EXPECT_EQ(Meaning("LAYER_CUDNN_ACTIVATION_FWD" + name + "<CUDNN_ACTIVATION_CLIPPED_RELU>" + Tensor("2x3x4x5")),
            "pointwise kind=relu dtype=f32:-:f32 in=120 by cudnn-legacy/activation/clipped_relu under strict-f32");
  EXPECT_EQ(Meaning("LAYER_CUDNN_OP_TENSOR_MUL_FWD" + name + Tensor("2x3")),
            "pointwise kind=multiply dtype=f32:f32:f32 in=6,6 by cudnn-legacy/op_tensor/mul under strict-f32");
  EXPECT_EQ(Meaning("LAYER_CUDNN_ADD_TENSOR_TENSORCOREHALF__BatchSize_1__2/input[0]:2/input[1]:3/input[2]:4/input[3]:5/"
                    "bias[0]:1/bias[1]:3/bias[2]:1/bias[3]:1/manual_time"),
            "pointwise kind=add dtype=f16:f16:f16 in=2x3x20,3x1 by cudnn-legacy/add_tensor under f16");
}

TEST(ScopeLayers, NormalizationPoolingAndSoftmax) {
  const std::string name = "_FLOAT32__BatchSize_1__2";
  EXPECT_EQ(Meaning("LAYER_CUDNN_BATCHNORM_FWD_INFERENCE" + name + "<CUDNN_BATCHNORM_SPATIAL>" + Tensor("2x3x4x5")),
            "normalization kind=batch dtype=f32:f32:f32 in=2x3x4x5 axis=1 scale=yes bias=yes by "
            "cudnn-legacy/batchnorm/spatial under strict-f32");
  const std::string window =
      "/input[0]:1/input[1]:8/input[2]:112/input[3]:7/filter_height:3/filter_width:2/pad_height:1/pad_width:0/"
      "stride_height:2/stride_width:2/batch_size:1/manual_time";
  const std::string shape =
      " dtype=f32:-:f32 in=1x8x112x7 out=1x8x56x3 kernel=3x2 stride=2x2 dilation=1x1 pad=1,0,1,0 by "
      "cudnn-legacy/pooling/";
  EXPECT_EQ(Meaning("LAYER_CUDNN_POOLING_FWD" + name + "<CUDNN_POOLING_MAX_DETERMINISTIC>" + window),
            "pooling kind=max" + shape + "max_deterministic under strict-f32");
  EXPECT_EQ(Meaning("LAYER_CUDNN_POOLING_FWD" + name + "<CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING>" + window),
            "pooling kind=average_with_pad" + shape + "average_include_padding under strict-f32");
  EXPECT_EQ(
      Meaning("LAYER_CUDNN_SOFTMAX_FWD" + name + "<CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_INSTANCE>" + Tensor("2x3x5")),
      "softmax kind=softmax dtype=f32:-:f32 in=2x15x1 axis=1 by cudnn-legacy/softmax/fast/instance under "
      "strict-f32");
  EXPECT_EQ(
      Meaning("LAYER_CUDNN_SOFTMAX_FWD" + name + "<CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL>" + Tensor("2x3x5")),
      "softmax kind=log_softmax dtype=f32:-:f32 in=2x3x5 axis=1 by cudnn-legacy/softmax/log/channel under strict-f32");
}

TEST(ScopeLayers, GemmsReadTheOldResultWhereBetaIsNotZero) {
  const std::string gemm = "LAYER_CUBLAS_GEMM_FWD_FLOAT32__BatchSize_1__2";
  const std::string gemv = "LAYER_CUBLAS_GEMV_FWD_TENSORCOREHALF__BatchSize_1__2";
  EXPECT_EQ(
      Meaning(gemm + Tensor("256x1000x2048x0x1x1x1")),
      "matmul dtype=f32:f32:f32 a=1x256x2048 b=1x2048x1000 bias=full weights=const by cublas/gemm under strict-f32");
  EXPECT_EQ(
      Meaning(gemv + Tensor("1000x2048x1x1x1")),
      "matmul dtype=f16:f16:f16 a=1x1x2048 b=1x2048x1000 bias=column weights=const by cublas/gemv/tensor_op under "
      "f16");
  EXPECT_THAT(Meaning(gemv + Tensor("10x256x0x1x0")), HasSubstr("bias=no"));
}

TEST(ScopeLayers, UnsupportedEntriesHaveTheReason) {
  const std::string tail = "_FLOAT32__BatchSize_1__2" + Tensor("1x2x3x4");
  EXPECT_THAT(Meaning("LAYER_CUDNN_DROPOUT_FWD" + tail), HasSubstr("none: it draws random numbers"));
  EXPECT_THAT(Meaning("LAYER_CUDNN_BATCHNORM_FWD_TRAINING" + tail), HasSubstr("none: it computes batch statistics"));
  EXPECT_THAT(Meaning("LAYER_CUDNN_CONV_BWD_DATA" + tail), HasSubstr("none: this API is not supported"));
  EXPECT_THAT(Meaning("LAYER_CUDNN_ADD_TENSOR_INT8__BatchSize_1__2" + Tensor("1")), HasSubstr("none: the type INT8"));
  EXPECT_THAT(Meaning("LAYER_CUDNN_OP_TENSOR_ADD_FWD_FLOAT32__BatchSize_1__2" + Tensor("0x2")), HasSubstr("none: "));
  EXPECT_THAT(Meaning("LAYER_CUDNN_ACTIVATION_FWD_FLOAT32__BatchSize_1__2<CUDNN_ACTIVATION_X>" + Tensor("1")),
              HasSubstr("none: mode 'x'"));
}

TEST(ScopeLayers, AMissingArgumentIsNamed) {
  EXPECT_THAT(Meaning("LAYER_CUDNN_CONV_FWD_FLOAT32__BatchSize_1__2<CUDNN_CONVOLUTION_FWD_ALGO_FFT>/input[0]:1"),
              HasSubstr("error: has no argument 'filter_count'"));
  EXPECT_THAT(Meaning("LAYER_CUDNN_ACTIVATION_FWD_FLOAT32__BatchSize_1__2" + Tensor("1")),
              HasSubstr("error: has no mode CUDNN_ACTIVATION_"));
}

TEST(ScopeLayers, NoNumbersOrDamageCrashTheReader) {
  std::mt19937_64 random(5);
  const std::int64_t kExtents[] = {-2, -1, 0, 1, 3, 1 << 20, std::int64_t{1} << 40, INT64_MAX, INT64_MIN};
  const char* const kHeads[] = {
      "CUDNN_CONV_FWD_FLOAT32__BatchSize_1__2<CUDNN_CONVOLUTION_FWD_ALGO_FFT>",
      "CUDNN_CONV_BIAS_ACTIVATION_FWD_FLOAT32__BatchSize_1__2<CUDNN_CONVOLUTION_FWD_ALGO_FFT, CUDNN_ACTIVATION_RELU>",
      "CUDNN_POOLING_FWD_FLOAT32__BatchSize_1__2<CUDNN_POOLING_MAX>",
      "CUDNN_SOFTMAX_FWD_FLOAT32__BatchSize_1__2<CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_INSTANCE>",
      "CUDNN_BATCHNORM_FWD_INFERENCE_FLOAT32__BatchSize_1__2<CUDNN_BATCHNORM_SPATIAL>",
      "CUDNN_OP_TENSOR_ADD_FWD_FLOAT32__BatchSize_1__2",
      "CUBLAS_GEMM_FWD_FLOAT32__BatchSize_1__2"};
  const char* const kArguments[] = {"input[0]",   "input[1]",      "input[2]",      "input[3]",     "input[4]",
                                    "input[5]",   "input[6]",      "filter_count",  "filter_width", "filter_height",
                                    "pad_height", "pad_width",     "stride_height", "stride_width", "dilation_height",
                                    "group",      "dilation_width"};
  for (int attempt = 0; attempt < 3000; ++attempt) {
    std::string text = std::string("LAYER_") + kHeads[random() % std::size(kHeads)];
    for (const char* argument : kArguments)
      text += std::string("/") + argument + ":" + std::to_string(kExtents[random() % std::size(kExtents)]);
    static_cast<void>(Meaning(text));
    text[random() % text.size()] = static_cast<char>(random());
    static_cast<void>(Meaning(text));
  }
}

}  // namespace
}  // namespace infimum::ingest
