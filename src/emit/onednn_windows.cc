// Pooling and resampling: what slides over, or stretches, an image.
#include <fmt/format.h>

#include "src/emit/onednn_attributes.h"
#include "src/emit/onednn_source.h"
#include "src/emit/onednn_types.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

std::string DescribeFunction(const std::string& primitive, const std::vector<std::string>& arguments) {
  return fmt::format("{0}::primitive_desc Describe(Layout input, Layout output) {{\n  return {1};\n}}\n", primitive,
                     BrokenCall(primitive + "::primitive_desc", arguments, 2, 8));
}

void AddWindowOperands(const OperandTypes& types, OneDnnSource& source) {
  source.arguments = {InputText("DNNL_ARG_SRC", RangeOf(types.input)), OutputText("DNNL_ARG_DST")};
}

}  // namespace

Result<OneDnnSource> DescribePooling(const PoolingConfig& config) {
  std::string algorithm;
  switch (config.kind) {
    case PoolingKind::kMax:
      algorithm = "algorithm::pooling_max";
      break;
    case PoolingKind::kAverageWithPad:
      algorithm = "algorithm::pooling_avg_include_padding";
      break;
    case PoolingKind::kAverageWithoutPad:
      algorithm = "algorithm::pooling_avg_exclude_padding";
      break;
    case PoolingKind::kMaxWithIndices:
      return Error{
          "oneDNN counts indices within a window, ONNX within the tensor; infimum measures a kernel of its own"};
    case PoolingKind::kLp:
      return Error{"oneDNN has no Lp pooling; infimum measures a kernel of its own"};
  }
  INFIMUM_RETURN_IF_ERROR(CheckTypes({config.types.input, config.types.output}));
  const std::size_t rank = config.kernel.rank();
  if (config.input.rank() < 3 || config.input.rank() > 5) return Error{"oneDNN pools in one to three dimensions"};
  Shape dilation, begin, end;
  for (std::size_t i = 0; i < rank; ++i) {
    dilation.dims.push_back(config.dilation.dims[i] - 1);
    begin.dims.push_back(config.padding[i]);
    // What the output asks for: ceil_mode reaches beyond the padding.
    end.dims.push_back((config.output.dims[2 + i] - 1) * config.stride.dims[i] +
                       config.dilation.dims[i] * (config.kernel.dims[i] - 1) + 1 - config.input.dims[2 + i] -
                       config.padding[i]);
    if (config.kind == PoolingKind::kAverageWithPad && end.dims[i] > config.padding[rank + i])
      return Error{
          "its last windows reach beyond the padding, which oneDNN would count; infimum measures its own kernel"};
  }
  OneDnnSource source;
  source.Dims("kInput", config.input, "batch, channels, image");
  source.Dims("kOutput", config.output);
  source.Dims("kKernel", config.kernel);
  source.Dims("kStride", config.stride);
  source.Dims("kDilation", dilation, "gaps between taps: 0 is dense");
  source.Dims("kPadBegin", begin);
  source.Dims("kPadEnd", end);
  AddPlainAttributes(source);
  source.functions.push_back(
      DescribeFunction("pooling_forward",
                       {"Cpu()", "prop_kind::forward_inference", algorithm, Desc("input", "kInput", config.types.input),
                        Desc("output", "kOutput", config.types.output), "kStride", "kKernel", "kDilation", "kPadBegin",
                        "kPadEnd", "Attributes()", "/*allow_empty=*/true"}));
  // The input's layout is never left to the library, which pools in the layout that it is given.
  source.forms = {{"*", "Describe(Blocked<8>, Any)"},
                  {"*/nChw16c", "Describe(Blocked<16>, Any)"},
                  {"*/nhwc", "Describe(ChannelsLast, ChannelsLast)"},
                  {"*/nchw", "Describe(Plain, Plain)"}};
  AddWindowOperands(config.types, source);
  return source;
}

Result<OneDnnSource> DescribeResample(const ResampleConfig& config) {
  if (config.kind != ResampleKind::kNearest && config.kind != ResampleKind::kLinear)
    return Error{"oneDNN resamples to the nearest element or linearly; infimum measures or estimates the rest"};
  const std::size_t rank = config.input.rank();
  if (rank < 3 || rank > 5 || config.output.rank() != rank || config.input.dims[0] != config.output.dims[0] ||
      config.input.dims[1] != config.output.dims[1])
    return Error{"oneDNN resamples one to three dimensions behind batch and channels"};
  INFIMUM_RETURN_IF_ERROR(CheckTypes({config.types.input, config.types.output}));
  OneDnnSource source;
  source.Dims("kInput", config.input, "batch, channels, image");
  source.Dims("kOutput", config.output);
  AddPlainAttributes(source);
  const std::string algorithm =
      config.kind == ResampleKind::kNearest ? "algorithm::resampling_nearest" : "algorithm::resampling_linear";
  source.functions.push_back(
      DescribeFunction("resampling_forward",
                       {"Cpu()", "prop_kind::forward_inference", algorithm, Desc("input", "kInput", config.types.input),
                        Desc("output", "kOutput", config.types.output), "Attributes()", "/*allow_empty=*/true"}));
  if (rank == 4) source.forms.push_back({"*", "Describe(Blocked<8>, Any)"});
  source.forms.push_back({"*/nhwc", "Describe(ChannelsLast, ChannelsLast)"});
  source.forms.push_back({"*/nchw", "Describe(Plain, Plain)"});
  AddWindowOperands(config.types, source);
  return source;
}

}  // namespace infimum::emit
