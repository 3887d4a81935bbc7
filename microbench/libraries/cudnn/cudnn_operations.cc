#include "microbench/libraries/cudnn/cudnn_operations.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "infimum/layer/pointwise.h"
#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/reference/region_tensors.h"
#include "microbench/reference/values.h"
#include "src/core/layer/reduction.h"
#include "src/core/measurement/cudnn_shapes.h"

namespace infimum::cuda {
namespace {

namespace fe = cudnn_frontend;
using TensorPointer = std::shared_ptr<fe::graph::Tensor_attributes>;

Error Unsupported(const std::string& what) { return Error{"unsupported: " + what}; }

// Types, element-wise operations and reductions in cuDNN's words; nullopt where it has none.
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
  static constexpr Mode kModes[] = {
#define INFIMUM_POINTWISE(kind, name, least, most, flops, provable, rounding, onnx, cudnn) Mode::cudnn,
#include "src/core/layer/pointwise_kinds.def"
  };
  const Mode mode = kModes[static_cast<std::size_t>(kind)];
  return mode == Mode::NOT_SET ? std::nullopt : std::optional(mode);
}

std::optional<fe::ReductionMode_t> ModeOf(ReductionKind kind) {
  using Mode = fe::ReductionMode_t;
  static constexpr Mode kModes[] = {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) Mode::cudnn,
#define INFIMUM_ARGUMENT(kind, name, fold) Mode::NOT_SET,
#include "src/core/layer/reduction_kinds.def"
  };
  const Mode mode = kModes[static_cast<std::size_t>(kind)];
  return mode == Mode::NOT_SET ? std::nullopt : std::optional(mode);
}

std::optional<fe::ResampleMode_t> ModeOf(PoolingKind kind) {
  using Mode = fe::ResampleMode_t;
  static constexpr Mode kModes[] = {
#define INFIMUM_POOLING(kind, name, reduction, counts_padding, cudnn) Mode::cudnn,
#include "src/core/layer/reduction_kinds.def"
  };
  const Mode mode = kModes[static_cast<std::size_t>(kind)];
  return mode == Mode::NOT_SET ? std::nullopt : std::optional(mode);
}

struct Value {
  TensorPointer tensor;
  // As cuDNN has it, filled up; its positions are not always the layer's: element-wise layers have their last
  // dimension as channels.
  Shape shape;
  TensorPlacement placement;  // of the layer's own elements
};

class Builder {
 public:
  Builder(const cpu::RegionValues& values, const CudnnForm& form, fe::graph::Graph& graph)
      : all_values_(values), form_(form), graph_(graph) {}

  Result<std::vector<CudnnTensor>> Add(const Region& region) {
    const LayerConfig& lead = region.members.front().config;
    // The first member decides the layout of the tensors within the region.
    has_channels_ = LeadsWithChannels(lead);
    has_rows_ = std::holds_alternative<MatMulConfig>(lead) || std::holds_alternative<AttentionConfig>(lead);
    shapes_ = MemberShapes(region);
    for (const RegionMember& member : region.members) {
      operands_ = OperandsOf(member.config);
      sources_ = member.operands;
      values_ = cpu::ValuesOfMember(all_values_, made_.size());
      INFIMUM_ASSIGN_OR_RETURN(Value value,
                               std::visit([&](const auto& config) { return AddLayer(config); }, member.config));
      made_.push_back(std::move(value));
    }
    for (const std::int64_t output : region.outputs) {
      const auto number = static_cast<std::size_t>(output);
      const DataType type = OutputsOf(region.members[number].config)[0].type;
      const std::optional<fe::DataType_t> known = TypeIn(type);
      if (!known) return Unsupported("cuDNN's graph has no tensors of " + std::string(Name(type)));
      Value& made = made_[number];
      // A tensor in memory needs the placement that its reader expects.
      if (made.tensor->get_stride().empty()) made.tensor->set_stride(made.placement.strides);
      made.tensor->set_output(true).set_data_type(*known).set_uid(next_);
      tensors_.push_back({next_++, {{RegionOperand::Source::kMember, output}, 0, type, made.placement}, {}});
    }
    return std::move(tensors_);
  }

