#include <gtest/gtest.h>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringPointwise, EveryUnaryOperatorHasItsKind) {
  ExpectLowerings({
      {"Abs", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=absolute dtype=f32:-:f32 in=200704 {0}"},
      {"Acos", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=arc_cosine dtype=f32:-:f32 in=200704 {0}"},
      {"Acosh", "f32 1x64x56x56 -> f32 1x64x56x56", "",
       "pointwise kind=arc_hyperbolic_cosine dtype=f32:-:f32 in=200704 {0}"},
      {"Asin", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=arc_sine dtype=f32:-:f32 in=200704 {0}"},
      {"Asinh", "f32 1x64x56x56 -> f32 1x64x56x56", "",
       "pointwise kind=arc_hyperbolic_sine dtype=f32:-:f32 in=200704 {0}"},
      {"Atan", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=arc_tangent dtype=f32:-:f32 in=200704 {0}"},
      {"Atanh", "f32 1x64x56x56 -> f32 1x64x56x56", "",
       "pointwise kind=arc_hyperbolic_tangent dtype=f32:-:f32 in=200704 {0}"},
      {"Ceil", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=ceil dtype=f32:-:f32 in=200704 {0}"},
      {"Celu", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=celu dtype=f32:-:f32 in=200704 {0}"},
      {"Cos", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=cosine dtype=f32:-:f32 in=200704 {0}"},
      {"Cosh", "f32 1x64x56x56 -> f32 1x64x56x56", "",
       "pointwise kind=hyperbolic_cosine dtype=f32:-:f32 in=200704 {0}"},
      {"Elu", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=elu dtype=f32:-:f32 in=200704 {0}"},
      {"Erf", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=error_function dtype=f32:-:f32 in=200704 {0}"},
      {"Exp", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=exponential dtype=f32:-:f32 in=200704 {0}"},
      {"Floor", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=floor dtype=f32:-:f32 in=200704 {0}"},
      {"HardSigmoid", "f32 1x64x56x56 -> f32 1x64x56x56", "",
       "pointwise kind=hard_sigmoid dtype=f32:-:f32 in=200704 {0}"},
      {"HardSwish", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=hard_swish dtype=f32:-:f32 in=200704 {0}"},
      {"LeakyRelu", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=leaky_relu dtype=f32:-:f32 in=200704 {0}"},
      {"Log", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=logarithm dtype=f32:-:f32 in=200704 {0}"},
      {"Mish", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=mish dtype=f32:-:f32 in=200704 {0}"},
      {"Neg", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=negative dtype=f32:-:f32 in=200704 {0}"},
      {"Reciprocal", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=reciprocal dtype=f32:-:f32 in=200704 {0}"},
      {"Relu", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=relu dtype=f32:-:f32 in=200704 {0}"},
      {"Round", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=round dtype=f32:-:f32 in=200704 {0}"},
      {"Selu", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=selu dtype=f32:-:f32 in=200704 {0}"},
      {"Shrink", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=shrink dtype=f32:-:f32 in=200704 {0}"},
      {"Sigmoid", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=sigmoid dtype=f32:-:f32 in=200704 {0}"},
      {"Sign", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=sign dtype=f32:-:f32 in=200704 {0}"},
      {"Sin", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=sine dtype=f32:-:f32 in=200704 {0}"},
      {"Sinh", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=hyperbolic_sine dtype=f32:-:f32 in=200704 {0}"},
      {"Softplus", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=softplus dtype=f32:-:f32 in=200704 {0}"},
      {"Softsign", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=softsign dtype=f32:-:f32 in=200704 {0}"},
      {"Sqrt", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=square_root dtype=f32:-:f32 in=200704 {0}"},
      {"Swish", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=swish dtype=f32:-:f32 in=200704 {0}"},
      {"Tan", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=tangent dtype=f32:-:f32 in=200704 {0}"},
      {"Tanh", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=tanh dtype=f32:-:f32 in=200704 {0}"},
      {"ThresholdedRelu", "f32 1x64x56x56 -> f32 1x64x56x56", "",
       "pointwise kind=thresholded_relu dtype=f32:-:f32 in=200704 {0}"},
      {"Gelu", "f32 1x64x56x56 -> f32 1x64x56x56", "", "pointwise kind=gelu_erf dtype=f32:-:f32 in=200704 {0}"},
      {"IsInf", "f32 8 -> bool 8", "", "pointwise kind=is_inf dtype=f32:-:bool in=8 {0}"},
      {"IsNaN", "f32 8 -> bool 8", "", "pointwise kind=is_nan dtype=f32:-:bool in=8 {0}"},
      {"Not", "bool 8 -> bool 8", "", "pointwise kind=not dtype=bool:-:bool in=8 {0}"},
      {"BitwiseNot", "u8 8 -> u8 8", "", "pointwise kind=bitwise_not dtype=u8:-:u8 in=8 {0}"},
      {"Gelu", "f32 8 -> f32 8", "approximate=tanh", "pointwise kind=gelu_tanh dtype=f32:-:f32 in=8 {0}"},
      {"Relu", "f32 -> f32", "", "pointwise kind=relu dtype=f32:-:f32 in=1 {0}"},
      {"ParametricSoftplus", "f32 8 -> f32 8", "", "pointwise kind=softplus dtype=f32:-:f32 in=8 {0}"},
      {"ScaledTanh", "f32 8 -> f32 8", "", "pointwise kind=tanh dtype=f32:-:f32 in=8 {0}"},
      {"Affine", "f32 8 -> f32 8", "alpha=2.0",
       "region [movement kind=fill dtype=-:-:f32 in=- out=1]() ; [pointwise kind=multiply dtype=f32:f32:f32 "
       "in=8,1](in0,%0) {0}"},
      {"Scale", "f32 8 -> f32 8", "scale=2.0",
       "region [movement kind=fill dtype=-:-:f32 in=- out=1]() ; [pointwise kind=multiply dtype=f32:f32:f32 "
       "in=8,1](in0,%0) {0}"},
      {"ImageScaler", "f32 1x3x8x8 -> f32 1x3x8x8", "scale=2.0",
       "region [movement kind=fill dtype=-:-:f32 in=- out=3]() ; [pointwise kind=add dtype=f32:f32:f32 "
       "in=3x64,3x1](in0,%0) {0}"},
  });
}

TEST(LoweringPointwise, BinaryOperatorsMergeWhatBroadcastsAlike) {
  ExpectLowerings({
      {"Add", "f32 1x128x768, f32 1x128x768 -> f32 1x128x768", "",
       "pointwise kind=add dtype=f32:f32:f32 in=98304,98304 {0,1}"},
      {"Add", "f32 1x128x768, w f32 768 -> f32 1x128x768", "",
       "pointwise kind=add dtype=f32:f32:f32 in=128x768,768 {0,1}"},
      {"Add", "f32 1x64x56x56, w f32 64x1x1 -> f32 1x64x56x56", "",
       "pointwise kind=add dtype=f32:f32:f32 in=64x3136,64x1 {0,1}"},
      {"Add", "f32, f32 3x4 -> f32 3x4", "", "pointwise kind=add dtype=f32:f32:f32 in=1,12 {0,1}"},
      {"Sub", "f32 3x1, f32 1x4 -> f32 3x4", "", "pointwise kind=subtract dtype=f32:f32:f32 in=3x1,4 {0,1}"},
      {"Mul", "f32 2x3x4x5, f32 3x1x1 -> f32 2x3x4x5", "",
       "pointwise kind=multiply dtype=f32:f32:f32 in=2x3x20,3x1 {0,1}"},
      {"Div", "f32 8, w f32 -> f32 8", "", "pointwise kind=divide dtype=f32:f32:f32 in=8,1 {0,1}"},
      {"Pow", "f32 8, w f32 -> f32 8", "", "pointwise kind=power dtype=f32:f32:f32 in=8,1 {0,1}"},
      {"Pow", "f32 8, w s64=[2] -> f32 8", "", "pointwise kind=square dtype=f32:-:f32 in=8 {0}"},
      {"Pow", "f32 8, w s64 1=[3] -> f32 8", "", "pointwise kind=cube dtype=f32:-:f32 in=8 {0}"},
      {"Pow", "f32 2, w s64 2=[3,3] -> f32 2", "", "pointwise kind=cube dtype=f32:-:f32 in=2 {0}"},
      {"Pow", "f32 2, w s64 2=[2,3] -> f32 2", "", "pointwise kind=power dtype=f32:s64:f32 in=2,2 {0,1}"},
      {"Pow", "f32 8, w s64=[-1] -> f32 8", "", "pointwise kind=reciprocal dtype=f32:-:f32 in=8 {0}"},
      {"Pow", "s64 8, w s64=[-1] -> s64 8", "", "pointwise kind=power dtype=s64:s64:s64 in=8,1 {0,1}"},
      {"Pow", "f32 8, w s64=[1] -> f32 8", "", "free: to the power of one it returns its input"},
      {"Pow", "f32 1, w s64 8=[2,2,2,2,2,2,2,2] -> f32 8", "", "pointwise kind=power dtype=f32:s64:f32 in=1,8 {0,1}"},
      {"Mod", "s64 8, s64 8 -> s64 8", "", "pointwise kind=modulo dtype=s64:s64:s64 in=8,8 {0,1}"},
      {"BitShift", "u32 8, u32 8 -> u32 8", "direction=LEFT",
       "pointwise kind=bit_shift dtype=u32:u32:u32 in=8,8 {0,1}"},
      {"BitwiseAnd", "u8 8, u8 8 -> u8 8", "", "pointwise kind=bitwise_and dtype=u8:u8:u8 in=8,8 {0,1}"},
      {"BitwiseOr", "u8 8, u8 8 -> u8 8", "", "pointwise kind=bitwise_or dtype=u8:u8:u8 in=8,8 {0,1}"},
      {"BitwiseXor", "u8 8, u8 8 -> u8 8", "", "pointwise kind=bitwise_xor dtype=u8:u8:u8 in=8,8 {0,1}"},
      {"And", "bool 8, bool 8 -> bool 8", "", "pointwise kind=and dtype=bool:bool:bool in=8,8 {0,1}"},
      {"Or", "bool 8, bool 8 -> bool 8", "", "pointwise kind=or dtype=bool:bool:bool in=8,8 {0,1}"},
      {"Xor", "bool 8, bool 8 -> bool 8", "", "pointwise kind=xor dtype=bool:bool:bool in=8,8 {0,1}"},
      {"Equal", "s64 8, s64 8 -> bool 8", "", "pointwise kind=equal dtype=s64:s64:bool in=8,8 {0,1}"},
      {"Greater", "f32 8, f32 -> bool 8", "", "pointwise kind=greater dtype=f32:f32:bool in=8,1 {0,1}"},
      {"GreaterOrEqual", "f32 8, f32 8 -> bool 8", "",
       "pointwise kind=greater_or_equal dtype=f32:f32:bool in=8,8 {0,1}"},
      {"Less", "f32 8, f32 8 -> bool 8", "", "pointwise kind=less dtype=f32:f32:bool in=8,8 {0,1}"},
      {"LessOrEqual", "f32 8, f32 8 -> bool 8", "", "pointwise kind=less_or_equal dtype=f32:f32:bool in=8,8 {0,1}"},
      {"PRelu", "f32 1x64x56x56, w f32 64x1x1 -> f32 1x64x56x56", "",
       "pointwise kind=prelu dtype=f32:f32:f32 in=64x3136,64x1 {0,1}"},
      {"PRelu@6", "f32 1x64x56x56, w f32 64 -> f32 1x64x56x56", "",
       "pointwise kind=prelu dtype=f32:f32:f32 in=64x3136,64x1 {0,1}"},
      {"Add", "f32 3x4, f32 5 -> f32 ?", "", "unknown: shapes '3x4' and '5' do not broadcast"},
  });
}

TEST(LoweringPointwise, VariadicOperatorsTakeAnyNumber) {
  ExpectLowerings({
      {"Sum", "f32 8, f32 8, f32 8 -> f32 8", "", "pointwise kind=add dtype=f32:f32:f32 in=8,8,8 {0,1,2}"},
      {"Mean", "f32 3x4, f32 4, f32 -> f32 3x4", "", "pointwise kind=mean dtype=f32:f32:f32 in=3x4,4,1 {0,1,2}"},
      {"Max", "f32 8, f32 8 -> f32 8", "", "pointwise kind=maximum dtype=f32:f32:f32 in=8,8 {0,1}"},
      {"Min", "f32 8, f32 8 -> f32 8", "", "pointwise kind=minimum dtype=f32:f32:f32 in=8,8 {0,1}"},
      {"Sum", "f32 8 -> f32 8", "", "free: with one operand it returns that operand"},
  });
}

TEST(LoweringPointwise, SelectionsAndConversions) {
  ExpectLowerings({
      {"Where", "bool 1x1x128x128, f32 1x12x128x128, w f32 -> f32 1x12x128x128", "",
       "pointwise kind=where dtype=f32:bool:f32 in=16384,12x16384,1 {0,1,2}"},
      {"Clip", "f32 8, w f32, w f32 -> f32 8", "", "pointwise kind=clip dtype=f32:-:f32 in=8 {0}"},
      {"Clip@6", "f32 8 -> f32 8", "min=0.0 max=6.0", "pointwise kind=clip dtype=f32:-:f32 in=8 {0}"},
      {"Clip", "f32 8 -> f32 8", "", "free: without bounds it returns its input"},
      {"Cast", "f32 8 -> f16 8", "to=10", "pointwise kind=cast dtype=f32:-:f16 in=8 {0}"},
      {"Cast", "f32 8 -> f32 8", "to=1", "free: the element type does not change"},
      {"CastLike", "f32 8, f16 -> f16 8", "", "pointwise kind=cast dtype=f32:-:f16 in=8 {0}"},
      {"BitCast@26", "f32 8 -> s32 8", "to=6", "free: reads the same bytes as another element type"},
      {"SwiGLU@28", "f16 1x8x64, f16 1x8x64 -> f16 1x8x64", "",
       "region [pointwise kind=swish dtype=f16:-:f16 in=512](in0) ; [pointwise kind=multiply dtype=f16:f16:f16 "
       "in=512,512](%0,in1) {0,1}"},
  });
}

TEST(LoweringPointwise, QuantizationKeepsScalesAsValues) {
  ExpectLowerings({
      {"QuantizeLinear", "f32 1x64x56x56, w f32, w u8 -> u8 1x64x56x56", "",
       "pointwise kind=quantize dtype=f32:-:u8 in=200704 {0}"},
      {"QuantizeLinear", "f32 1x64x56x56, w f32 64, w s8 64 -> s8 1x64x56x56", "axis=1",
       "pointwise kind=quantize dtype=f32:-:s8 in=200704 {0}"},
      {"DequantizeLinear", "u8 1x64x56x56, w f32, w u8 -> f32 1x64x56x56", "",
       "pointwise kind=dequantize dtype=u8:-:f32 in=200704 {0}"},
      {"DynamicQuantizeLinear", "f32 128x768 -> u8 128x768, f32, u8", "",
       "pointwise kind=dynamic_quantize dtype=f32:-:u8 in=98304 {0}"},
      {"com.microsoft.QuantizeLinear", "f32 8, w f32, w u16 -> u16 8", "",
       "pointwise kind=quantize dtype=f32:-:u16 in=8 {0}"},
      {"com.microsoft.DequantizeLinear", "u16 8, w f32, w u16 -> f32 8", "",
       "pointwise kind=dequantize dtype=u16:-:f32 in=8 {0}"},
      {"com.microsoft.QLinearAdd", "u8 1x64x8x8, f32, u8, u8 1x64x8x8, f32, u8, f32, u8 -> u8 1x64x8x8", "",
       "pointwise kind=add dtype=u8:u8:u8 in=4096,4096 {0,3}"},
      {"com.microsoft.QLinearMul", "u8 1x64x8x8, f32, u8, u8 1x64x1x1, f32, u8, f32, u8 -> u8 1x64x8x8", "",
       "pointwise kind=multiply dtype=u8:u8:u8 in=64x64,64x1 {0,3}"},
      {"com.microsoft.QLinearLeakyRelu", "u8 8, f32, u8, f32, u8 -> u8 8", "alpha=0.1",
       "pointwise kind=leaky_relu dtype=u8:-:u8 in=8 {0}"},
      {"com.microsoft.QLinearSigmoid", "u8 8, f32, u8, f32, u8 -> u8 8", "",
       "pointwise kind=sigmoid dtype=u8:-:u8 in=8 {0}"},
      {"com.microsoft.QLinearWhere", "bool 8, u8 8, f32, u8, u8 8, f32, u8, f32, u8 -> u8 8", "",
       "pointwise kind=where dtype=u8:bool:u8 in=8,8,8 {0,1,4}"},
      {"com.microsoft.MulInteger", "u8 8, u8, u8 8, u8 -> s32 8", "",
       "pointwise kind=multiply dtype=u8:u8:s32 in=8,8 {0,2}"},
  });
}

}  // namespace
}  // namespace infimum
