#include "microbench/libraries/onednn/pointwise_candidates.h"

#include "microbench/libraries/onednn/program/implementations.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

using dnnl::algorithm;
using dnnl::memory;

std::optional<Epilogue::Step> EltwiseStep(PointwiseKind kind, const LayerValues& values) {
  const auto step = [](algorithm eltwise, double alpha = 0, double beta = 0) {
    Epilogue::Step result;
    result.algorithm = eltwise;
    result.alpha = static_cast<float>(alpha);
    result.beta = static_cast<float>(beta);
    return result;
  };
  switch (kind) {
    case PointwiseKind::kRelu:
      return step(algorithm::eltwise_relu);
    case PointwiseKind::kLeakyRelu:
      return step(algorithm::eltwise_relu, values.leaky_slope);
    case PointwiseKind::kCelu:
      // The same function for this alpha alone.
      if (values.elu_alpha != 1) return std::nullopt;
      return step(algorithm::eltwise_elu, values.elu_alpha);
    case PointwiseKind::kElu:
      return step(algorithm::eltwise_elu, values.elu_alpha);
    case PointwiseKind::kTanh:
      return step(algorithm::eltwise_tanh);
    case PointwiseKind::kSquare:
      return step(algorithm::eltwise_square);
    case PointwiseKind::kCube:
      return step(algorithm::eltwise_pow, 1, 3);
    case PointwiseKind::kAbsolute:
      return step(algorithm::eltwise_abs);
    case PointwiseKind::kSquareRoot:
      return step(algorithm::eltwise_sqrt);
    case PointwiseKind::kSwish:
      return step(algorithm::eltwise_swish, 1);
    case PointwiseKind::kQuickGelu:
      return step(algorithm::eltwise_swish, values.quick_gelu_alpha);
    case PointwiseKind::kNegative:
      return step(algorithm::eltwise_linear, -1, 0);
    case PointwiseKind::kClip:
      return step(algorithm::eltwise_clip, values.clip_low, values.clip_high);
    case PointwiseKind::kSigmoid:
      return step(algorithm::eltwise_logistic);
    case PointwiseKind::kExponential:
      return step(algorithm::eltwise_exp);
    case PointwiseKind::kLogarithm:
      return step(algorithm::eltwise_log);
    case PointwiseKind::kReciprocal:
      return step(algorithm::eltwise_pow, 1, -1);
    case PointwiseKind::kGeluErf:
      return step(algorithm::eltwise_gelu_erf);
    case PointwiseKind::kGeluTanh:
      return step(algorithm::eltwise_gelu_tanh);
    case PointwiseKind::kMish:
      return step(algorithm::eltwise_mish);
    case PointwiseKind::kHardSwish:
      return step(algorithm::eltwise_hardswish, 1.0 / 6, 0.5);
    case PointwiseKind::kHardSigmoid:
      return step(algorithm::eltwise_hardsigmoid, values.hard_sigmoid_alpha, values.hard_sigmoid_beta);
    case PointwiseKind::kSoftplus:
      return step(algorithm::eltwise_soft_relu, 1);
    case PointwiseKind::kRound:
      return step(algorithm::eltwise_round);
    default:
      return std::nullopt;
  }
}

std::optional<algorithm> BinaryAlgorithm(PointwiseKind kind) {
  switch (kind) {
    case PointwiseKind::kAdd:
      return algorithm::binary_add;
    case PointwiseKind::kSubtract:
      return algorithm::binary_sub;
    case PointwiseKind::kMultiply:
      return algorithm::binary_mul;
    case PointwiseKind::kDivide:
      return algorithm::binary_div;
    case PointwiseKind::kMinimum:
      return algorithm::binary_min;
    case PointwiseKind::kMaximum:
      return algorithm::binary_max;
    case PointwiseKind::kEqual:
      return algorithm::binary_eq;
    case PointwiseKind::kGreater:
      return algorithm::binary_gt;
    case PointwiseKind::kGreaterOrEqual:
      return algorithm::binary_ge;
    case PointwiseKind::kLess:
      return algorithm::binary_lt;
    case PointwiseKind::kLessOrEqual:
      return algorithm::binary_le;
    default:
      return std::nullopt;
  }
}