 private:
  // The member's operand `k`, where it comes from outside with this shape, lying as `placement` says.
  Result<Value> Operand(std::size_t k, const Shape& shape, const std::vector<std::int64_t>& strides,
                        TensorPlacement placement) {
    const RegionOperand& source = sources_[k];
    if (source.source == RegionOperand::Source::kMember) return made_[static_cast<std::size_t>(source.index)];
    const auto known = outside_.find(source);
    if (known != outside_.end()) {
      if (known->second.shape == shape) return known->second;
      return Unsupported("an operand of the region is read in two shapes");
    }
    const std::optional<fe::DataType_t> type = TypeIn(operands_[k].type);
    if (!type) return Unsupported("cuDNN's graph has no tensors of " + std::string(Name(operands_[k].type)));
    if (ElementCount(placement.shape) != ElementCount(operands_[k].shape))
      return Unsupported("an operand that is spread over the result");
    const char* kind = source.source == RegionOperand::Source::kInput ? "in" : "w";
    Value value{graph_.tensor(fe::graph::Tensor_attributes()
                                  .set_name(kind + std::to_string(source.index))
                                  .set_uid(next_)
                                  .set_dim({shape.dims.begin(), shape.dims.end()})
                                  .set_stride(strides)
                                  .set_data_type(*type)),
                shape, std::move(placement)};
    tensors_.push_back({next_++, {source, 0, operands_[k].type, value.placement}, {}});
    return outside_.emplace(source, std::move(value)).first->second;
  }
  // A tensor laid out as on the host, whatever dimensions cuDNN sees in it.
  Result<Value> Operand(std::size_t k, const Shape& shape, bool channels_last) {
    return Operand(k, shape, Strides(shape, channels_last), TensorPlacement::RowMajor(operands_[k].shape));
  }
  Result<Value> Operand(std::size_t k, const TensorPlacement& placement) {
    return Operand(k, placement.room, placement.strides, placement);
  }

  Value Pointwise(const Value& a, const Value& b, fe::PointwiseMode_t mode) {
    return {graph_.pointwise(a.tensor, b.tensor, fe::graph::Pointwise_attributes().set_mode(mode)), a.shape,
            a.placement};
  }
  Value Pointwise(const Value& a, float b, fe::PointwiseMode_t mode) {
    return Pointwise(a, {graph_.tensor(b), {}, {}}, mode);
  }

  // Sums of integers and of 8-bit floats come out through one scale.
  Result<Value> Scaled(Value value, const OperandTypes& types, std::int64_t depth) {
    const bool is_small_float = types.output == DataType::kF8E4M3 || types.output == DataType::kF8E5M2;
    const bool is_scaled = IsInteger(types.input) && types.output != DataType::kS32;
    if (!is_small_float && !is_scaled) return value;
    INFIMUM_ASSIGN_OR_RETURN(const double factor, is_scaled ? FactorOf(types, depth, values_) : Result<double>(1.0));
    const std::vector<std::int64_t> ones(value.shape.rank(), 1);
    const TensorPointer scale = graph_.tensor(fe::graph::Tensor_attributes()
                                                  .set_name("scale" + std::to_string(made_.size()))
                                                  .set_uid(next_)
                                                  .set_dim(ones)
                                                  .set_stride(ones)
                                                  .set_data_type(fe::DataType_t::FLOAT));
    tensors_.push_back({next_++, {{}, 0, DataType::kF32, TensorPlacement::RowMajor(Shape{{1}})}, factor});
    return Pointwise(value, {scale, {}, {}}, fe::PointwiseMode_t::MUL);
  }

  static fe::DataType_t SumsIn(DataType input, bool half_sums) {
    if (IsInteger(input)) return fe::DataType_t::INT32;
    if (input == DataType::kF64) return fe::DataType_t::DOUBLE;
    return half_sums ? fe::DataType_t::HALF : fe::DataType_t::FLOAT;
  }

  Result<Value> AddLayer(const ConvolutionConfig& config) {
    const std::size_t spatial = config.kernel.rank();
    if (spatial > 3) return Unsupported("cuDNN convolves in at most three dimensions");
    const auto placed = [&](const Shape& shape) {
      return TensorPlacement::WithChannels(WithTwoSpatial(shape), form_.channels_last, form_.channel_multiple);
    };
    TensorPlacement weights = placed(WeightShape(config));
    if (const std::int64_t multiple = form_.channel_multiple; multiple > 1) {
      weights.room.dims[0] = (weights.room.dims[0] + multiple - 1) / multiple * multiple;
      weights.strides = Strides(weights.room, form_.channels_last);
    }
    const TensorPlacement output = placed(OutputShape(config));
    INFIMUM_ASSIGN_OR_RETURN(const Value x, Operand(0, placed(config.input)));
    INFIMUM_ASSIGN_OR_RETURN(const Value w, Operand(1, weights));
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
    y->set_dim(output.room.dims).set_stride(output.strides);
    if (IsInteger(config.types.input)) y->set_data_type(fe::DataType_t::INT32);
    const std::int64_t depth = config.input.dims[1] / config.groups * ElementCount(config.kernel);
    std::optional<TensorPlacement> bias;
    if (config.bias) {
      // One for each channel, dense in every layout.
      Shape channels{std::vector<std::int64_t>(output.room.rank(), 1)};
      channels.dims[1] = config.output_channels;
      bias = TensorPlacement::WithChannels(channels, form_.channels_last, form_.channel_multiple);
    }
    return FinishProduct({y, output.room, output}, config.types, depth, bias);
  }

