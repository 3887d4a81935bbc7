#include "microbench/libraries/onednn/program/product_attributes.h"

namespace infimum::cpu {

void SetProductAttributes(const ProductValues& values, int channel_mask, dnnl::primitive_attr& attributes) {
  if (values.input_zero != 0) attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (!values.scaled) return;
  attributes.set_scales_mask(DNNL_ARG_SRC, 0);
  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, channel_mask);
  if (values.output_scale != 1) attributes.set_scales_mask(DNNL_ARG_DST, 0);
  if (values.output_zero != 0) attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
}

void BindProductVectors(const ProductValues& values, std::int64_t channels, PrimitiveCall& call) {
  const auto zero = [&](int argument, std::int64_t value) {
    call.vectors.push_back({DNNL_ARG_ATTR_ZERO_POINTS | argument, {}, {static_cast<std::int32_t>(value)}});
  };
  const auto scale = [&](int argument, std::vector<float> factors) {
    call.vectors.push_back({DNNL_ARG_ATTR_SCALES | argument, std::move(factors), {}});
  };
  if (values.input_zero != 0) zero(DNNL_ARG_SRC, values.input_zero);
  if (!values.scaled) return;
  scale(DNNL_ARG_SRC, {static_cast<float>(values.input_scale)});
  std::vector<float> weights;
  for (std::int64_t c = 0; c < channels; ++c) weights.push_back(static_cast<float>(values.WeightScale(c)));
  scale(DNNL_ARG_WEIGHTS, std::move(weights));
  if (values.output_scale != 1) scale(DNNL_ARG_DST, {static_cast<float>(values.output_scale)});
  if (values.output_zero != 0) zero(DNNL_ARG_DST, values.output_zero);
}

DataType LibraryBiasType(const ProductValues& values, DataType bias) {
  return values.scaled && IsInteger(bias) ? DataType::kF32 : bias;
}

void BindBias(const ProductValues& values, const HostTensor& bias, const Shape& shape, bool constant,
              PrimitiveCall& call) {
  if (LibraryBiasType(values, bias.type()) == bias.type()) {
    // In the type that the primitive was made for, which may be wider than the tensor's.
    const auto type = call.implementation.query_md(dnnl::query::exec_arg_md, DNNL_ARG_BIAS).get_data_type();
    const DataType described = type == LibraryType(bias.type()) ? bias.type() : DataType::kF32;
    call.inputs.push_back({DNNL_ARG_BIAS, &bias, PlainDesc(shape, described), constant});
    return;
  }
  std::vector<float> scaled;
  for (std::int64_t c = 0; c < bias.count(); ++c) {
    scaled.push_back(static_cast<float>(bias.Get(c) * values.input_scale * values.WeightScale(c)));
  }
  call.vectors.push_back({DNNL_ARG_BIAS, std::move(scaled), {}, shape});
}

}  // namespace infimum::cpu
