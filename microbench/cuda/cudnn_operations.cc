#include "microbench/cuda/cudnn_operations.h"

#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "infimum/layer/merged_shape.h"
#include "microbench/cuda/cudnn_shapes.h"

namespace infimum::cuda {
namespace {

namespace fe = cudnn_frontend;
using TensorPointer = std::shared_ptr<fe::graph::Tensor_attributes>;

Error Unsupported(const std::string& what) { return Error{"unsupported: " + what}; }

std::optional<fe::DataType_t> TypeIn(DataType type) {
  switch (type) {
    case DataType::kF64:
      return fe::DataType_t::DOUBLE;
    case DataType::kF32:
      return fe::DataType_t::FLOAT;
    case DataType::kF16:
      return fe::DataType_t::HALF;
    case DataType::kBF16:
      return fe::DataType_t::BFLOAT16;
    case DataType::kF8E4M3:
      return fe::DataType_t::FP8_E4M3;
    case DataType::kF8E5M2:
      return fe::DataType_t::FP8_E5M2;
    case DataType::kS8:
      return fe::DataType_t::INT8;
    case DataType::kS32:
      return fe::DataType_t::INT32;
    case DataType::kS64:
      return fe::DataType_t::INT64;
    case DataType::kBool:
      return fe::DataType_t::BOOLEAN;
    default:
      return std::nullopt;
  }
}

std::optional<fe::PointwiseMode_t> ModeOf(PointwiseKind kind) {
  using Mode = fe::PointwiseMode_t;
  switch (kind) {
    case PointwiseKind::kAdd:
      return Mode::ADD;
    case PointwiseKind::kSubtract:
      return Mode::SUB;
    case PointwiseKind::kMultiply:
      return Mode::MUL;
    case PointwiseKind::kDivide:
      return Mode::DIV;
    case PointwiseKind::kPower:
      return Mode::POW;
    case PointwiseKind::kModulo:
      return Mode::MOD;
    case PointwiseKind::kMinimum:
      return Mode::MIN;
    case PointwiseKind::kMaximum:
      return Mode::MAX;
    case PointwiseKind::kIdentity:
    case PointwiseKind::kCast:
      return Mode::IDENTITY;
    case PointwiseKind::kAbsolute:
      return Mode::ABS;
    case PointwiseKind::kNegative:
      return Mode::NEG;
    case PointwiseKind::kCeil:
      return Mode::CEIL;
    case PointwiseKind::kFloor:
      return Mode::FLOOR;
    case PointwiseKind::kReciprocal:
      return Mode::RECIPROCAL;
    case PointwiseKind::kSquareRoot:
      return Mode::SQRT;
    case PointwiseKind::kExponential:
      return Mode::EXP;
    case PointwiseKind::kLogarithm:
      return Mode::LOG;
    case PointwiseKind::kErrorFunction:
      return Mode::ERF;
    case PointwiseKind::kSine:
      return Mode::SIN;
    case PointwiseKind::kCosine:
      return Mode::COS;
    case PointwiseKind::kTangent:
      return Mode::TAN;
    case PointwiseKind::kRelu:
    case PointwiseKind::kLeakyRelu:
    case PointwiseKind::kClip:
      return Mode::RELU_FWD;
    case PointwiseKind::kElu:
      return Mode::ELU_FWD;
    case PointwiseKind::kSigmoid:
      return Mode::SIGMOID_FWD;
    case PointwiseKind::kTanh:
      return Mode::TANH_FWD;
    case PointwiseKind::kSwish:
      return Mode::SWISH_FWD;
    case PointwiseKind::kGeluErf:
      return Mode::GELU_FWD;
    case PointwiseKind::kGeluTanh:
      return Mode::GELU_APPROX_TANH_FWD;
    case PointwiseKind::kSoftplus:
      return Mode::SOFTPLUS_FWD;
    default:
      return std::nullopt;
  }
}

std::optional<fe::ReductionMode_t> ModeOf(ReductionKind kind) {
  using Mode = fe::ReductionMode_t;
  switch (kind) {
    case ReductionKind::kSum:
      return Mode::ADD;
    case ReductionKind::kMean:
      return Mode::ADD;
    case ReductionKind::kMax:
      return Mode::MAX;
    case ReductionKind::kMin:
      return Mode::MIN;
    case ReductionKind::kProduct:
      return Mode::MUL;
    case ReductionKind::kL1:
      return Mode::NORM1;
    case ReductionKind::kL2:
      return Mode::NORM2;
    default:
      return std::nullopt;
  }
}

std::int64_t RoundUp(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

struct Value {
  TensorPointer tensor;
  Shape shape;  // as cuDNN has it
};

class Builder {
 public:
  Builder(const CudnnForm& form, fe::graph::Graph& graph) : form_(form), graph_(graph) {}

  Status Add(const Region& region) {
    for (std::size_t i = 0; i < region.members.size(); ++i) {
      const RegionMember& member = region.members[i];
      operands_ = OperandsOf(member.config);
      sources_ = member.operands;
      INFIMUM_ASSIGN_OR_RETURN(Value value,
                               std::visit([&](const auto& config) { return AddLayer(config); }, member.config));
      made_.push_back(std::move(value));
    }
    for (const std::int64_t output : region.outputs) {
      const auto number = static_cast<std::size_t>(output);
      const DataType type = OutputsOf(region.members[number].config)[0].type;
      const std::optional<fe::DataType_t> known = TypeIn(type);
      if (!known) return Unsupported("cuDNN's graph has no tensors of " + std::string(Name(type)));
      made_[number].tensor->set_output(true).set_data_type(*known);
      // What lies in memory needs a place there as its reader expects it.
      if (made_[number].tensor->get_stride().empty())
        made_[number].tensor->set_stride(Strides(made_[number].shape, form_.channels_last));
    }
    return {};
  }

 private:
  // The member's operand `k`, where it comes from outside with this shape and these strides.
  Result<Value> Operand(std::size_t k, const Shape& shape, const std::vector<std::int64_t>& strides) {
    const RegionOperand& source = sources_[k];
    if (source.source == RegionOperand::Source::kMember) return made_[static_cast<std::size_t>(source.index)];
    const auto known = outside_.find(source);
    if (known != outside_.end()) {
      if (known->second.shape == shape) return known->second;
      return Unsupported("an operand of the region is read in two shapes");
    }
    const std::optional<fe::DataType_t> type = TypeIn(operands_[k].type);
    if (!type) return Unsupported("cuDNN's graph has no tensors of " + std::string(Name(operands_[k].type)));
    const char* kind = source.source == RegionOperand::Source::kInput ? "in" : "w";
    Value value{graph_.tensor(fe::graph::Tensor_attributes()
                                  .set_name(kind + std::to_string(source.index))
                                  .set_dim({shape.dims.begin(), shape.dims.end()})
                                  .set_stride(strides)
                                  .set_data_type(*type)),
                shape};
    return outside_.emplace(source, std::move(value)).first->second;
  }

  Value Pointwise(const Value& a, const Value& b, fe::PointwiseMode_t mode) {
    return {graph_.pointwise(a.tensor, b.tensor, fe::graph::Pointwise_attributes().set_mode(mode)), a.shape};
  }

  // Sums of integers and of 8-bit floats come out through their scales.
  Value Scaled(Value value, DataType output) {
    if (output != DataType::kS8 && output != DataType::kF8E4M3 && output != DataType::kF8E5M2) return value;
    const std::vector<std::int64_t> ones(value.shape.rank(), 1);
    const TensorPointer scale = graph_.tensor(fe::graph::Tensor_attributes()
                                                  .set_name("scale" + std::to_string(made_.size()))
                                                  .set_dim(ones)
                                                  .set_stride(ones)
                                                  .set_data_type(fe::DataType_t::FLOAT));
    return Pointwise(value, {scale, {}}, fe::PointwiseMode_t::MUL);
  }

  static fe::DataType_t SumsIn(DataType input, bool half_sums) {
    if (IsInteger(input)) return fe::DataType_t::INT32;
    if (input == DataType::kF64) return fe::DataType_t::DOUBLE;
    return half_sums ? fe::DataType_t::HALF : fe::DataType_t::FLOAT;
  }

  Result<Value> AddLayer(const ConvolutionConfig& config) {
    const std::size_t spatial = config.kernel.rank();
    if (spatial > 3) return Unsupported("cuDNN convolves in at most three dimensions");
    Shape input = WithTwoSpatial(config.input), weights = WithTwoSpatial(WeightShape(config));
    Shape output = WithTwoSpatial(OutputShape(config));
    if (const std::int64_t multiple = form_.channel_multiple; multiple > 1) {
      for (Shape* shape : {&input, &output}) shape->dims[1] = RoundUp(shape->dims[1], multiple);
      for (const std::size_t i : {0u, 1u}) weights.dims[i] = RoundUp(weights.dims[i], multiple);
    }
    INFIMUM_ASSIGN_OR_RETURN(const Value x, Operand(0, input, Strides(input, form_.channels_last)));
    INFIMUM_ASSIGN_OR_RETURN(const Value w, Operand(1, weights, Strides(weights, form_.channels_last)));
    const auto describe = [&](auto attributes) {
      return attributes.set_pre_padding(PaddingBefore(config.padding))
          .set_post_padding(PaddingBehind(config.padding))
          .set_stride(SpatialSteps(config.stride))
          .set_dilation(SpatialSteps(config.dilation))
          .set_compute_data_type(SumsIn(config.types.input, form_.half_sums));
    };
    // A transposed convolution is what a convolution's gradient is by its input.
    TensorPointer y = config.transposed
                          ? graph_.conv_dgrad(x.tensor, w.tensor, describe(fe::graph::Conv_dgrad_attributes()))
                          : graph_.conv_fprop(x.tensor, w.tensor, describe(fe::graph::Conv_fprop_attributes()));
    y->set_dim({output.dims.begin(), output.dims.end()}).set_stride(Strides(output, form_.channels_last));
    if (IsInteger(config.types.input)) y->set_data_type(fe::DataType_t::INT32);
    Value value = Scaled({y, output}, config.types.output);
    if (!config.bias) return value;
    Shape bias = output;
    for (std::size_t i = 0; i < bias.rank(); ++i)
      if (i != 1) bias.dims[i] = 1;
    INFIMUM_ASSIGN_OR_RETURN(const Value b, Operand(2, bias, Strides(bias, form_.channels_last)));
    return Pointwise(value, b, fe::PointwiseMode_t::ADD);
  }

  Result<Value> AddLayer(const MatMulConfig& config) {
    // A constant may be kept as one likes; what varies lies row by row.
    Shape stored = config.b;
    std::vector<std::int64_t> strides = Strides(stored, false);
    if (form_.channels_last) {
      std::swap(stored.dims[stored.rank() - 1], stored.dims[stored.rank() - 2]);
      strides = Strides(stored, false);
      std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
    }
    INFIMUM_ASSIGN_OR_RETURN(const Value a, Operand(0, config.a, Strides(config.a, false)));
    INFIMUM_ASSIGN_OR_RETURN(const Value b, Operand(1, config.b, strides));
    const Shape output = OutputShape(config);
    const TensorPointer y = graph_.matmul(
        a.tensor, b.tensor,
        fe::graph::Matmul_attributes().set_compute_data_type(SumsIn(config.types.input, form_.half_sums)));
    y->set_dim({output.dims.begin(), output.dims.end()}).set_stride(Strides(output, false));
    if (IsInteger(config.types.input)) y->set_data_type(fe::DataType_t::INT32);
    Value value = Scaled({y, output}, config.types.output);
    if (config.bias == MatMulBias::kNone) return value;
    Shape bias = output;
    if (config.bias == MatMulBias::kColumn)
      for (std::size_t i = 0; i + 1 < bias.rank(); ++i) bias.dims[i] = 1;
    INFIMUM_ASSIGN_OR_RETURN(const Value c, Operand(2, bias, Strides(bias, false)));
    return Pointwise(value, c, fe::PointwiseMode_t::ADD);
  }

  Result<Value> AddLayer(const PointwiseConfig& config) {
    const std::optional<fe::PointwiseMode_t> mode = ModeOf(config.kind);
    if (!mode || config.inputs.size() > 2) return Unsupported("cuDNN's graph has no such element-wise operation");
    Shape merged = config.inputs[0];
    if (config.inputs.size() > 1) {
      INFIMUM_ASSIGN_OR_RETURN(merged, Broadcast(config.inputs[0], config.inputs[1]));
    }
    // The tensor whose dimensions the others are spread over: one that is made here and has all elements.
    std::optional<Shape> made_whole;
    bool channels_last = true;
    for (std::size_t k = 0; k < config.inputs.size(); ++k) {
      if (sources_[k].source != RegionOperand::Source::kMember) continue;
      const Shape& made = made_[static_cast<std::size_t>(sources_[k].index)].shape;
      if (ElementCount(made) != ElementCount(merged)) continue;
      made_whole = made;
      channels_last = !has_rows_ && (form_.channels_last || !has_channels_);
    }
    const Shape whole = made_whole.value_or(WithLastAsChannels(merged));
    std::vector<Value> values;
    for (std::size_t k = 0; k < config.inputs.size(); ++k) {
      std::optional<Shape> shape;
      if (made_whole) {
        shape = Unmerged(config.inputs[k], merged, whole);
      } else if (config.inputs[k].rank() == merged.rank()) {
        shape = WithLastAsChannels(config.inputs[k]);
      } else {
        shape = WithLastAsChannels(*Unmerged(config.inputs[k], merged, merged));
      }
      if (!shape) return Unsupported("an operand of the element-wise layer ends within a dimension of the result");
      INFIMUM_ASSIGN_OR_RETURN(Value value, Operand(k, *shape, Strides(*shape, channels_last)));
      values.push_back(std::move(value));
    }
    fe::graph::Pointwise_attributes attributes;
    attributes.set_mode(*mode);
    // Their values, which do not change what it costs, are the ones that models have most.
    if (config.kind == PointwiseKind::kLeakyRelu) attributes.set_relu_lower_clip_slope(0.01f);
    if (config.kind == PointwiseKind::kClip) attributes.set_relu_lower_clip(0.0f).set_relu_upper_clip(6.0f);
    const TensorPointer y = values.size() == 1 ? graph_.pointwise(values[0].tensor, attributes)
                                               : graph_.pointwise(values[0].tensor, values[1].tensor, attributes);
    y->set_dim({whole.dims.begin(), whole.dims.end()}).set_stride(Strides(whole, channels_last));
    return Value{y, whole};
  }

  Result<Value> AddLayer(const ReductionConfig& config) {
    const std::optional<fe::ReductionMode_t> mode = ModeOf(config.kind);
    if (!mode) return Unsupported("cuDNN's graph has no such reduction");
    Shape kept = config.input;
    for (const std::int64_t axis : config.axes) kept.dims[static_cast<std::size_t>(axis)] = 1;
    const Shape input = WithLastAsChannels(config.input), output = WithLastAsChannels(kept);
    INFIMUM_ASSIGN_OR_RETURN(Value x, Operand(0, input, Strides(input, true)));
    // cuDNN's graph has no mean at inference: a sum of what was scaled before it.
    if (config.kind == ReductionKind::kMean) {
      const double count = static_cast<double>(ElementCount(input)) / static_cast<double>(ElementCount(output));
      x = Pointwise(x, {graph_.tensor(static_cast<float>(1 / count)), {}}, fe::PointwiseMode_t::MUL);
    }
    const TensorPointer y = graph_.reduction(x.tensor, fe::graph::Reduction_attributes().set_mode(*mode));
    y->set_dim({output.dims.begin(), output.dims.end()}).set_stride(Strides(output, true));
    return Value{y, output};
  }

  Result<Value> AddLayer(const PoolingConfig& config) {
    fe::graph::Resample_attributes attributes;
    switch (config.kind) {
      case PoolingKind::kMax:
        attributes.set_resampling_mode(fe::ResampleMode_t::MAXPOOL).set_padding_mode(fe::PaddingMode_t::NEG_INF_PAD);
        break;
      case PoolingKind::kAverageWithPad:
        attributes.set_resampling_mode(fe::ResampleMode_t::AVGPOOL_INCLUDE_PADDING)
            .set_padding_mode(fe::PaddingMode_t::ZERO_PAD);
        break;
      case PoolingKind::kAverageWithoutPad:
        attributes.set_resampling_mode(fe::ResampleMode_t::AVGPOOL_EXCLUDE_PADDING)
            .set_padding_mode(fe::PaddingMode_t::ZERO_PAD);
        break;
      default:
        return Unsupported("cuDNN's graph pools maxima and averages only");
    }
    for (const std::int64_t extent : config.dilation.dims)
      if (extent != 1) return Unsupported("cuDNN's graph has no dilated pooling");
    const Shape input = WithTwoSpatial(config.input), output = WithTwoSpatial(config.output);
    INFIMUM_ASSIGN_OR_RETURN(const Value x, Operand(0, input, Strides(input, form_.channels_last)));
    attributes.set_window(SpatialSteps(config.kernel))
        .set_stride(SpatialSteps(config.stride))
        .set_pre_padding(PaddingBefore(config.padding))
        .set_post_padding(PaddingBehind(config.padding))
        .set_generate_index(false);
    const TensorPointer y = graph_.resample(x.tensor, attributes)[0];
    y->set_dim({output.dims.begin(), output.dims.end()}).set_stride(Strides(output, form_.channels_last));
    return Value{y, output};
  }

  Result<Value> AddLayer(const NormalizationConfig& config) {
    if (config.kind != NormalizationKind::kLayer && config.kind != NormalizationKind::kRms)
      return Unsupported("cuDNN's graph normalizes layers and root mean squares only at inference");
    if (!config.scale) return Unsupported("cuDNN's normalizations have a scale");
    const bool is_rms = config.kind == NormalizationKind::kRms;
    if (!is_rms && !config.bias) return Unsupported("cuDNN's layer normalization has a bias");
    Shape rows{{1, 1, 1, 1}}, parameters = rows;
    for (std::size_t i = 0; i < config.input.rank(); ++i)
      rows.dims[i < static_cast<std::size_t>(config.axis) ? 0 : 1] *= config.input.dims[i];
    parameters.dims[1] = rows.dims[1];
    INFIMUM_ASSIGN_OR_RETURN(const Value x, Operand(0, rows, Strides(rows, true)));
    INFIMUM_ASSIGN_OR_RETURN(Value scale, Operand(1, parameters, Strides(parameters, true)));
    TensorPointer epsilon = graph_.tensor(1e-5f);
    if (is_rms) {
      fe::graph::Rmsnorm_attributes attributes;
      attributes.set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon);
      if (config.bias) {
        INFIMUM_ASSIGN_OR_RETURN(Value bias, Operand(2, parameters, Strides(parameters, true)));
        attributes.set_bias(bias.tensor);
      }
      return Value{graph_.rmsnorm(x.tensor, scale.tensor, attributes)[0], rows};
    }
    INFIMUM_ASSIGN_OR_RETURN(Value bias, Operand(2, parameters, Strides(parameters, true)));
    fe::graph::Layernorm_attributes attributes;
    attributes.set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon);
    return Value{graph_.layernorm(x.tensor, scale.tensor, bias.tensor, attributes)[0], rows};
  }