  // A bias of integers is in the scale of the sums, one of floats in that of the results.
  Result<Value> FinishProduct(Value sums, const OperandTypes& types, std::int64_t depth,
                              const std::optional<TensorPlacement>& bias) {
    const bool is_in_sums = IsInteger(types.input) && IsInteger(types.output);
    if (!is_in_sums) {
      INFIMUM_ASSIGN_OR_RETURN(sums, Scaled(std::move(sums), types, depth));
    }
    if (bias) {
      INFIMUM_ASSIGN_OR_RETURN(const Value b, Operand(2, *bias));
      sums = Pointwise(sums, b, fe::PointwiseMode_t::ADD);
    }
    if (!is_in_sums) return sums;
    return Scaled(std::move(sums), types, depth);
  }

  Result<Value> AddLayer(const MatMulConfig& config) {
    // A constant may have any layout; variables are row-major.
    TensorPlacement second = TensorPlacement::RowMajor(config.b);
    if (form_.channels_last) {
      Shape stored = config.b;
      std::swap(stored.dims[stored.rank() - 1], stored.dims[stored.rank() - 2]);
      second.strides = Strides(stored, false);
      std::swap(second.strides[stored.rank() - 1], second.strides[stored.rank() - 2]);
    }
    INFIMUM_ASSIGN_OR_RETURN(const Value a, Operand(0, TensorPlacement::RowMajor(config.a)));
    INFIMUM_ASSIGN_OR_RETURN(const Value b, Operand(1, second));
    const TensorPlacement output = TensorPlacement::RowMajor(OutputShape(config));
    const TensorPointer y = graph_.matmul(
        a.tensor, b.tensor,
        fe::graph::Matmul_attributes().set_compute_data_type(SumsIn(config.types.input, form_.half_sums)));
    y->set_dim(output.room.dims).set_stride(output.strides);
    if (IsInteger(config.types.input)) y->set_data_type(fe::DataType_t::INT32);
    std::optional<TensorPlacement> bias;
    if (config.bias != MatMulBias::kNone) {
      Shape shape = output.shape;
      if (config.bias == MatMulBias::kColumn)
        for (std::size_t i = 0; i + 1 < shape.rank(); ++i) shape.dims[i] = 1;
      bias = TensorPlacement::RowMajor(shape);
    }
    return FinishProduct({y, output.room, output}, config.types, config.a.dims.back(), bias);
  }

  Result<Value> AddLayer(const PointwiseConfig& config) {
    if (config.inputs.size() > 2) return Unsupported(PointwiseRefusal(config.kind));
    Shape merged = config.inputs[0];
    if (config.inputs.size() > 1) {
      INFIMUM_ASSIGN_OR_RETURN(merged, Broadcast(config.inputs[0], config.inputs[1]));
    }
    // The tensor whose dimensions the others are spread over: one that is made here and has all elements.
    const Value* whole = nullptr;
    for (std::size_t k = 0; k < config.inputs.size(); ++k) {
      if (sources_[k].source != RegionOperand::Source::kMember) continue;
      const Value& made = made_[static_cast<std::size_t>(sources_[k].index)];
      if (ElementCount(made.placement.shape) == ElementCount(merged)) whole = &made;
    }
    const bool channels_last = whole == nullptr || (!has_rows_ && (form_.channels_last || !has_channels_));
    const Shape& seen = shapes_[made_.size()];
    const Shape& full = whole != nullptr ? whole->placement.shape : seen.rank() > 0 ? seen : merged;
    std::vector<Value> values;
    for (std::size_t k = 0; k < config.inputs.size(); ++k) {
      INFIMUM_ASSIGN_OR_RETURN(Value value, PointwiseOperand(k, config.inputs[k], merged, full, whole, channels_last));
      values.push_back(std::move(value));
    }
    Value result{nullptr, {}, {}};
    if (whole != nullptr) {
      result = *whole;
    } else {
      result.shape = WithLastAsChannels(full);
      result.placement = TensorPlacement::RowMajor(full);
    }
    INFIMUM_ASSIGN_OR_RETURN(result.tensor, Compute(config.kind, values));
    result.tensor->set_dim(result.shape.dims).set_stride(Strides(result.shape, channels_last));
    return result;
  }

