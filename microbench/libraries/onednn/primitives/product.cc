#include "product.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pointwise.h"

namespace onednn {
namespace {

bool ProcessorHasVnni() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni")) return true;
#if defined(__clang__) || __GNUC__ >= 11
  return __builtin_cpu_supports("avxvnni") != 0;
#endif
#endif
  return false;
}

}  // namespace

Step Eltwise(std::string_view kind) { return FindEltwise(kind).value(); }

Step Binary(std::string_view kind, memory::dims dims, memory::data_type type, bool constant) {
  return {FindBinary(kind).value(), 0, 0, std::move(dims), type, constant};
}

memory::data_type BiasType(const Types& types, const Scaling& scaling) {
  if (!IsInteger(types.output)) return types.output;
  return scaling.scaled ? memory::data_type::f32 : memory::data_type::s32;
}

bool LacksVnni(std::string_view algorithm) {
  const std::size_t colon = algorithm.find(':');
  const std::string_view set = colon == std::string_view::npos
                                   ? std::string_view()
                                   : algorithm.substr(colon + 1, algorithm.find('/', colon) - colon - 1);
  constexpr std::string_view kOlder[] = {"sse41", "avx", "avx2", "avx512_core"};
  if (std::find(std::begin(kOlder), std::end(kOlder), set) != std::end(kOlder)) return true;
  return !ProcessorHasVnni();
}

dnnl::primitive_attr Attributes(const Scaling& scaling, int channel_mask, const std::vector<Step>& steps) {
  dnnl::primitive_attr attributes = PlainAttributes();
  if (scaling.input_zero != 0) attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (scaling.scaled) {
    attributes.set_scales_mask(DNNL_ARG_SRC, 0);
    attributes.set_scales_mask(DNNL_ARG_WEIGHTS, channel_mask);
    if (scaling.output_scale != 1) attributes.set_scales_mask(DNNL_ARG_DST, 0);
    if (scaling.output_zero != 0) attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
  }
  if (steps.empty()) return attributes;
  dnnl::post_ops post_operations;
  for (const Step& step : steps) {
    if (step.binary()) {
      post_operations.append_binary(step.algorithm, Any(step.dims, step.type));
    } else {
      post_operations.append_eltwise(step.algorithm, step.alpha, step.beta);
    }
  }
  attributes.set_post_ops(post_operations);
  return attributes;
}

void AddAttributeArguments(const Scaling& scaling, const std::vector<Step>& steps, memory::dim channels,
                           std::size_t operands, std::vector<Argument>& arguments) {
  const auto scales = [&](int of, std::vector<float> numbers) {
    arguments.push_back(Numbers(DNNL_ARG_ATTR_SCALES | of, std::move(numbers)));
  };
  const auto zero = [&](int of, int number) {
    if (number != 0) arguments.push_back(Numbers(DNNL_ARG_ATTR_ZERO_POINTS | of, {static_cast<float>(number)}));
  };
  zero(DNNL_ARG_SRC, scaling.input_zero);
  if (scaling.scaled) {
    scales(DNNL_ARG_SRC, {scaling.input_scale});
    std::vector<float> weights = scaling.weight_scales;
    if (weights.empty()) weights = {1};
    const std::size_t given = weights.size();
    weights.resize(static_cast<std::size_t>(channels));
    for (std::size_t i = given; i < weights.size(); ++i) weights[i] = weights[i % given];
    scales(DNNL_ARG_WEIGHTS, std::move(weights));
    if (scaling.output_scale != 1) scales(DNNL_ARG_DST, {scaling.output_scale});
    zero(DNNL_ARG_DST, scaling.output_zero);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].binary()) continue;
    const int id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
    arguments.push_back({steps[i].constant ? Argument::Kind::kConstant : Argument::Kind::kInput, id, operands++,
                         Plain(steps[i].dims, steps[i].type), true});
  }
}

}  // namespace onednn
