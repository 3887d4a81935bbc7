#include "microbench/libraries/onednn/normalization_candidates.h"

#include <cmath>
#include <vector>

#include "microbench/libraries/onednn/program/implementations.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::normalization_flags;
using dnnl::prop_kind;

bool HasNormalization(const OperandTypes& types) {
  return LibraryType(types.input) != memory::data_type::undef && LibraryType(types.output) != memory::data_type::undef;
}

// Operand numbers of a normalisation: input, then scale, bias, mean, variance as far as it has them.
struct OperandNumbers {
  std::size_t scale = 0, bias = 0, mean = 0, variance = 0;
};
OperandNumbers NumbersOf(const NormalizationConfig& config) {
  OperandNumbers numbers;
  std::size_t next = 1;
  if (config.scale) numbers.scale = next++;
  if (config.bias) numbers.bias = next++;
  numbers.mean = next++;
  numbers.variance = next++;
  return numbers;
}

std::vector<Offer> BatchOffers(const NormalizationConfig& config, const LayerValues& values) {
  if (config.axis != 1 || config.input.rank() < 2 || config.types.weights != DataType::kF32) return {};
  const Shape channels{{config.input.dims[1]}};
  ImplementationWalk walk([config, channels](const Problem& problem,
                                             const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
    const OperandNumbers numbers = NumbersOf(config);
    PrimitiveCall call;
    call.implementation = implementation;
    call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], PlainDesc(config.input, config.types.input)});
    const memory::desc vector = PlainDesc(channels, DataType::kF32);
    if (config.scale) call.inputs.push_back({DNNL_ARG_SCALE, problem.operands[numbers.scale], vector, true});
    if (config.bias) call.inputs.push_back({DNNL_ARG_SHIFT, problem.operands[numbers.bias], vector, true});
    call.inputs.push_back({DNNL_ARG_MEAN, problem.operands[numbers.mean], vector, true});
    call.inputs.push_back({DNNL_ARG_VARIANCE, problem.operands[numbers.variance], vector, true});
    call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(config.input, config.types.output)});
    return call;
  });
  const auto add = [&](const std::string& policy, const memory::desc& input, const memory::desc& output) {
    walk.Add(policy, [&]() -> dnnl::primitive_desc {
      normalization_flags flags = normalization_flags::use_global_stats;
      if (config.scale) flags |= normalization_flags::use_scale;
      if (config.bias) flags |= normalization_flags::use_shift;
      return dnnl::batch_normalization_forward::primitive_desc(CpuEngine(), prop_kind::forward_inference, input, output,
                                                               static_cast<float>(values.epsilon), flags,
                                                               DefaultAttributes(), true);
    });
  };
  if (config.input.rank() == 4) {
    const memory::desc blocked(config.input.dims, LibraryType(config.types.input), memory::format_tag::nChw8c);
    add("", blocked, AnyDesc(config.input, config.types.output));
  }
  add("nhwc", ChannelsLastDesc(config.input, config.types.input), ChannelsLastDesc(config.input, config.types.output));
  add("nchw", PlainDesc(config.input, config.types.input), PlainDesc(config.input, config.types.output));
  return walk.Take();
}

std::vector<Offer> LayerOffers(const NormalizationConfig& config, const LayerValues& values) {
  Shape flat{{1, 1}};
  for (std::size_t i = 0; i < config.input.rank(); ++i) {
    flat.dims[static_cast<std::int64_t>(i) < config.axis ? 0 : 1] *= config.input.dims[i];
  }
  if (config.types.weights != DataType::kF32 && (config.scale || config.bias)) return {};
  ImplementationWalk walk(
      [config, flat](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        const OperandNumbers numbers = NumbersOf(config);
        const memory::desc vector = PlainDesc(Shape{{flat.dims[1]}}, DataType::kF32);
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], PlainDesc(flat, config.types.input)});
        if (config.scale) call.inputs.push_back({DNNL_ARG_SCALE, problem.operands[numbers.scale], vector, true});
        if (config.bias) call.inputs.push_back({DNNL_ARG_SHIFT, problem.operands[numbers.bias], vector, true});
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(flat, config.types.output)});
        return call;
      });
  walk.Add("", [&]() -> dnnl::primitive_desc {
    normalization_flags flags = normalization_flags::none;
    if (config.scale) flags |= normalization_flags::use_scale;
    if (config.bias) flags |= normalization_flags::use_shift;
    return dnnl::layer_normalization_forward::primitive_desc(
        CpuEngine(), prop_kind::forward_inference, PlainDesc(flat, config.types.input),
        PlainDesc(flat, config.types.output), static_cast<float>(values.epsilon), flags, DefaultAttributes(), true);
  });
  return walk.Take();
}

std::vector<Offer> ResponseOffers(const NormalizationConfig& config, const LayerValues& values) {
  ImplementationWalk walk(
      [config](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], PlainDesc(config.input, config.types.input)});
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(config.input, config.types.output)});
        return call;
      });
  const auto add = [&](const std::string& policy, const memory::desc& input, const memory::desc& output) {
    walk.Add(policy, [&]() -> dnnl::primitive_desc {
      return dnnl::lrn_forward::primitive_desc(
          CpuEngine(), prop_kind::forward_inference, algorithm::lrn_across_channels, input, output, config.size,
          static_cast<float>(values.response_alpha), static_cast<float>(values.response_beta),
          static_cast<float>(values.response_k), DefaultAttributes(), true);
    });
  };
  // oneDNN's window reaches as far to both sides; ONNX's even window does not.
  if (config.size % 2 == 0 || config.input.rank() != 4) return {};
  const memory::desc blocked(config.input.dims, LibraryType(config.types.input), memory::format_tag::nChw8c);
  add("", blocked, AnyDesc(config.input, config.types.output));
  add("nhwc", ChannelsLastDesc(config.input, config.types.input), ChannelsLastDesc(config.input, config.types.output));
  add("nchw", PlainDesc(config.input, config.types.input), PlainDesc(config.input, config.types.output));
  return walk.Take();
}

}  // namespace

std::vector<Offer> NormalizationLibraryOffers(const NormalizationConfig& config, const LayerValues& values) {
  if (!HasNormalization(config.types)) return {};
  switch (config.kind) {
    case NormalizationKind::kBatch:
      return BatchOffers(config, values);
    case NormalizationKind::kLayer:
      return LayerOffers(config, values);
    case NormalizationKind::kLocalResponse:
      return ResponseOffers(config, values);
    default:
      return {};
  }
}

std::vector<Offer> SoftmaxLibraryOffers(const SoftmaxConfig& config) {
  if (config.kind == SoftmaxKind::kHardmax || !HasNormalization(config.types)) return {};
  ImplementationWalk walk(
      [config](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], PlainDesc(config.input, config.types.input)});
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(config.input, config.types.output)});
        return call;
      });
  walk.Add("", [&]() -> dnnl::primitive_desc {
    const algorithm kind = config.kind == SoftmaxKind::kSoftmax ? algorithm::softmax_accurate : algorithm::softmax_log;
    return dnnl::softmax_forward::primitive_desc(
        CpuEngine(), prop_kind::forward_inference, kind, PlainDesc(config.input, config.types.input),
        PlainDesc(config.input, config.types.output), static_cast<int>(config.axis), DefaultAttributes(), true);
  });
  return walk.Take();
}

}  // namespace infimum::cpu