  // An operand of an element-wise layer, spread over the dimensions of all its elements: those of `whole` where there
  // is one.
  Result<Value> PointwiseOperand(std::size_t k, const Shape& own, const Shape& merged, const Shape& full,
                                 const Value* whole, bool channels_last) {
    const std::optional<Shape> spread = Unmerged(own, merged, full);
    if (!spread) return Unsupported("an operand of the element-wise layer ends within a dimension of the result");
    if (whole == nullptr) return Operand(k, WithLastAsChannels(*spread), channels_last);
    // Filled up channels would have to be filled up here too.
    if (whole->placement.shape != whole->placement.room)
      return Unsupported("an operand beside channels that are filled up");
    // A member after rows or channels has their layout; element-wise chains see rotated dimensions of the same bytes.
    if (has_channels_ || has_rows_) {
      return Operand(k, *spread, Strides(*spread, channels_last), {*spread, *spread, Strides(*spread, channels_last)});
    }
    return Operand(k, WithLastAsChannels(*spread), channels_last);
  }

  Result<TensorPointer> Compute(PointwiseKind kind, const std::vector<Value>& values) {
    using Mode = fe::PointwiseMode_t;
    if (kind == PointwiseKind::kHardSigmoid || kind == PointwiseKind::kHardSwish) {
      const bool is_swish = kind == PointwiseKind::kHardSwish;
      const double alpha = is_swish ? 1.0 / 6 : values_.hard_sigmoid_alpha;
      const double beta = is_swish ? 0.5 : values_.hard_sigmoid_beta;
      Value line = Pointwise(values[0], static_cast<float>(alpha), Mode::MUL);
      line = Pointwise(line, static_cast<float>(beta), Mode::ADD);
      const TensorPointer gate = graph_.pointwise(line.tensor, fe::graph::Pointwise_attributes()
                                                                   .set_mode(Mode::RELU_FWD)
                                                                   .set_relu_lower_clip(0.0f)
                                                                   .set_relu_upper_clip(1.0f));
      return is_swish ? Pointwise(values[0], {gate, {}, {}}, Mode::MUL).tensor : gate;
    }
    const std::optional<Mode> mode = ModeOf(kind);
    if (!mode) return Unsupported(PointwiseRefusal(kind));
    fe::graph::Pointwise_attributes attributes;
    attributes.set_mode(*mode);
    if (kind == PointwiseKind::kElu) attributes.set_elu_alpha(static_cast<float>(values_.elu_alpha));
    if (kind == PointwiseKind::kLeakyRelu)
      attributes.set_relu_lower_clip_slope(static_cast<float>(values_.leaky_slope));
    if (kind == PointwiseKind::kClip) {
      attributes.set_relu_lower_clip(static_cast<float>(values_.clip_low))
          .set_relu_upper_clip(static_cast<float>(values_.clip_high));
    }
    return values.size() == 1 ? graph_.pointwise(values[0].tensor, attributes)
                              : graph_.pointwise(values[0].tensor, values[1].tensor, attributes);
  }

  Result<Value> AddLayer(const ReductionConfig& config) {
    const std::optional<fe::ReductionMode_t> mode = ModeOf(config.kind);
    if (!mode) return Unsupported("cuDNN's graph has no such reduction");
    Shape kept = config.input;
    for (const std::int64_t axis : config.axes) kept.dims[static_cast<std::size_t>(axis)] = 1;
    const Shape& full = shapes_[made_.size()].rank() > 0 ? shapes_[made_.size()] : config.input;
    const std::optional<Shape> spread = Unmerged(kept, config.input, full);
    if (!spread) return Unsupported("what the reduction keeps ends within a dimension of what it reads");
    const Shape input = WithLastAsChannels(full), output = WithLastAsChannels(*spread);
    INFIMUM_ASSIGN_OR_RETURN(Value x, Operand(0, input, true));
    // cuDNN's graph has no mean at inference: a sum of what was scaled before it.
    if (config.kind == ReductionKind::kMean) {
      const double count = static_cast<double>(ElementCount(input)) / static_cast<double>(ElementCount(output));
      x = Pointwise(x, static_cast<float>(1 / count), fe::PointwiseMode_t::MUL);
    }
    const TensorPointer y = graph_.reduction(x.tensor, fe::graph::Reduction_attributes().set_mode(*mode));
    y->set_dim(output.dims).set_stride(Strides(output, true));
    return Value{y, output, TensorPlacement::RowMajor(*spread)};
  }

