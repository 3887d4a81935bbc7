#include "microbench/libraries/onednn_graph/region_graph.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "infimum/layer/pointwise.h"
#include "src/core/layer/family.h"

namespace infimum::cpu {
namespace {

using dnnl::graph::op;
using Role = GraphTensor::Role;
using Dims = std::vector<std::int64_t>;

Error Unsupported(const std::string& what) { return Error{"unsupported: oneDNN Graph has no " + what}; }

struct UnaryOperation {
  op::kind kind;
  std::vector<std::pair<op::attr, double>> numbers = {};
};

// Those without numbers of their own.
constexpr std::pair<PointwiseKind, op::kind> kUnary[] = {
    {PointwiseKind::kAbsolute, op::kind::Abs},
    {PointwiseKind::kExponential, op::kind::Exp},
    {PointwiseKind::kGeluErf, op::kind::GELU},
    {PointwiseKind::kHardSwish, op::kind::HardSwish},
    {PointwiseKind::kLogarithm, op::kind::Log},
    {PointwiseKind::kMish, op::kind::Mish},
    {PointwiseKind::kReciprocal, op::kind::Reciprocal},
    {PointwiseKind::kRelu, op::kind::ReLU},
    {PointwiseKind::kRound, op::kind::Round},
    {PointwiseKind::kSigmoid, op::kind::Sigmoid},
    {PointwiseKind::kSquare, op::kind::Square},
    {PointwiseKind::kSquareRoot, op::kind::Sqrt},
    {PointwiseKind::kTanh, op::kind::Tanh},
    {PointwiseKind::kCast, op::kind::TypeCast},
};
constexpr std::pair<PointwiseKind, op::kind> kBinary[] = {
    {PointwiseKind::kAdd, op::kind::Add},           {PointwiseKind::kSubtract, op::kind::Subtract},
    {PointwiseKind::kMultiply, op::kind::Multiply}, {PointwiseKind::kDivide, op::kind::Divide},
    {PointwiseKind::kMinimum, op::kind::Minimum},   {PointwiseKind::kMaximum, op::kind::Maximum},
};

std::optional<op::kind> OperationIn(std::span<const std::pair<PointwiseKind, op::kind>> operations,
                                    PointwiseKind kind) {
  const auto found = std::ranges::find(operations, kind, &std::pair<PointwiseKind, op::kind>::first);
  return found != operations.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<UnaryOperation> UnaryOperationOf(PointwiseKind kind, const LayerValues& values) {
  switch (kind) {
    case PointwiseKind::kClip:
      return UnaryOperation{op::kind::Clamp, {{op::attr::min, values.clip_low}, {op::attr::max, values.clip_high}}};
    case PointwiseKind::kCelu:
      // The same function for this alpha alone.
      if (values.elu_alpha != 1) return std::nullopt;
      return UnaryOperation{op::kind::Elu, {{op::attr::alpha, 1}}};
    case PointwiseKind::kElu:
      return UnaryOperation{op::kind::Elu, {{op::attr::alpha, values.elu_alpha}}};
    case PointwiseKind::kHardSigmoid:
      return UnaryOperation{op::kind::HardSigmoid,
                            {{op::attr::alpha, values.hard_sigmoid_alpha}, {op::attr::beta, values.hard_sigmoid_beta}}};
    case PointwiseKind::kLeakyRelu:
      return UnaryOperation{op::kind::LeakyReLU, {{op::attr::alpha, values.leaky_slope}}};
    case PointwiseKind::kSoftplus:
      return UnaryOperation{op::kind::SoftPlus, {{op::attr::beta, 1}}};
    default:
      break;
  }
  const std::optional<op::kind> operation = OperationIn(kUnary, kind);
  return operation ? std::optional(UnaryOperation{*operation}) : std::nullopt;
}

// A batch of one on both sides is no dimension: the library has better kernels for two.
std::size_t DroppedBatches(const MatMulConfig& config) {
  std::size_t dropped = 0;
  while (config.a.rank() - dropped > 2 && config.a.dims[dropped] == 1 && config.b.dims[dropped] == 1) ++dropped;
  return dropped;
}

Shape Without(const Shape& shape, std::size_t dropped) {
  return Shape{Dims(shape.dims.begin() + static_cast<std::ptrdiff_t>(dropped), shape.dims.end())};
}

// In which the member's own operation sees its result.
Shape OwnShape(const LayerConfig& config) {
  if (const auto* pointwise = std::get_if<PointwiseConfig>(&config)) return OutputShape(*pointwise);
  if (const auto* normalization = std::get_if<NormalizationConfig>(&config)) {
    const Shape& input = normalization->input;
    const auto axis = static_cast<std::size_t>(normalization->axis);
    return Shape{{ElementsBetween(input, 0, axis), ElementsBetween(input, axis, input.rank())}};
  }
  return OutputsOf(config)[0].shape;
}

// The coarsest shape of which all members' own are coarser forms; nullopt where two are not of one.
std::optional<Shape> FinestShape(const Region& region) {
  std::set<std::int64_t> inner;  // elements behind each boundary between dimensions
  const std::int64_t count = ElementCount(OwnShape(region.members[0].config));
  for (const RegionMember& member : region.members) {
    const Shape shape = OwnShape(member.config);
    if (ElementCount(shape) != count || count == 0) return std::nullopt;
    std::int64_t behind = 1;
    for (std::size_t i = shape.rank(); i-- > 0;) inner.insert(behind *= shape.dims[i]);
  }
  inner.insert(count);
  inner.erase(1);
  Shape finest;
  std::int64_t behind = 1;
  for (const std::int64_t boundary : inner) {
    if (boundary % behind != 0) return std::nullopt;
    finest.dims.insert(finest.dims.begin(), boundary / behind);
    behind = boundary;
  }
  if (finest.rank() == 0) finest.dims = {1};
  return finest;
}

class RegionTranslation {
 public:
  RegionTranslation(const Region& region, const RegionValues& values, GraphLayout layout)
      : region_(region), values_(values), channels_last_(layout == GraphLayout::kChannelsLast) {}

  Result<RegionGraph> Translate() {
    if (region_.outputs.size() != 1) return Unsupported("partition with a result beside the last one");
    INFIMUM_RETURN_IF_ERROR(FindShape());
    CountOperands();
    for (std::size_t i = 0; i < region_.members.size(); ++i) {
      const bool last = i + 1 == region_.members.size();
      const Operand output = OutputsOf(region_.members[i].config)[0];
      members_.push_back(Add(Strided(last ? Role::kResult : Role::kInner, shape_, output.type)));
    }
    result_.result = members_.back();
    for (std::size_t i = 0; i < region_.members.size(); ++i) {
      member_ = i;
      INFIMUM_RETURN_IF_ERROR(
          std::visit([&](const auto& config) { return Translate(config); }, region_.members[i].config));
    }
    return std::move(result_);
  }

 private:
  Status FindShape() {
    const LayerConfig& first = region_.members[0].config;
    if (const auto* convolution = std::get_if<ConvolutionConfig>(&first)) {
      shape_ = OutputShape(*convolution);
      return {};
    }
    if (channels_last_) return Unsupported("channels here");
    if (const auto* product = std::get_if<MatMulConfig>(&first)) {
      shape_ = Without(OutputShape(*product), DroppedBatches(*product));
      return {};
    }
    const std::optional<Shape> finest = FinestShape(region_);
    if (!finest) return Unsupported("common shape for its members");
    shape_ = *finest;
    return {};
  }

  void CountOperands() {
    std::set<RegionOperand> inputs, weights;
    for (const RegionMember& member : region_.members) {
      for (const RegionOperand& operand : member.operands) {
        if (operand.source == RegionOperand::Source::kInput) inputs.insert(operand);
        if (operand.source == RegionOperand::Source::kWeight) weights.insert(operand);
      }
    }
    inputs_ = inputs.size();
    result_.operands.assign(inputs.begin(), inputs.end());
    result_.operands.insert(result_.operands.end(), weights.begin(), weights.end());
    result_.graph.tensors.resize(result_.operands.size());
    seen_.assign(result_.operands.size(), false);
  }

  std::size_t Add(GraphTensor tensor) {
    result_.graph.tensors.push_back(std::move(tensor));
    return result_.graph.tensors.size() - 1;
  }

  GraphTensor Strided(Role role, const Shape& shape, DataType type) const {
    const bool varies = role != Role::kConstant;
    return varies && channels_last_ ? ChannelsLastTensor(role, shape, type) : RowMajorTensor(role, shape, type);
  }

  const RegionMember& member() const { return region_.members[member_]; }
  std::size_t output() const { return members_[member_]; }

  // The member's operand in the shape that its operation sees.
  Result<std::size_t> OperandAs(std::size_t index, const Shape& shape) {
    const RegionOperand& operand = member().operands[index];
    const auto place = static_cast<std::size_t>(operand.index);
    if (operand.source == RegionOperand::Source::kMember) {
      if (shape != shape_) return Unsupported("operation that sees a member's result in another shape");
      return members_[place];
    }
    const bool constant = operand.source == RegionOperand::Source::kWeight;
    const std::size_t number = constant ? inputs_ + place : place;
    const DataType type = OperandsOf(member().config)[index].type;
    GraphTensor seen = Strided(constant ? Role::kConstant : Role::kOperand, shape, type);
    GraphTensor& tensor = result_.graph.tensors[number];
    if (seen_[number] && (tensor.shape != seen.shape || tensor.type != seen.type))
      return Unsupported("tensor that two operations see in different shapes or types");
    seen_[number] = true;
    tensor = std::move(seen);
    return number;
  }

  void AddOperation(op::kind kind, std::vector<std::size_t> inputs, std::size_t to,
                    std::function<void(op&)> set_attributes = nullptr) {
    result_.graph.operations.push_back({kind, std::move(inputs), to, std::move(set_attributes)});
  }

  Status Translate(const ConvolutionConfig& config) {
    if (member_ != 0) return Unsupported("convolution behind other members");
    const std::size_t dimensions = config.kernel.rank();
    const Dims begins(config.padding.begin(), config.padding.begin() + static_cast<std::ptrdiff_t>(dimensions));
    const Dims ends(config.padding.begin() + static_cast<std::ptrdiff_t>(dimensions), config.padding.end());
    if (std::ranges::any_of(config.padding, [](std::int64_t pad) { return pad < 0; }))
      return Unsupported("padding below zero");
    std::vector<std::size_t> inputs;
    INFIMUM_ASSIGN_OR_RETURN(inputs.emplace_back(), OperandAs(0, config.input));
    INFIMUM_ASSIGN_OR_RETURN(inputs.emplace_back(), OperandAs(1, WeightShape(config)));
    if (config.bias) {
      INFIMUM_ASSIGN_OR_RETURN(inputs.emplace_back(), OperandAs(2, Shape{{config.output_channels}}));
    }
    const op::kind kind = config.transposed ? op::kind::ConvTranspose : op::kind::Convolution;
    AddOperation(kind, std::move(inputs), output(), [config, begins, ends](op& made) {
      made.set_attr<Dims>(op::attr::strides, config.stride.dims);
      made.set_attr<Dims>(op::attr::dilations, config.dilation.dims);
      made.set_attr<Dims>(op::attr::pads_begin, begins);
      made.set_attr<Dims>(op::attr::pads_end, ends);
      made.set_attr<std::int64_t>(op::attr::groups, config.groups);
      // Logical order alone: strides say how memory lies.
      made.set_attr<std::string>(op::attr::data_format, "NCX");
      made.set_attr<std::string>(op::attr::weights_format, config.transposed ? "IOX" : "OIX");
      if (config.transposed && !config.output_padding.empty())
        made.set_attr<Dims>(op::attr::output_padding, config.output_padding);
    });
    return {};
  }

  Status Translate(const MatMulConfig& config) {
    if (member_ != 0) return Unsupported("matrix product behind other members");
    if (config.scales.any()) return Unsupported("weights with a scale for each block");
    const std::size_t dropped = DroppedBatches(config);
    std::vector<std::size_t> inputs;
    INFIMUM_ASSIGN_OR_RETURN(inputs.emplace_back(), OperandAs(0, Without(config.a, dropped)));
    INFIMUM_ASSIGN_OR_RETURN(inputs.emplace_back(), OperandAs(1, Without(config.b, dropped)));
    if (config.bias == MatMulBias::kColumn) {
      INFIMUM_ASSIGN_OR_RETURN(inputs.emplace_back(), OperandAs(2, Shape{{config.b.dims.back()}}));
    }
    const bool sums = config.bias == MatMulBias::kFull;
    const std::size_t product = sums ? Add(RowMajorTensor(Role::kInner, shape_, config.types.output)) : output();
    AddOperation(op::kind::MatMul, std::move(inputs), product);
    if (!sums) return {};
    INFIMUM_ASSIGN_OR_RETURN(const std::size_t summand, OperandAs(2, shape_));
    AddOperation(op::kind::Add, {product, summand}, output());
    return {};
  }

  Status Translate(const PointwiseConfig& config) {
    const std::string kind = Format(LayerConfig(config));
    const Shape merged = OutputShape(config);
    if (ElementCount(merged) != ElementCount(shape_)) return Unsupported("operation of fewer elements: " + kind);
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < config.inputs.size(); ++i) {
      const std::optional<Shape> shape = Unmerged(config.inputs[i], merged, shape_);
      if (!shape) return Unsupported("common shape for " + kind);
      INFIMUM_ASSIGN_OR_RETURN(inputs.emplace_back(), OperandAs(i, *shape));
    }
    const LayerValues values = ValuesOfMember(values_, member_);
    if (inputs.size() == 2) {
      const std::optional<op::kind> binary = OperationIn(kBinary, config.kind);
      if (!binary) return Unsupported("operation for " + kind);
      AddOperation(*binary, std::move(inputs), output());
      return {};
    }
    if (inputs.size() != 1) return Unsupported("operation for " + kind);
    if (config.kind == PointwiseKind::kSwish) {
      const std::size_t sigmoid = Add(Strided(Role::kInner, shape_, config.types.output));
      AddOperation(op::kind::Sigmoid, inputs, sigmoid);
      AddOperation(op::kind::Multiply, {inputs[0], sigmoid}, output());
      return {};
    }
    const std::optional<UnaryOperation> unary = UnaryOperationOf(config.kind, values);
    if (!unary) return Unsupported("operation for " + kind);
    AddOperation(unary->kind, std::move(inputs), output(), [numbers = unary->numbers](op& made) {
      for (const auto& [name, number] : numbers) made.set_attr<float>(name, static_cast<float>(number));
    });
    return {};
  }

  // The one dimension of the common shape that `extent` elements, each `behind` apart, are.
  Result<std::int64_t> AxisOf(std::int64_t extent, std::int64_t behind) const {
    for (std::size_t i = 0; i < shape_.rank(); ++i) {
      if (shape_.dims[i] == extent && ElementsBetween(shape_, i + 1, shape_.rank()) == behind)
        return static_cast<std::int64_t>(i);
    }
    return Unsupported("one axis where a member has one");
  }

  Status Translate(const SoftmaxConfig& config) {
    if (config.kind == SoftmaxKind::kHardmax) return Unsupported("operation for hardmax");
    const Shape& shape = config.input;
    const auto place = static_cast<std::size_t>(config.axis);
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t axis,
                             AxisOf(shape.dims[place], ElementsBetween(shape, place + 1, shape.rank())));
    INFIMUM_ASSIGN_OR_RETURN(const std::size_t input, OperandAs(0, shape_));
    AddOperation(config.kind == SoftmaxKind::kSoftmax ? op::kind::SoftMax : op::kind::LogSoftmax, {input}, output(),
                 [axis](op& made) { made.set_attr<std::int64_t>(op::attr::axis, axis); });
    return {};
  }

