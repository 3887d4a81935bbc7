// Convolutions and matrix products in cuDNN's graph, with their scales and biases.
#include <fmt/format.h>

#include "infimum/base/text.h"
#include "src/core/measurement/cudnn_shapes.h"
#include "src/emit/cudnn_graph_writer.h"
#include "src/emit/cudnn_words.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

// Dimensions of which some are channels that a form may fill up: {1, form.Filled(3), 224, 224}.
std::string FilledDims(const Shape& shape, const std::vector<std::size_t>& channels) {
  std::vector<std::string> texts;
  for (const std::int64_t extent : shape.dims) texts.push_back(std::to_string(extent));
  for (const std::size_t i : channels) texts[i] = fmt::format("form.Filled({})", texts[i]);
  return "{" + Join(texts, ", ") + "}";
}

// Both tensors combined, placed as the first lies; `dims` as C++ where a form changes them.
CudnnTensor Combined(const CudnnTensor& first, const CudnnTensor& second, std::string_view mode,
                     const std::string& dims, CudnnGraphWriter& writer) {
  CudnnTensor result = writer.Combined(first, second, mode);
  writer.Place(result, dims);
  return result;
}

// Sums of integers and of 8-bit floats come out through their scales.
CudnnTensor Scaled(const CudnnTensor& sums, const OperandTypes& types, const std::string& dims,
                   CudnnGraphWriter& writer) {
  if (IsInteger(types.input)) writer.Line(sums.name + "->set_data_type(fe::DataType_t::INT32);");
  if (types.output != DataType::kS8 && types.output != DataType::kF8E4M3 && types.output != DataType::kF8E5M2)
    return sums;
  return Combined(sums, writer.Scale(sums.shape.rank()), "MUL", dims, writer);
}

}  // namespace

Result<CudnnTensor> AddToGraph(const ConvolutionConfig& config, CudnnGraphWriter& writer) {
  if (config.kernel.rank() > 3) return Error{"cuDNN convolves in at most three dimensions"};
  const bool fills = writer.forms().channels_vary;
  const auto dims = [&](const Shape& shape, const std::vector<std::size_t>& channels) {
    return fills ? FilledDims(shape, channels) : "";
  };
  const Shape input = cuda::WithTwoSpatial(config.input), weights = cuda::WithTwoSpatial(WeightShape(config));
  const Shape output = cuda::WithTwoSpatial(OutputShape(config));
  const std::string layout = writer.FormLayout();
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor x, writer.Operand(0, input, layout, {}, dims(input, {1})));
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor w, writer.Operand(1, weights, layout, RangeOf(config.types.weights, true),
                                                               dims(weights, {0, 1})));
  // A transposed convolution is what a convolution's gradient is by its input.
  const std::string call = config.transposed ? "conv_dgrad" : "conv_fprop";
  const std::string name = writer.Call(
      call, {x.name, w.name},
      fmt::format("fe::graph::{}_attributes()", config.transposed ? "Conv_dgrad" : "Conv_fprop"),
      {Setter("pre_padding", cuda::PaddingBefore(config.padding)),
       Setter("post_padding", cuda::PaddingBehind(config.padding)), Setter("stride", cuda::SpatialSteps(config.stride)),
       Setter("dilation", cuda::SpatialSteps(config.dilation)),
       fmt::format(".set_compute_data_type({})", writer.Sums(config.types.input))});
  const CudnnTensor product{name, output, layout};
  writer.Place(product, dims(output, {1}));
  const CudnnTensor scaled = Scaled(product, config.types, dims(output, {1}), writer);
  if (!config.bias) return scaled;
  Shape bias = output;
  for (std::size_t i = 0; i < bias.rank(); ++i)
    if (i != 1) bias.dims[i] = 1;
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor b, writer.Operand(2, bias, layout, {}, dims(bias, {1})));
  return Combined(scaled, b, "ADD", dims(output, {1}), writer);
}

Result<CudnnTensor> AddToGraph(const MatMulConfig& config, CudnnGraphWriter& writer) {
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor a, writer.Operand(0, config.a, "RowMajor"));
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor b,
                           writer.Operand(1, config.b, writer.FormLayout(), RangeOf(config.types.weights, true)));
  const Shape output = OutputShape(config);
  const std::string name = writer.Call("matmul", {a.name, b.name}, "fe::graph::Matmul_attributes()",
                                       {fmt::format(".set_compute_data_type({})", writer.Sums(config.types.input))});
  const CudnnTensor product{name, output, "RowMajor"};
  writer.Place(product);
  const CudnnTensor scaled = Scaled(product, config.types, "", writer);
  if (config.bias == MatMulBias::kNone) return scaled;
  Shape bias = output;
  if (config.bias == MatMulBias::kColumn)
    for (std::size_t i = 0; i + 1 < bias.rank(); ++i) bias.dims[i] = 1;
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor c, writer.Operand(2, bias, "RowMajor"));
  return Combined(scaled, c, "ADD", "", writer);
}

}  // namespace infimum::emit