  Result<Value> AddLayer(const PoolingConfig& config) {
    const std::optional<fe::ResampleMode_t> mode = ModeOf(config.kind);
    if (!mode) return Unsupported("cuDNN's graph pools maxima and averages only");
    fe::graph::Resample_attributes attributes;
    attributes.set_resampling_mode(*mode).set_padding_mode(
        config.kind == PoolingKind::kMax ? fe::PaddingMode_t::NEG_INF_PAD : fe::PaddingMode_t::ZERO_PAD);
    for (const std::int64_t extent : config.dilation.dims)
      if (extent != 1) return Unsupported("cuDNN's graph has no dilated pooling");
    const TensorPlacement input = TensorPlacement::WithChannels(WithTwoSpatial(config.input), form_.channels_last);
    const TensorPlacement output = TensorPlacement::WithChannels(WithTwoSpatial(config.output), form_.channels_last);
    INFIMUM_ASSIGN_OR_RETURN(const Value x, Operand(0, input));
    attributes.set_window(SpatialSteps(config.kernel))
        .set_stride(SpatialSteps(config.stride))
        .set_pre_padding(PaddingBefore(config.padding))
        .set_post_padding(PaddingBehind(config.padding))
        .set_generate_index(false);
    const TensorPointer y = graph_.resample(x.tensor, attributes)[0];
    y->set_dim(output.room.dims).set_stride(output.strides);
    return Value{y, output.room, output};
  }

