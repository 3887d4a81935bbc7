#include "microbench/libraries/onednn/pooling_candidates.h"

#include "microbench/libraries/onednn/program/implementations.h"

namespace infimum::cpu {

using dnnl::algorithm;
using dnnl::memory;

std::vector<Offer> PoolingOffers(const PoolingConfig& config) {
  algorithm kind;
  switch (config.kind) {
    case PoolingKind::kMax:
      kind = algorithm::pooling_max;
      break;
    case PoolingKind::kAverageWithPad:
      kind = algorithm::pooling_avg_include_padding;
      break;
    case PoolingKind::kAverageWithoutPad:
      kind = algorithm::pooling_avg_exclude_padding;
      break;
    default:
      return {};  // indices are flat in ONNX and within the window in oneDNN; no Lp
  }
  if (LibraryType(config.types.input) == memory::data_type::undef ||
      LibraryType(config.types.output) == memory::data_type::undef) {
    return {};
  }
  ImplementationWalk walk(
      [config](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], PlainDesc(config.input, config.types.input)});
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(config.output, config.types.output)});
        return call;
      });
  memory::dims dilation, before, after;
  for (std::size_t i = 0; i < config.kernel.rank(); ++i) {
    dilation.push_back(config.dilation.dims[i] - 1);
    before.push_back(config.padding[i]);
    // The end that makes the formula give the output that is asked for: ceil_mode reaches beyond the padding.
    after.push_back((config.output.dims[2 + i] - 1) * config.stride.dims[i] +
                    config.dilation.dims[i] * (config.kernel.dims[i] - 1) + 1 - config.input.dims[2 + i] - before[i]);
    // With the padding in the divisor, what lies beyond it must not count.
    if (config.kind == PoolingKind::kAverageWithPad && after[i] > config.padding[config.kernel.rank() + i]) return {};
  }
  struct Policy {
    const char* name;
    memory::desc (*desc)(const Shape&, DataType);
  };
  // The input's layout is never undecided here: oneDNN pools in the layout that it is given.
  const auto blocked = [](std::int64_t block) {
    return [block](const Shape& shape, DataType type) {
      using tag = memory::format_tag;
      const tag tags[3][2] = {{tag::nCw8c, tag::nCw16c}, {tag::nChw8c, tag::nChw16c}, {tag::nCdhw8c, tag::nCdhw16c}};
      return memory::desc(shape.dims, LibraryType(type), tags[shape.rank() - 3][block == 16 ? 1 : 0]);
    };
  };
  const auto add = [&](const std::string& policy, const auto& input_desc, const auto& output_desc) {
    walk.Add(policy, [&]() -> dnnl::primitive_desc {
      return dnnl::pooling_forward::primitive_desc(
          CpuEngine(), dnnl::prop_kind::forward_inference, kind, input_desc(config.input, config.types.input),
          output_desc(config.output, config.types.output), config.stride.dims, config.kernel.dims, dilation, before,
          after, DefaultAttributes(), true);
    });
  };
  if (config.input.rank() < 3 || config.input.rank() > 5) return {};
  add("", blocked(8), AnyDesc);
  add("nChw16c", blocked(16), AnyDesc);
  add("nhwc", ChannelsLastDesc, ChannelsLastDesc);
  add("nchw", PlainDesc, PlainDesc);
  return walk.Take();
}

}  // namespace infimum::cpu