namespace {

Shape WithRank(const Shape& shape, std::size_t rank) {
  Shape result;
  result.dims.assign(rank - shape.rank(), 1);
  result.dims.insert(result.dims.end(), shape.dims.begin(), shape.dims.end());
  return result;
}

std::vector<Offer> EltwiseOffers(const PointwiseConfig& config, const Epilogue::Step& step) {
  if (config.inputs.size() != 1 || config.inputs[0].rank() == 0) return {};
  const Shape& shape = config.inputs[0];
  ImplementationWalk walk(
      [config](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        const Shape& own = config.inputs[0];
        call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], PlainDesc(own, config.types.input)});
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(own, config.types.output)});
        return call;
      });
  walk.Add("", [&]() -> dnnl::primitive_desc {
    return dnnl::eltwise_forward::primitive_desc(
        CpuEngine(), dnnl::prop_kind::forward_inference, step.algorithm, PlainDesc(shape, config.types.input),
        PlainDesc(shape, config.types.output), step.alpha, step.beta, DefaultAttributes(), true);
  });
  return walk.Take();
}

// A sum of 8-bit tensors: each operand by its scale in steps of the result, then all zero points at once.
struct ScaledSum {
  float first = 1, second = 1, shift = 0;
};

std::optional<ScaledSum> ScaledSumOf(const LayerValues& values) {
  if (values.operands.size() != 2 || !values.output) return std::nullopt;
  const double first = values.operands[0].scale() / values.output->scale();
  const double second = values.operands[1].scale() / values.output->scale();
  const double shift = values.output->zero() - first * values.operands[0].zero() - second * values.operands[1].zero();
  return ScaledSum{static_cast<float>(first), static_cast<float>(second), static_cast<float>(shift)};
}

std::vector<Offer> BinaryOffers(const PointwiseConfig& config, algorithm kind,
                                const std::optional<ScaledSum>& scaled = std::nullopt) {
  if (config.inputs.size() != 2) return {};
  const Shape output = OutputShape(config);
  if (output.rank() == 0 || output.rank() > 6) return {};
  const Shape first = WithRank(config.inputs[0], output.rank());
  const Shape second = WithRank(config.inputs[1], output.rank());
  const DataType second_type = config.types.weights == DataType::kNone ? config.types.input : config.types.weights;
  ImplementationWalk walk(
      [=](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back({DNNL_ARG_SRC_0, problem.operands[0], PlainDesc(first, config.types.input)});
        call.inputs.push_back({DNNL_ARG_SRC_1, problem.operands[1], PlainDesc(second, second_type)});
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(output, config.types.output)});
        if (scaled) {
          call.vectors.push_back({DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC_0, {scaled->first}, {}});
          call.vectors.push_back({DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC_1, {scaled->second}, {}});
        }
        return call;
      });
  walk.Add("", [&]() -> dnnl::primitive_desc {
    dnnl::primitive_attr attributes = DefaultAttributes();
    if (scaled) {
      attributes.set_scales_mask(DNNL_ARG_SRC_0, 0);
      attributes.set_scales_mask(DNNL_ARG_SRC_1, 0);
      dnnl::post_ops steps;
      steps.append_eltwise(algorithm::eltwise_linear, 1, scaled->shift);
      attributes.set_post_ops(steps);
    }
    return dnnl::binary::primitive_desc(CpuEngine(), kind, PlainDesc(first, config.types.input),
                                        PlainDesc(second, second_type), PlainDesc(output, config.types.output),
                                        attributes, true);
  });
  return walk.Take();
}

}  // namespace

std::vector<Offer> PointwiseLibraryOffers(const PointwiseConfig& config, const LayerValues& values) {
  for (const DataType type : {config.types.input, config.types.output}) {
    if (LibraryType(type) == memory::data_type::undef) return {};
    // The arithmetic of these primitives is f32, which does not hold every s32.
    if (type == DataType::kS32) return {};
  }
  if (values.quantized()) {
    const std::optional<ScaledSum> scaled = ScaledSumOf(values);
    if (config.kind != PointwiseKind::kAdd || !scaled) return {};
    return BinaryOffers(config, algorithm::binary_add, scaled);
  }
  if (const auto step = EltwiseStep(config.kind, values)) return EltwiseOffers(config, *step);
  if (const auto kind = BinaryAlgorithm(config.kind)) return BinaryOffers(config, *kind);
  return {};
}

}  // namespace infimum::cpu
