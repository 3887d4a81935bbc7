// Layers that are no product, and attention, in cuDNN's graph.
#include <fmt/format.h>

#include <algorithm>

#include "infimum/layer/pointwise.h"
#include "src/core/measurement/cudnn_form.h"
#include "src/core/measurement/cudnn_shapes.h"
#include "src/emit/cudnn_graph_writer.h"
#include "src/emit/cudnn_words.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

// A number, which a kernel is given by value.
CudnnTensor Constant(std::string_view number) { return {fmt::format("graph.tensor({})", number), {}, ""}; }

// Which cuDNN's graph has none of: a line, cut at 0 and 1, of a swish times what went in.
std::string AddHardGate(bool is_swish, const CudnnTensor& x, CudnnGraphWriter& writer) {
  CudnnTensor line = writer.Combined(x, Constant(is_swish ? "1.0F / 6" : "0.2F"), "MUL");
  line = writer.Combined(line, Constant("0.5F"), "ADD");
  const std::string gate = writer.Call(
      "pointwise", {line.name}, "fe::graph::Pointwise_attributes()",
      {".set_mode(fe::PointwiseMode_t::RELU_FWD)", ".set_relu_lower_clip(0.0F)", ".set_relu_upper_clip(1.0F)"});
  return is_swish ? writer.Combined(x, {gate, {}, ""}, "MUL").name : gate;
}

// cuDNN's graph has no batch normalization at inference: (x - mean) / sqrt(variance + epsilon) * scale + bias.
Result<CudnnTensor> AddBatchNormalization(const NormalizationConfig& config, CudnnGraphWriter& writer) {
  if (config.axis != 1 || config.input.rank() < 3 || !config.scale || !config.bias)
    return Error{"a batch normalization without space, scale or bias"};
  const Shape whole = cuda::WithTwoSpatial(config.input);
  Shape channels{std::vector<std::int64_t>(whole.rank(), 1)};
  channels.dims[1] = config.input.dims[1];
  const std::string layout = writer.FormLayout();
  INFIMUM_ASSIGN_OR_RETURN(CudnnTensor value, writer.Operand(0, whole, layout));
  std::vector<CudnnTensor> parameters;  // scale, bias, mean, variance
  for (std::size_t k = 1; k <= 4; ++k) {
    // A variance is positive.
    const std::optional<Range> range = k == 4 ? std::optional<Range>({0.25, 4}) : std::nullopt;
    INFIMUM_ASSIGN_OR_RETURN(CudnnTensor parameter, writer.Operand(k, channels, layout, range));
    parameters.push_back(std::move(parameter));
  }
  writer.Line("// cuDNN's graph has no batch normalization at inference: a chain of element-wise operations.");
  const CudnnTensor shifted = writer.Combined(parameters[3], Constant("1e-5F"), "ADD");
  const CudnnTensor inverse{writer.Call("pointwise", {shifted.name}, "fe::graph::Pointwise_attributes()",
                                        {".set_mode(fe::PointwiseMode_t::RSQRT)"}),
                            channels, layout};
  value = writer.Combined(value, parameters[2], "SUB");
  value = writer.Combined(value, inverse, "MUL");
  value = writer.Combined(value, parameters[0], "MUL");
  value = writer.Combined(value, parameters[1], "ADD");
  writer.Place(value);
  return value;
}

}  // namespace

