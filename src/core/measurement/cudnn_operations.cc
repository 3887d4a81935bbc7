#include "src/core/measurement/cudnn_operations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "src/core/layer/pooling.h"
#include "src/core/layer/reduction.h"
#include "src/core/layer/small_float.h"
#include "src/core/measurement/cudnn_form.h"
#include "src/core/measurement/cudnn_shapes.h"

namespace infimum::cuda {
namespace {

using cudnn::Dims;
using cudnn::Layout;
using cudnn::Operation;

Error NotInGraph(const std::string& what) { return Error{"unsupported: " + what}; }

constexpr std::string_view kNoMode = "NOT_SET";

// cuDNN's mode for an element-wise kind, a reduction or a pooling; kNoMode where it has none.
std::string_view ModeOf(PointwiseKind kind) {
  static constexpr std::string_view kModes[] = {
#define INFIMUM_POINTWISE(kind, name, least, most, flops, rounding, onnx, cudnn) #cudnn,
#include "src/core/layer/pointwise_kinds.def"
  };
  return kModes[static_cast<std::size_t>(kind)];
}

std::string_view ModeOf(ReductionKind kind) {
  static constexpr std::string_view kModes[] = {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) #cudnn,
#define INFIMUM_ARGUMENT(kind, name, fold) kNoMode,
#include "src/core/layer/reduction_kinds.def"
  };
  return kModes[static_cast<std::size_t>(kind)];
}

std::string_view ModeOf(PoolingKind kind) {
  static constexpr std::string_view kModes[] = {
#define INFIMUM_POOLING(kind, name, reduction, counts_padding, cudnn) #cudnn,
#include "src/core/layer/reduction_kinds.def"
  };
  return kModes[static_cast<std::size_t>(kind)];
}

bool HasTensorsOf(DataType type) {
  constexpr DataType kTypes[] = {DataType::kF64,    DataType::kF32,    DataType::kF16,    DataType::kBF16,
                                 DataType::kF8E4M3, DataType::kF8E5M2, DataType::kF8E8M0, DataType::kF4E2M1,
                                 DataType::kS8,     DataType::kS32,    DataType::kS64,    DataType::kBool};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

Status CheckType(DataType type) {
  if (HasTensorsOf(type)) return {};
  return NotInGraph("cuDNN's graph has no tensors of " + std::string(Name(type)));
}

std::string SumsIn(DataType input) {
  if (IsInteger(input)) return "s32";
  return input == DataType::kF64 ? "f64" : "f32";
}

// A tensor of the graph.
struct Value {
  std::string name;
  Shape shape;  // as cuDNN has it
  Layout layout = Layout::kRowMajor;
  Shape own;  // of the same elements in the region's order: element-wise layers have their last dimension as channels
};

Value RowMajorValue(const Shape& shape) { return {"", shape, Layout::kRowMajor, shape}; }
Value ChannelsValue(const Shape& shape) { return {"", shape, Layout::kChannels, shape}; }
// Laid out as in the region, whatever dimensions cuDNN sees in it.
Value ChannelsLastValue(const Shape& own) { return {"", WithLastAsChannels(own), Layout::kChannelsLast, own}; }

class Builder {
 public:
  explicit Builder(const std::vector<CudnnValues>& values) : all_values_(values) {}

  Result<CudnnOperations> Add(const Region& region) {
    const LayerConfig& lead = region.members.front().config;
    // The first member decides the layout of the tensors within the region.
    has_channels_ = LeadsWithChannels(lead);
    has_rows_ = std::holds_alternative<MatMulConfig>(lead) || std::holds_alternative<AttentionConfig>(lead);
    shapes_ = MemberShapes(region);
    for (const RegionMember& member : region.members) {
      operands_ = OperandsOf(member.config);
      sources_ = member.operands;
      values_ = made_.size() < all_values_.size() ? all_values_[made_.size()] : CudnnValues();
      results_ = 0;
      INFIMUM_ASSIGN_OR_RETURN(Value value,
                               std::visit([&](const auto& config) { return AddLayer(config); }, member.config));
      made_.push_back(std::move(value));
    }
    for (const std::int64_t output : region.outputs) {
      const auto number = static_cast<std::size_t>(output);
      const DataType type = OutputsOf(region.members[number].config)[0].type;
      INFIMUM_RETURN_IF_ERROR(CheckType(type));
      made_all_.graph.outputs.push_back({made_[number].name, std::string(Name(type))});
      made_all_.outputs.push_back({{RegionOperand::Source::kMember, output}, type, made_[number].own, {}});
    }
    return std::move(made_all_);
  }

 private:
  // The member's operand `k`; where it comes from outside it is seen as `wanted`.
  Result<Value> Operand(std::size_t k, Value wanted) {
    const RegionOperand& source = sources_[k];
    if (source.source == RegionOperand::Source::kMember) return made_[static_cast<std::size_t>(source.index)];
    const auto known = outside_.find(source);
    if (known != outside_.end()) {
      if (known->second.shape == wanted.shape) return known->second;
      return NotInGraph("an operand of the region is read in two shapes");
    }
    INFIMUM_RETURN_IF_ERROR(CheckType(operands_[k].type));
    if (ElementCount(wanted.shape) != ElementCount(operands_[k].shape))
      return NotInGraph("an operand that is spread over the result");
    wanted.name = (source.source == RegionOperand::Source::kInput ? "in" : "w") + std::to_string(source.index);
    // Where the bytes are those of the region's tensor, its own dimensions say where they lie.
    const bool is_as_in_region = wanted.layout == Layout::kChannelsLast;
    AddTensor(wanted, {source, operands_[k].type, is_as_in_region ? operands_[k].shape : wanted.own, {}});
    return outside_.emplace(source, std::move(wanted)).first->second;
  }

  void AddTensor(const Value& value, CudnnOperand tensor) {
    cudnn::Tensor added;
    added.name = value.name;
    added.type = Name(tensor.type);
    added.dims = value.shape.dims;
    added.layout = value.layout;
    made_all_.graph.tensors.push_back(std::move(added));
    made_all_.tensors.push_back(std::move(tensor));
  }

  // The operation's result, which is seen as `result` says: y0, then y0_1 ...
  Value Call(Operation operation, const std::vector<Value>& operands, Value result) {
    result.name = "y" + std::to_string(made_.size());
    if (results_ > 0) result.name += "_" + std::to_string(results_);
    ++results_;
    operation.result = result.name;
    for (const Value& operand : operands) operation.operands.push_back(operand.name);
    operation.dims = result.shape.dims;
    operation.layout = result.layout;
    made_all_.graph.operations.push_back(std::move(operation));
    return result;
  }

  static Operation Pointwise(std::string_view mode) {
    Operation operation;
    operation.call = "pointwise";
    operation.mode = mode;
    return operation;
  }
  // Both combined, seen as the first.
  Value Combined(const Value& a, const Value& b, std::string_view mode) { return Call(Pointwise(mode), {a, b}, a); }
  Value Combined(const Value& a, double number, std::string_view mode) {
    Operation operation = Pointwise(mode);
    operation.number = static_cast<float>(number);
    return Call(std::move(operation), {a}, a);
  }

  // Sums of integers and of 8-bit floats come out through one scale, or one for each channel, as a bias lies.
  Value Scaled(const Value& sums, const OperandTypes& types) {
    const bool is_small_float = types.output == DataType::kF8E4M3 || types.output == DataType::kF8E5M2;
    const bool is_scaled = IsInteger(types.input) && types.output != DataType::kS32;
    if (!is_small_float && !is_scaled) return sums;
    const std::size_t member = made_.size();
    Shape shape{std::vector<std::int64_t>(sums.shape.rank(), 1)};
    shape.dims[has_channels_ ? 1 : shape.rank() - 1] = values_.scales;
    const bool are_channels = has_channels_ && values_.scales > 1;
    Value scale = are_channels ? ChannelsValue(shape) : RowMajorValue(shape);
    scale.name = "scale" + std::to_string(member);
    AddTensor(scale, {{}, DataType::kF32, are_channels ? shape : Shape{{values_.scales}}, member});
    return Combined(sums, scale, "MUL");
  }

  // A convolution's or GEMM's scale and bias: one of integers is in the scale of the sums, one of floats in that of the
  // results.
  Result<Value> FinishProduct(Value sums, const OperandTypes& types, const std::optional<Value>& bias) {
    const bool is_in_sums = IsInteger(types.input) && IsInteger(types.output);
    if (!is_in_sums) sums = Scaled(sums, types);
    if (bias) {
      INFIMUM_ASSIGN_OR_RETURN(const Value b, Operand(2, *bias));
      sums = Combined(sums, b, "ADD");
    }
    return is_in_sums ? Scaled(sums, types) : sums;
  }

  Result<Value> AddLayer(const ConvolutionConfig& config) {
    if (config.kernel.rank() > 3) return NotInGraph("cuDNN convolves in at most three dimensions");
    Value weights = ChannelsValue(WithTwoSpatial(WeightShape(config)));
    weights.layout = Layout::kFilter;
    INFIMUM_ASSIGN_OR_RETURN(const Value x, Operand(0, ChannelsValue(WithTwoSpatial(config.input))));
    INFIMUM_ASSIGN_OR_RETURN(const Value w, Operand(1, weights));
    Operation operation;
    // A transposed convolution is what a convolution's gradient is by its input.
    operation.call = config.transposed ? "conv_dgrad" : "conv_fprop";
    operation.pre_padding = PaddingBefore(config.padding);
    operation.post_padding = PaddingBehind(config.padding);
    operation.stride = SpatialSteps(config.stride);
    operation.dilation = SpatialSteps(config.dilation);
    operation.sums = SumsIn(config.types.input);
    if (IsInteger(config.types.input)) operation.result_type = "s32";
    const Value output = ChannelsValue(WithTwoSpatial(OutputShape(config)));
    std::optional<Value> bias;
    if (config.bias) {
      // One for each channel, dense in every layout.
      Shape channels{std::vector<std::int64_t>(output.shape.rank(), 1)};
      channels.dims[1] = config.output_channels;
      bias = ChannelsValue(channels);
    }
    return FinishProduct(Call(std::move(operation), {x, w}, output), config.types, bias);
  }

  // A matrix whose blocks share scales: operand `k`.
  Result<Value> InBlocks(const Value& matrix, std::size_t k, const BlockScales& scales, Layout layout) {
    const bool is_narrow = scales.type == DataType::kF8E4M3 || scales.type == DataType::kF8E8M0;
    if (!is_narrow || scales.zero_points != DataType::kNone)
      return NotInGraph("scales of blocks other than f8e4m3 and f8e8m0");
    INFIMUM_ASSIGN_OR_RETURN(const Value scale, Operand(k, {"", operands_[k].shape, layout, operands_[k].shape}));
    Operation operation;
    operation.call = "block_scale_dequantize";
    operation.window = {scales.rows, scales.columns};
    return Call(std::move(operation), {matrix, scale}, matrix);
  }

  Result<Value> AddLayer(const MatMulConfig& config) {
    if (config.scales.any() && !config.a_scales.any()) return NotInGraph("weights with a scale for each block");
    INFIMUM_ASSIGN_OR_RETURN(Value a, Operand(0, RowMajorValue(config.a)));
    INFIMUM_ASSIGN_OR_RETURN(Value b, Operand(1, {"", config.b, Layout::kSecondMatrix, config.b}));
    if (config.scales.any()) {
      INFIMUM_ASSIGN_OR_RETURN(a, InBlocks(a, operands_.size() - 1, config.a_scales, Layout::kScales));
      INFIMUM_ASSIGN_OR_RETURN(b, InBlocks(b, operands_.size() - 2, config.scales, Layout::kSecondScales));
    }
    Operation operation;
    operation.call = "matmul";
    operation.sums = SumsIn(config.types.input);
    if (IsInteger(config.types.input)) operation.result_type = "s32";
    const Shape output = OutputShape(config);
    std::optional<Value> bias;
    if (config.bias != MatMulBias::kNone) {
      Shape shape = output;
      if (config.bias == MatMulBias::kColumn)
        for (std::size_t i = 0; i + 1 < shape.rank(); ++i) shape.dims[i] = 1;
      bias = RowMajorValue(shape);
    }
    return FinishProduct(Call(std::move(operation), {a, b}, RowMajorValue(output)), config.types, bias);
  }

  Result<Value> AddLayer(const PointwiseConfig& config) {
    if (config.inputs.size() > 2) return NotInGraph(PointwiseRefusal(config.kind));
    Shape merged = config.inputs[0];
    if (config.inputs.size() > 1) {
      INFIMUM_ASSIGN_OR_RETURN(merged, Broadcast(config.inputs[0], config.inputs[1]));
    }
    // The tensor whose dimensions the others are spread over: one that is made here and has all elements.
    const Value* whole = nullptr;
    for (std::size_t k = 0; k < config.inputs.size(); ++k) {
      if (sources_[k].source != RegionOperand::Source::kMember) continue;
      const Value& made = made_[static_cast<std::size_t>(sources_[k].index)];
      if (ElementCount(made.own) == ElementCount(merged)) whole = &made;
    }
    // What follows rows or channels has their layout; element-wise chains see rotated dimensions of the same bytes.
    const bool follows = whole != nullptr && (has_channels_ || has_rows_);
    const Shape& seen = shapes_[made_.size()];
    const Shape full = whole != nullptr ? whole->own : seen.rank() > 0 ? seen : merged;
    std::vector<Value> values;
    for (std::size_t k = 0; k < config.inputs.size(); ++k) {
      const std::optional<Shape> spread = Unmerged(config.inputs[k], merged, full);
      if (!spread) return NotInGraph("an operand of the element-wise layer ends within a dimension of the result");
      Value wanted = ChannelsLastValue(*spread);
      if (follows) wanted = has_rows_ ? RowMajorValue(*spread) : ChannelsValue(*spread);
      INFIMUM_ASSIGN_OR_RETURN(Value value, Operand(k, std::move(wanted)));
      values.push_back(std::move(value));
    }
    return Compute(config.kind, values, whole != nullptr ? *whole : ChannelsLastValue(full));
  }

  Result<Value> Compute(PointwiseKind kind, const std::vector<Value>& values, const Value& result) {
    if (kind == PointwiseKind::kHardSigmoid || kind == PointwiseKind::kHardSwish) {
      // cuDNN's graph has neither: a line, cut at 0 and 1, of a swish times its input.
      const bool is_swish = kind == PointwiseKind::kHardSwish;
      const double alpha = is_swish ? 1.0 / 6 : values_.hard_sigmoid_alpha;
      const double beta = is_swish ? 0.5 : values_.hard_sigmoid_beta;
      const Value line = Combined(Combined(values[0], alpha, "MUL"), beta, "ADD");
      Operation cut = Pointwise("RELU_FWD");
      cut.relu_low = 0.0F;
      cut.relu_high = 1.0F;
      const Value gate = Call(std::move(cut), {line}, result);
      return is_swish ? Combined(values[0], gate, "MUL") : gate;
    }
    if (ModeOf(kind) == kNoMode) return NotInGraph(PointwiseRefusal(kind));
    Operation operation = Pointwise(ModeOf(kind));
    if (kind == PointwiseKind::kElu) operation.elu_alpha = static_cast<float>(values_.elu_alpha);
    if (kind == PointwiseKind::kLeakyRelu) operation.relu_slope = static_cast<float>(values_.leaky_slope);
    if (kind == PointwiseKind::kClip) {
      operation.relu_low = static_cast<float>(values_.clip_low);
      operation.relu_high = static_cast<float>(values_.clip_high);
    }
    return Call(std::move(operation), values, result);
  }

  Result<Value> AddLayer(const ReductionConfig& config) {
    if (ModeOf(config.kind) == kNoMode) return NotInGraph("cuDNN's graph has no such reduction");
    Shape kept = config.input;
    for (const std::int64_t axis : config.axes) kept.dims[static_cast<std::size_t>(axis)] = 1;
    const Shape& full = shapes_[made_.size()].rank() > 0 ? shapes_[made_.size()] : config.input;
    const std::optional<Shape> spread = Unmerged(kept, config.input, full);
    if (!spread) return NotInGraph("what the reduction keeps ends within a dimension of what it reads");
    INFIMUM_ASSIGN_OR_RETURN(Value x, Operand(0, ChannelsLastValue(full)));
    // cuDNN's graph has no mean at inference: a sum of what was scaled before it.
    if (config.kind == ReductionKind::kMean) {
      const double count = static_cast<double>(ElementCount(full)) / static_cast<double>(ElementCount(*spread));
      x = Combined(x, 1 / count, "MUL");
    }
    Operation operation;
    operation.call = "reduction";
    operation.mode = ModeOf(config.kind);
    return Call(std::move(operation), {x}, ChannelsLastValue(*spread));
  }

  Result<Value> AddLayer(const PoolingConfig& config) {
    Operation operation;
    operation.call = "resample";
    operation.mode = ModeOf(config.kind);
    if (operation.mode == kNoMode) return NotInGraph("cuDNN's graph pools maxima and averages only");
    for (const std::int64_t extent : config.dilation.dims)
      if (extent != 1) return NotInGraph("cuDNN's graph has no dilated pooling");
    INFIMUM_ASSIGN_OR_RETURN(const Value x, Operand(0, ChannelsValue(WithTwoSpatial(config.input))));
    operation.window = SpatialSteps(config.kernel);
    operation.stride = SpatialSteps(config.stride);
    operation.pre_padding = PaddingBefore(config.padding);
    operation.post_padding = PaddingBehind(config.padding);
    return Call(std::move(operation), {x}, ChannelsValue(WithTwoSpatial(config.output)));
  }

  Result<Value> AddLayer(const NormalizationConfig& config) {
    if (config.kind == NormalizationKind::kBatch) return AddBatchNormalization(config);
    if (config.kind != NormalizationKind::kLayer && config.kind != NormalizationKind::kRms)
      return NotInGraph("cuDNN's graph normalizes batches, layers and root mean squares only at inference");
    if (!config.scale) return NotInGraph("cuDNN's normalizations have a scale");
    const bool is_rms = config.kind == NormalizationKind::kRms;
    if (!is_rms && !config.bias) return NotInGraph("cuDNN's layer normalization has a bias");
    // Rows and columns, split where what they are added up from or go into is.
    const Shape& own = shapes_[made_.size()];
    if (own.rank() == 0) return NotInGraph("a normalization behind a product");
    const std::optional<Shape> columns = ParametersOf(config, own);
    if (!columns) return NotInGraph("the rows of the normalization end within a dimension of what it reads");
    std::vector<Value> operands;  // rows, scale, bias
    for (std::size_t k = 0; k < (config.bias ? 3u : 2u); ++k) {
      INFIMUM_ASSIGN_OR_RETURN(Value operand, Operand(k, ChannelsLastValue(k == 0 ? own : *columns)));
      operands.push_back(std::move(operand));
    }
    Operation operation;
    operation.call = is_rms ? "rmsnorm" : "layernorm";
    operation.number = static_cast<float>(values_.epsilon);
    return Call(std::move(operation), operands, ChannelsLastValue(own));
  }

  // cuDNN's graph has no batch normalization at inference: (x - mean) / sqrt(variance + epsilon) * scale + bias.
  Result<Value> AddBatchNormalization(const NormalizationConfig& config) {
    if (config.axis != 1 || config.input.rank() < 3 || !config.scale || !config.bias)
      return NotInGraph("a batch normalization without space, scale or bias");
    const Shape whole = WithTwoSpatial(config.input);
    Shape channels{std::vector<std::int64_t>(whole.rank(), 1)};
    channels.dims[1] = config.input.dims[1];
    INFIMUM_ASSIGN_OR_RETURN(Value value, Operand(0, ChannelsValue(whole)));
    std::vector<Value> parameters;  // scale, bias, mean, variance
    for (std::size_t k = 1; k <= 4; ++k) {
      INFIMUM_ASSIGN_OR_RETURN(Value parameter, Operand(k, ChannelsValue(channels)));
      parameters.push_back(std::move(parameter));
    }
    const Value shifted = Combined(parameters[3], values_.epsilon, "ADD");
    const Value inverse = Call(Pointwise("RSQRT"), {shifted}, shifted);
    value = Combined(value, parameters[2], "SUB");
    value = Combined(value, inverse, "MUL");
    value = Combined(value, parameters[0], "MUL");
    return Combined(value, parameters[1], "ADD");
  }

  Result<Value> AddLayer(const AttentionConfig& config) {
    const std::int64_t value_head = config.value_head > 0 ? config.value_head : config.head;
    std::vector<Shape> shapes = MaskShapes(config);
    if (shapes.size() > 1) return NotInGraph("cuDNN adds one mask");
    if (!shapes.empty() && shapes[0].dims[0] != 1 && shapes[0].dims[0] != config.batch)
      return NotInGraph("a mask that is repeated over the batch");
    shapes.insert(shapes.begin(), {Shape{{config.batch, config.heads, config.q, config.head}},
                                   Shape{{config.batch, config.kv_heads, config.kv, config.head}},
                                   Shape{{config.batch, config.kv_heads, config.kv, value_head}}});
    std::vector<Value> operands;  // queries, keys, values, a mask that is added to the scores
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      INFIMUM_ASSIGN_OR_RETURN(Value operand, Operand(k, RowMajorValue(shapes[k])));
      operands.push_back(std::move(operand));
    }
    const bool is_float8 = IsFloat8(config.types.input);
    if (!is_float8 && IsSmallFloat(config.types.input)) return NotInGraph("attention of 4-bit floats");
    if (is_float8 && !MaskShapes(config).empty()) return NotInGraph("8-bit floats with a mask that is added");
    if (is_float8) {
      // Of queries, keys, values, weights and results: one number, which changes results, not cost.
      Value scale = RowMajorValue(Shape{{1, 1, 1, 1}});
      scale.name = "scale" + std::to_string(made_.size());
      AddTensor(scale, {{}, DataType::kF32, Shape{{1}}, made_.size()});
      operands.push_back(std::move(scale));
    }
    Operation operation;
    operation.call = is_float8 ? "sdpa_fp8" : "sdpa";
    operation.number =
        static_cast<float>(values_.attention_scale.value_or(1.0 / std::sqrt(static_cast<double>(config.head))));
    operation.causal = config.mask == AttentionMask::kCausal;
    operation.left_bound = config.window;
    const Shape output{{config.batch, config.heads, config.q, value_head}};
    const Value result = Call(std::move(operation), operands, RowMajorValue(output));
    for (const char* name : {cudnn::kLargestWeight, cudnn::kLargestResult}) {
      if (!is_float8) continue;
      made_all_.graph.outputs.push_back({result.name + name, "f32"});
      made_all_.outputs.push_back({{}, DataType::kF32, Shape{{1}}, made_.size()});
    }
    return result;
  }

  template <class Config>
  Result<Value> AddLayer(const Config&) {
    return NotInGraph("cuDNN's graph has no operation for " + std::string(Config::kName) + " layers");
  }

  const std::vector<CudnnValues>& all_values_;
  bool has_channels_ = false, has_rows_ = false;
  std::vector<Shape> shapes_;  // in which members without either see their elements
  std::map<RegionOperand, Value> outside_;
  std::vector<Value> made_;  // by member
  CudnnOperations made_all_;
  // The current member's.
  std::vector<infimum::Operand> operands_;
  std::vector<RegionOperand> sources_;
  CudnnValues values_;
  std::size_t results_ = 0;
};

}  // namespace

Result<CudnnOperations> CudnnOperationsOf(const Region& region, const std::vector<CudnnValues>& values) {
  return Builder(values).Add(region);
}

bool HasFloatProduct(const Region& region) {
  return std::ranges::any_of(region.members, [](const RegionMember& member) {
    const bool multiplies = std::holds_alternative<ConvolutionConfig>(member.config) ||
                            std::holds_alternative<MatMulConfig>(member.config) ||
                            std::holds_alternative<AttentionConfig>(member.config);
    return multiplies && IsFloatingPoint(TypesOf(member.config).input);
  });
}

}  // namespace infimum::cuda