  Result<Value> AddLayer(const NormalizationConfig& config) {
    if (config.kind == NormalizationKind::kBatch) return AddBatchNormalization(config);
    if (config.kind != NormalizationKind::kLayer && config.kind != NormalizationKind::kRms)
      return Unsupported("cuDNN's graph normalizes batches, layers and root mean squares only at inference");
    if (!config.scale) return Unsupported("cuDNN's normalizations have a scale");
    const bool is_rms = config.kind == NormalizationKind::kRms;
    if (!is_rms && !config.bias) return Unsupported("cuDNN's layer normalization has a bias");
    // Rows and columns, split where what they are added up from or go into is.
    const Shape& own = shapes_[made_.size()];
    if (own.rank() == 0) return Unsupported("a normalization behind a product");
    const std::optional<Shape> columns = ParametersOf(config, own);
    if (!columns) return Unsupported("the rows of the normalization end within a dimension of what it reads");
    const Shape rows = WithLastAsChannels(own), parameters = WithLastAsChannels(*columns);
    INFIMUM_ASSIGN_OR_RETURN(const Value x, Operand(0, rows, true));
    INFIMUM_ASSIGN_OR_RETURN(Value scale, Operand(1, parameters, true));
    TensorPointer epsilon = graph_.tensor(static_cast<float>(values_.epsilon));
    if (is_rms) {
      fe::graph::Rmsnorm_attributes attributes;
      attributes.set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon);
      if (config.bias) {
        INFIMUM_ASSIGN_OR_RETURN(Value bias, Operand(2, parameters, true));
        attributes.set_bias(bias.tensor);
      }
      return RowsOf(graph_.rmsnorm(x.tensor, scale.tensor, attributes)[0], own);
    }
    INFIMUM_ASSIGN_OR_RETURN(Value bias, Operand(2, parameters, true));
    fe::graph::Layernorm_attributes attributes;
    attributes.set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon);
    return RowsOf(graph_.layernorm(x.tensor, scale.tensor, bias.tensor, attributes)[0], own);
  }

  // A normalization's result: rows as cuDNN has them, laid out as the layer's.
  static Value RowsOf(const TensorPointer& y, const Shape& own) {
    const Shape rows = WithLastAsChannels(own);
    y->set_dim(rows.dims).set_stride(Strides(rows, true));
    return {y, rows, TensorPlacement::RowMajor(own)};
  }

  // cuDNN's graph has no batch normalization at inference: (x - mean) / sqrt(variance + epsilon) * scale + bias.
  Result<Value> AddBatchNormalization(const NormalizationConfig& config) {
    if (config.axis != 1 || config.input.rank() < 3 || !config.scale || !config.bias)
      return Unsupported("a batch normalization without space, scale or bias");
    using Mode = fe::PointwiseMode_t;
    const TensorPlacement whole = TensorPlacement::WithChannels(WithTwoSpatial(config.input), form_.channels_last);
    Shape channels{std::vector<std::int64_t>(whole.shape.rank(), 1)};
    channels.dims[1] = config.input.dims[1];
    INFIMUM_ASSIGN_OR_RETURN(Value value, Operand(0, whole));
    std::vector<Value> parameters;  // scale, bias, mean, variance
    for (std::size_t k = 1; k <= 4; ++k) {
      INFIMUM_ASSIGN_OR_RETURN(Value parameter,
                               Operand(k, TensorPlacement::WithChannels(channels, form_.channels_last)));
      parameters.push_back(std::move(parameter));
    }
    const Value shifted = Pointwise(parameters[3], static_cast<float>(values_.epsilon), Mode::ADD);
    const TensorPointer inverse =
        graph_.pointwise(shifted.tensor, fe::graph::Pointwise_attributes().set_mode(Mode::RSQRT));
    value = Pointwise(value, parameters[2], Mode::SUB);
    value = Pointwise(value, {inverse, {}, {}}, Mode::MUL);
    value = Pointwise(value, parameters[0], Mode::MUL);
    return Pointwise(value, parameters[1], Mode::ADD);
  }

  Result<Value> AddLayer(const AttentionConfig& config) {
    if (values_.keys_transposed || values_.mask_scale != 1)
      return Unsupported("keys that lie transposed, or a scaled mask");
    const std::int64_t value_head = config.value_head > 0 ? config.value_head : config.head;
    const Shape q{{config.batch, config.heads, config.q, config.head}};
    const Shape k{{config.batch, config.kv_heads, config.kv, config.head}};
    const Shape v{{config.batch, config.kv_heads, config.kv, value_head}};
    const TensorPlacement output = TensorPlacement::RowMajor(Shape{{config.batch, config.heads, config.q, value_head}});
    INFIMUM_ASSIGN_OR_RETURN(const Value query, Operand(0, TensorPlacement::RowMajor(q)));
    INFIMUM_ASSIGN_OR_RETURN(const Value key, Operand(1, TensorPlacement::RowMajor(k)));
    INFIMUM_ASSIGN_OR_RETURN(const Value value, Operand(2, TensorPlacement::RowMajor(v)));
    fe::graph::SDPA_attributes attributes;
    attributes.set_name("attention")
        .set_generate_stats(false)
        .set_attn_scale(static_cast<float>(values_.scale.value_or(1.0 / std::sqrt(static_cast<double>(config.head)))));
    if (config.mask == AttentionMask::kCausal) attributes.set_causal_mask_bottom_right(true);
    if (config.mask == AttentionMask::kFull) {
      const Shape mask{{1, 1, config.q, config.kv}};
      INFIMUM_ASSIGN_OR_RETURN(const Value bias, Operand(3, TensorPlacement::RowMajor(mask)));
      attributes.set_bias(bias.tensor);
    }
    const TensorPointer y = graph_.sdpa(query.tensor, key.tensor, value.tensor, attributes)[0];
    y->set_dim(output.room.dims).set_stride(output.strides);
    return Value{y, output.room, output};
  }

  template <class Config>
  Result<Value> AddLayer(const Config&) {
    return Unsupported("cuDNN's graph has no operation for " + std::string(Config::kName) + " layers");
  }

 private:
  const cpu::RegionValues& all_values_;
  const CudnnForm& form_;
  fe::graph::Graph& graph_;
  bool has_channels_ = false, has_rows_ = false;
  std::vector<Shape> shapes_;  // in which members without either see their elements
  std::map<RegionOperand, Value> outside_;
  std::vector<Value> made_;  // by member
  std::vector<CudnnTensor> tensors_;
  std::int64_t next_ = 1;  // number of the next tensor with memory
  // The current member's.
  std::vector<infimum::Operand> operands_;
  std::vector<RegionOperand> sources_;
  cpu::LayerValues values_;
};

}  // namespace

Result<std::vector<CudnnTensor>> AddOperations(const cpu::ValuedRegion& problem, const CudnnForm& form,
                                               fe::graph::Graph& graph) {
  return Builder(problem.values, form, graph).Add(problem.region);
}

}  // namespace infimum::cuda