Result<CudnnTensor> AddToGraph(const PointwiseConfig& config, CudnnGraphWriter& writer) {
  const std::optional<std::string> mode = CudnnMode(config.kind);
  const bool is_gate = config.kind == PointwiseKind::kHardSigmoid || config.kind == PointwiseKind::kHardSwish;
  if ((!mode && !is_gate) || config.inputs.size() > 2) return Error{cuda::PointwiseRefusal(config.kind)};
  Shape merged = config.inputs[0];
  if (config.inputs.size() > 1) {
    INFIMUM_ASSIGN_OR_RETURN(merged, Broadcast(config.inputs[0], config.inputs[1]));
  }
  // The tensor whose dimensions the others are spread over: one that is made here and has all elements.
  const CudnnTensor* whole = nullptr;
  for (std::size_t k = 0; k < config.inputs.size(); ++k) {
    const CudnnTensor* const made = writer.MadeOperand(k);
    if (made != nullptr && ElementCount(made->shape) == ElementCount(merged)) whole = made;
  }
  // What follows a product or channels has their dimensions; element-wise chains see rotated ones of the same bytes.
  const bool follows = whole != nullptr && (writer.has_rows() || writer.has_channels());
  const Shape full = follows ? whole->shape : writer.SeenAs(merged);
  const Shape output = follows ? full : cuda::WithLastAsChannels(full);
  std::string layout = "ChannelsLast";
  if (whole != nullptr && writer.has_rows()) layout = "RowMajor";
  if (whole != nullptr && writer.has_channels()) layout = writer.FormLayout();
  std::vector<std::string> operands;
  for (std::size_t k = 0; k < config.inputs.size(); ++k) {
    std::optional<Shape> shape = Unmerged(config.inputs[k], merged, full);
    if (!shape) return Error{"an operand of the element-wise layer ends within a dimension of the result"};
    if (!follows) shape = cuda::WithLastAsChannels(*shape);
    const DataType type = k == 1 && config.types.weights != DataType::kNone ? config.types.weights : config.types.input;
    INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor operand,
                             writer.Operand(k, *shape, layout, RangeOf(config.kind, k, type)));
    operands.push_back(operand.name);
  }
  if (is_gate) {
    const CudnnTensor x{operands[0], output, layout};
    const CudnnTensor result{AddHardGate(config.kind == PointwiseKind::kHardSwish, x, writer), output, layout};
    writer.Place(result);
    return result;
  }
  std::vector<std::string> links{fmt::format(".set_mode({})", *mode)};
  // Their values, which do not change what it costs, are the ones that models have most.
  if (config.kind == PointwiseKind::kLeakyRelu) links.emplace_back(".set_relu_lower_clip_slope(0.01F)");
  if (config.kind == PointwiseKind::kClip) {
    links.emplace_back(".set_relu_lower_clip(0.0F)");
    links.emplace_back(".set_relu_upper_clip(6.0F)");
  }
  const CudnnTensor result{writer.Call("pointwise", operands, "fe::graph::Pointwise_attributes()", links), output,
                           layout};
  writer.Place(result);
  return result;
}

Result<CudnnTensor> AddToGraph(const ReductionConfig& config, CudnnGraphWriter& writer) {
  const std::optional<std::string> mode = CudnnMode(config.kind);
  if (!mode) return Error{"cuDNN's graph has no such reduction"};
  Shape kept = config.input;
  for (const std::int64_t axis : config.axes) kept.dims[static_cast<std::size_t>(axis)] = 1;
  const Shape& full = writer.SeenAs(config.input);
  const std::optional<Shape> spread = Unmerged(kept, config.input, full);
  if (!spread) return Error{"what the reduction keeps ends within a dimension of what it reads"};
  const Shape input = cuda::WithLastAsChannels(full), output = cuda::WithLastAsChannels(*spread);
  INFIMUM_ASSIGN_OR_RETURN(CudnnTensor x, writer.Operand(0, input, "ChannelsLast"));
  if (config.kind == ReductionKind::kMean) {
    const std::int64_t count = ElementCount(input) / std::max<std::int64_t>(ElementCount(output), 1);
    writer.Line("// cuDNN's graph has no mean at inference: a sum of what was scaled before it.");
    x = writer.Combined(x, Constant(fmt::format("1.0F / {}", count)), "MUL");
  }
  const CudnnTensor result{
      writer.Call("reduction", {x.name}, "fe::graph::Reduction_attributes()", {fmt::format(".set_mode({})", *mode)}),
      output, "ChannelsLast"};
  writer.Place(result);
  return result;
}

Result<CudnnTensor> AddToGraph(const PoolingConfig& config, CudnnGraphWriter& writer) {
  const std::optional<std::string> mode = CudnnMode(config.kind);
  if (!mode) return Error{"cuDNN's graph pools maxima and averages only"};
  for (const std::int64_t extent : config.dilation.dims)
    if (extent != 1) return Error{"cuDNN's graph has no dilated pooling"};
  const std::string layout = writer.FormLayout();
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor x, writer.Operand(0, cuda::WithTwoSpatial(config.input), layout));
  const std::string name = writer.Call(
      "resample", {x.name}, "fe::graph::Resample_attributes()",
      {fmt::format(".set_resampling_mode({})", *mode),
       fmt::format(".set_padding_mode(fe::PaddingMode_t::{})",
                   config.kind == PoolingKind::kMax ? "NEG_INF_PAD" : "ZERO_PAD"),
       Setter("window", cuda::SpatialSteps(config.kernel)), Setter("stride", cuda::SpatialSteps(config.stride)),
       Setter("pre_padding", cuda::PaddingBefore(config.padding)),
       Setter("post_padding", cuda::PaddingBehind(config.padding)), ".set_generate_index(false)"},
      "[0]");
  const CudnnTensor result{name, cuda::WithTwoSpatial(config.output), layout};
  writer.Place(result);
  return result;
}