  Status Translate(const NormalizationConfig& config) {
    if (config.kind != NormalizationKind::kLayer || config.scale != config.bias)
      return Unsupported("operation for " + Format(LayerConfig(config)));
    const Shape& shape = config.input;
    const std::int64_t extent = ElementsBetween(shape, static_cast<std::size_t>(config.axis), shape.rank());
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t axis, AxisOf(extent, 1));
    std::vector<std::size_t> inputs;
    INFIMUM_ASSIGN_OR_RETURN(inputs.emplace_back(), OperandAs(0, shape_));
    for (std::size_t i = 1; i < member().operands.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(inputs.emplace_back(), OperandAs(i, Shape{{extent}}));
    }
    const auto epsilon = static_cast<float>(ValuesOfMember(values_, member_).epsilon);
    AddOperation(op::kind::LayerNorm, std::move(inputs), output(), [config, axis, epsilon](op& made) {
      made.set_attr<bool>(op::attr::keep_stats, false);
      made.set_attr<bool>(op::attr::use_affine, config.scale);
      made.set_attr<std::int64_t>(op::attr::begin_norm_axis, axis);
      made.set_attr<float>(op::attr::epsilon, epsilon);
    });
    return {};
  }

  template <class Other>
  Status Translate(const Other& config) {
    return Unsupported("operation for " + Format(LayerConfig(config)));
  }

  const Region& region_;
  const RegionValues& values_;
  bool channels_last_;
  Shape shape_;  // of every member's result
  RegionGraph result_;
  std::size_t inputs_ = 0;
  std::vector<bool> seen_;
  std::vector<std::size_t> members_;  // their tensors
  std::size_t member_ = 0;
};

}  // namespace

Result<RegionGraph> GraphOf(const Region& region, const RegionValues& values, GraphLayout layout) {
  return RegionTranslation(region, values, layout).Translate();
}

}  // namespace infimum::cpu
