#include "microbench/libraries/onednn/layer_offers.h"

#include <algorithm>
#include <utility>

#include "microbench/libraries/onednn/primitives/convolution.h"
#include "microbench/libraries/onednn/primitives/matmul.h"
#include "microbench/libraries/onednn/primitives/movement.h"
#include "microbench/libraries/onednn/primitives/normalization.h"
#include "microbench/libraries/onednn/primitives/pointwise.h"
#include "microbench/libraries/onednn/primitives/pooling.h"
#include "microbench/libraries/onednn/program/implementations.h"
#include "microbench/libraries/onednn/program/onednn_types.h"
#include "src/core/layer/field_text.h"

namespace infimum::cpu {
namespace {

using dnnl::memory;

onednn::Types LibraryTypes(const OperandTypes& types) {
  return {LibraryType(types.input), LibraryType(types.weights), LibraryType(types.output)};
}

// Of the input and the result; what there is beside them a family knows.
bool HasTypes(const onednn::Types& types) {
  return types.input != memory::data_type::undef && types.output != memory::data_type::undef;
}

std::vector<memory::dims> DimsOf(const std::vector<Shape>& shapes) {
  std::vector<memory::dims> dims;
  for (const Shape& shape : shapes) dims.push_back(shape.dims);
  return dims;
}

template <class Layer>
std::vector<Offer> LayerOffers(const Layer& layer, const CallMaker& make_call = BindOperands) {
  if (!HasTypes(layer.dtype)) return {};
  return OffersOf([&] { return FormsOf(layer); }, make_call);
}

onednn::Scaling ScalingOf(const ProductValues& values, std::int64_t channels) {
  onednn::Scaling scaling{.scaled = values.scaled,
                          .input_scale = static_cast<float>(values.input_scale),
                          .input_zero = static_cast<int>(values.input_zero),
                          .output_scale = static_cast<float>(values.output_scale),
                          .output_zero = static_cast<int>(values.output_zero)};
  for (std::int64_t c = 0; values.scaled && c < channels; ++c)
    scaling.weight_scales.push_back(static_cast<float>(values.WeightScale(c)));
  return scaling;
}

std::vector<onednn::Step> StepsOf(const Epilogue& epilogue) {
  std::vector<onednn::Step> steps;
  for (const Epilogue::Step& step : epilogue.steps)
    steps.push_back({step.algorithm, step.alpha, step.beta, step.binary ? step.shape.dims : memory::dims(),
                     LibraryType(step.type), step.constant});
  return steps;
}

// The bias of a product whose result is an 8-bit integer is an integer in the accumulator's scale; oneDNN adds it after
// scaling, in f32.
CallMaker BindProduct(const ProductValues& values) {
  return [values](const Problem& problem, const onednn::Implementation& implementation) -> Result<PrimitiveCall> {
    INFIMUM_ASSIGN_OR_RETURN(PrimitiveCall call, BindOperands(problem, implementation));
    const auto bias = std::ranges::find_if(
        call.inputs, [](const PrimitiveCall::Input& input) { return input.argument == DNNL_ARG_BIAS; });
    if (!values.scaled || bias == call.inputs.end() || !IsInteger(bias->tensor->type())) return call;
    std::vector<float> scaled;
    for (std::int64_t c = 0; c < bias->tensor->count(); ++c)
      scaled.push_back(static_cast<float>(bias->tensor->Get(c) * values.input_scale * values.WeightScale(c)));
    call.vectors.push_back({DNNL_ARG_BIAS, std::move(scaled), {}, Shape{bias->described.get_dims()}});
    call.inputs.erase(bias);
    return call;
  };
}

// Any type of an element's size, so that 64-bit integers are left out and bool is moved too.
memory::data_type CarrierOf(DataType type) {
  switch (BytesPerElement(type)) {
    case 1:
      return memory::data_type::u8;
    case 2:
      return memory::data_type::bf16;
    case 4:
      return memory::data_type::f32;
    default:
      return memory::data_type::undef;
  }
}

// Nothing where the operands or the result have no scales.
std::optional<onednn::ScaledSum> ScaledSumOf(const LayerValues& values) {
  if (values.operands.size() != 2 || !values.output) return std::nullopt;
  const double first = values.operands[0].scale() / values.output->scale();
  const double second = values.operands[1].scale() / values.output->scale();
  const double shift = values.output->zero() - first * values.operands[0].zero() - second * values.operands[1].zero();
  return onednn::ScaledSum{static_cast<float>(first), static_cast<float>(second), static_cast<float>(shift)};
}

onednn::EltwiseValues EltwiseValuesOf(const LayerValues& values) {
  return {.leaky_slope = values.leaky_slope,
          .elu_alpha = values.elu_alpha,
          .quick_gelu_alpha = values.quick_gelu_alpha,
          .clip_low = values.clip_low,
          .clip_high = values.clip_high,
          .hard_sigmoid_alpha = values.hard_sigmoid_alpha,
          .hard_sigmoid_beta = values.hard_sigmoid_beta};
}

}  // namespace

std::vector<Offer> ConvolutionOffers(const ConvolutionConfig& config, const LayerValues& own,
                                     const Epilogue& epilogue) {
  onednn::Convolution layer{.dtype = LibraryTypes(config.types),
                            .in = config.input.dims,
                            .out_channels = config.output_channels,
                            .kernel = config.kernel.dims,
                            .stride = config.stride.dims,
                            .dilation = config.dilation.dims,
                            .pad = config.padding,
                            .groups = config.groups,
                            .bias = config.bias,
                            .weights = ValueText(config.weights),
                            .transposed = config.transposed,
                            .output_pad = config.output_padding,
                            .steps = StepsOf(epilogue)};
  if (layer.dtype.weights == memory::data_type::undef) return {};
  const std::int64_t depth = config.input.dims[1] / config.groups * ElementCount(config.kernel);
  const ProductValues values = ProductValuesOf(config.types, depth, own);
  if (!values.symmetric()) return {};
  layer.scaling = ScalingOf(values, config.output_channels);
  return LayerOffers(layer, BindProduct(values));
}

std::vector<Offer> MatMulOffers(const MatMulConfig& config, const LayerValues& own, const Epilogue& epilogue) {
  onednn::MatMul layer{.dtype = LibraryTypes(config.types),
                       .a = config.a.dims,
                       .b = config.b.dims,
                       .bias = ValueText(config.bias),
                       .weights = ValueText(config.weights),
                       .steps = StepsOf(epilogue)};
  if (layer.dtype.weights == memory::data_type::undef || config.scales.any()) return {};
  const ProductValues values = ProductValuesOf(config.types, config.a.dims.back(), own);
  if (!values.symmetric()) return {};
  // A full bias in the accumulator's scale would have to be converted at each run.
  if (config.bias == MatMulBias::kFull && values.scaled && IsInteger(OperandsOf(LayerConfig(config))[2].type))
    return {};
  layer.scaling = ScalingOf(values, config.b.dims.back());
  return LayerOffers(layer, BindProduct(values));
}

std::vector<Offer> PoolingOffers(const PoolingConfig& config) {
  return LayerOffers(onednn::Pooling{.kind = ValueText(config.kind),
                                     .dtype = LibraryTypes(config.types),
                                     .in = config.input.dims,
                                     .out = config.output.dims,
                                     .kernel = config.kernel.dims,
                                     .stride = config.stride.dims,
                                     .dilation = config.dilation.dims,
                                     .pad = config.padding});
}

std::vector<Offer> NormalizationLibraryOffers(const NormalizationConfig& config, const LayerValues& values,
                                              const Epilogue& epilogue) {
  return LayerOffers(onednn::Normalization{.kind = ValueText(config.kind),
                                           .dtype = LibraryTypes(config.types),
                                           .in = config.input.dims,
                                           .axis = config.axis,
                                           .groups = config.groups,
                                           .size = config.size,
                                           .scale = config.scale,
                                           .bias = config.bias,
                                           .steps = StepsOf(epilogue),
                                           .epsilon = static_cast<float>(values.epsilon),
                                           .response_alpha = static_cast<float>(values.response_alpha),
                                           .response_beta = static_cast<float>(values.response_beta),
                                           .response_k = static_cast<float>(values.response_k)});
}

std::vector<Offer> SoftmaxLibraryOffers(const SoftmaxConfig& config) {
  return LayerOffers(onednn::Softmax{.kind = ValueText(config.kind),
                                     .dtype = LibraryTypes(config.types),
                                     .in = config.input.dims,
                                     .axis = config.axis});
}

std::vector<Offer> PointwiseLibraryOffers(const PointwiseConfig& config, const LayerValues& values) {
  onednn::Pointwise layer{.kind = ValueText(config.kind),
                          .dtype = LibraryTypes(config.types),
                          .in = DimsOf(config.inputs),
                          .values = EltwiseValuesOf(values)};
  if (config.types.weights != DataType::kNone && layer.dtype.weights == memory::data_type::undef) return {};
  // The arithmetic of these primitives is f32, which does not hold every s32.
  if (config.types.input == DataType::kS32 || config.types.output == DataType::kS32) return {};
  if (values.quantized()) {
    layer.scaled_sum = ScaledSumOf(values);
    if (config.kind != PointwiseKind::kAdd || !layer.scaled_sum) return {};
  }
  return LayerOffers(layer);
}

std::vector<Offer> ReductionLibraryOffers(const ReductionConfig& config) {
  return LayerOffers(onednn::Reduction{.kind = ValueText(config.kind),
                                       .dtype = LibraryTypes(config.types),
                                       .in = config.input.dims,
                                       .axes = config.axes});
}

std::vector<Offer> ResampleLibraryOffers(const ResampleConfig& config) {
  return LayerOffers(onednn::Resampling{.kind = ValueText(config.kind),
                                        .dtype = LibraryTypes(config.types),
                                        .in = config.input.dims,
                                        .out = config.output.dims});
}

std::vector<Offer> MovementLibraryOffers(const MovementConfig& config) {
  const memory::data_type carrier = CarrierOf(config.types.input);
  if (carrier == memory::data_type::undef) return {};
  const onednn::Movement layer{.kind = ValueText(config.kind),
                               .dtype = {carrier, memory::data_type::undef, carrier},
                               .in = DimsOf(config.inputs),
                               .out = DimsOf(config.outputs),
                               .axis = config.axis,
                               .perm = config.permutation};
  return LayerOffers(layer,
                     [](const Problem& problem, const onednn::Implementation& implementation) -> Result<PrimitiveCall> {
                       INFIMUM_ASSIGN_OR_RETURN(PrimitiveCall call, BindOperands(problem, implementation));
                       call.moves_bits = true;
                       return call;
                     });
}

std::vector<Offer> ReorderLibraryOffers(const ReorderConfig& config) {
  return LayerOffers(onednn::Reorder{
      .dtype = LibraryTypes(config.types), .in = config.input.dims, .from = config.from, .to = config.to});
}

std::optional<Epilogue::Step> EltwiseStep(PointwiseKind kind, const LayerValues& values) {
  const std::optional<onednn::Step> step = onednn::FindEltwise(ValueText(kind), EltwiseValuesOf(values));
  if (!step) return std::nullopt;
  Epilogue::Step found;
  found.algorithm = step->algorithm;
  found.alpha = step->alpha;
  found.beta = step->beta;
  return found;
}

std::optional<dnnl::algorithm> BinaryAlgorithm(PointwiseKind kind) { return onednn::FindBinary(ValueText(kind)); }

}  // namespace infimum::cpu