Result<CudnnTensor> AddToGraph(const NormalizationConfig& config, CudnnGraphWriter& writer) {
  if (config.kind == NormalizationKind::kBatch) return AddBatchNormalization(config, writer);
  const bool is_rms = config.kind == NormalizationKind::kRms;
  if (config.kind != NormalizationKind::kLayer && !is_rms)
    return Error{"cuDNN's graph normalizes batches, layers and root mean squares only at inference"};
  if (!config.scale) return Error{"cuDNN's normalizations have a scale"};
  if (!is_rms && !config.bias) return Error{"cuDNN's layer normalization has a bias"};
  // Rows and columns, split where what they are added up from or go into is.
  const Shape own = writer.SeenAs({});
  if (own.rank() == 0) return Error{"a normalization behind a product"};
  const std::optional<Shape> columns = cuda::ParametersOf(config, own);
  if (!columns) return Error{"the rows of the normalization end within a dimension of what it reads"};
  const Shape rows = cuda::WithLastAsChannels(own), parameters = cuda::WithLastAsChannels(*columns);
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor x, writer.Operand(0, rows, "ChannelsLast"));
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor scale, writer.Operand(1, parameters, "ChannelsLast"));
  writer.Line("TensorPointer epsilon = graph.tensor(1e-5F);");
  std::vector<std::string> arguments{x.name, scale.name};
  std::vector<std::string> links{".set_forward_phase(fe::NormFwdPhase_t::INFERENCE)", ".set_epsilon(epsilon)"};
  if (config.bias) {
    INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor bias, writer.Operand(2, parameters, "ChannelsLast"));
    if (is_rms) {
      // Its setter takes what it could change.
      writer.Line(fmt::format("TensorPointer bias = {};", bias.name));
      links.emplace_back(".set_bias(bias)");
    } else {
      arguments.push_back(bias.name);
    }
  }
  const std::string name =
      writer.Call(is_rms ? "rmsnorm" : "layernorm", arguments,
                  is_rms ? "fe::graph::Rmsnorm_attributes()" : "fe::graph::Layernorm_attributes()", links, "[0]");
  const CudnnTensor result{name, rows, "ChannelsLast"};
  writer.Place(result);
  return result;
}

Result<CudnnTensor> AddToGraph(const AttentionConfig& config, CudnnGraphWriter& writer) {
  const std::int64_t value_head = config.value_head > 0 ? config.value_head : config.head;
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor query,
                           writer.Operand(0, {{config.batch, config.heads, config.q, config.head}}, "RowMajor"));
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor key,
                           writer.Operand(1, {{config.batch, config.kv_heads, config.kv, config.head}}, "RowMajor"));
  INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor value,
                           writer.Operand(2, {{config.batch, config.kv_heads, config.kv, value_head}}, "RowMajor"));
  std::vector<std::string> links{
      ".set_name(\"attention\")", ".set_generate_stats(false)",
      fmt::format(".set_attn_scale(1.0F / std::sqrt({}))", FloatLiteral(static_cast<double>(config.head)))};
  if (config.mask == AttentionMask::kCausal) links.emplace_back(".set_causal_mask_bottom_right(true)");
  if (config.mask == AttentionMask::kFull) {
    INFIMUM_ASSIGN_OR_RETURN(const CudnnTensor mask, writer.Operand(3, {{1, 1, config.q, config.kv}}, "RowMajor"));
    links.push_back(fmt::format(".set_bias({})", mask.name));
  }
  const std::string name =
      writer.Call("sdpa", {query.name, key.name, value.name}, "fe::graph::SDPA_attributes()", links, "[0]");
  const CudnnTensor result{name, {{config.batch, config.heads, config.q, value_head}}, "RowMajor"};
  writer.Place(result);
  return result;
}

}  // namespace infimum::emit