  Result<Value> AddLayer(const AttentionConfig& config) {
    const std::int64_t value_head = config.value_head > 0 ? config.value_head : config.head;
    const Shape q{{config.batch, config.heads, config.q, config.head}};
    const Shape k{{config.batch, config.kv_heads, config.kv, config.head}};
    const Shape v{{config.batch, config.kv_heads, config.kv, value_head}};
    const Shape output{{config.batch, config.heads, config.q, value_head}};
    INFIMUM_ASSIGN_OR_RETURN(const Value query, Operand(0, q, Strides(q, false)));
    INFIMUM_ASSIGN_OR_RETURN(const Value key, Operand(1, k, Strides(k, false)));
    INFIMUM_ASSIGN_OR_RETURN(const Value value, Operand(2, v, Strides(v, false)));
    fe::graph::SDPA_attributes attributes;
    attributes.set_name("attention")
        .set_generate_stats(false)
        .set_attn_scale(1.0f / std::sqrt(static_cast<float>(config.head)));
    if (config.mask == AttentionMask::kCausal) attributes.set_causal_mask_bottom_right(true);
    if (config.mask == AttentionMask::kFull) {
      const Shape mask{{1, 1, config.q, config.kv}};
      INFIMUM_ASSIGN_OR_RETURN(const Value bias, Operand(3, mask, Strides(mask, false)));
      attributes.set_bias(bias.tensor);
    }
    const TensorPointer y = graph_.sdpa(query.tensor, key.tensor, value.tensor, attributes)[0];
    y->set_dim({output.dims.begin(), output.dims.end()}).set_stride(Strides(output, false));
    return Value{y, output};
  }

  template <class Config>
  Result<Value> AddLayer(const Config&) {
    return Unsupported("cuDNN's graph has no operation for " + std::string(Config::kName) + " layers");
  }

 public:
  // What a region begins with decides how the tensors within it lie.
  void Begin(const LayerConfig& lead) {
    has_channels_ = std::holds_alternative<ConvolutionConfig>(lead) || std::holds_alternative<PoolingConfig>(lead);
    has_rows_ = std::holds_alternative<MatMulConfig>(lead) || std::holds_alternative<AttentionConfig>(lead);
  }

 private:
  const CudnnForm& form_;
  fe::graph::Graph& graph_;
  bool has_channels_ = false, has_rows_ = false;
  std::map<RegionOperand, Value> outside_;
  std::vector<Value> made_;  // by member
  // Of the member at hand.
  std::vector<infimum::Operand> operands_;
  std::vector<RegionOperand> sources_;
};

}  // namespace

Status AddOperations(const Workload& workload, const CudnnForm& form, fe::graph::Graph& graph) {
  Region region;
  if (const auto* config = std::get_if<LayerConfig>(&workload)) {
    // A layer is a region of its own. The second operand of a product is a weight only where it is constant, which
    // makes no difference here.
    RegionMember member{*config, {}};
    const std::size_t operands = OperandsOf(*config).size();
    for (std::size_t i = 0; i < operands; ++i)
      member.operands.push_back({RegionOperand::Source::kInput, static_cast<std::int64_t>(i)});
    region.members.push_back(std::move(member));
    region.outputs = {0};
  } else {
    region = std::get<Region>(workload);
  }
  Builder builder(form, graph);
  builder.Begin(region.members.front().config);
  return builder.Add(region);
}

}  // namespace infimum::cuda
