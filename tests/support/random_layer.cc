#include "tests/support/random_layer.h"

#include <algorithm>
#include <numeric>

namespace infimum::testing {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 20;

template <class Enum>
Enum AnyUpTo(RandomLayers& random, Enum last) {
  return static_cast<Enum>(random.Below(static_cast<std::int64_t>(last) + 1));
}

bool IsComparison(PointwiseKind kind) { return kind >= PointwiseKind::kEqual && kind <= PointwiseKind::kIsInf; }

}  // namespace

std::int64_t RandomLayers::Below(std::int64_t count) {
  return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(count));
}

std::int64_t RandomLayers::Between(std::int64_t least, std::int64_t most) { return least + Below(most - least + 1); }

std::int64_t RandomLayers::Extent() {
  if (Below(4) == 0) return 1;
  if (most_extent_ > 16 && Below(16) == 0) return Between(1, 8 * most_extent_);
  return Between(1, Coin() ? std::min<std::int64_t>(8, most_extent_) : most_extent_);
}

Shape RandomLayers::AShape(std::size_t least_rank, std::size_t most_rank) {
  Shape shape;
  const auto rank = Between(static_cast<std::int64_t>(least_rank), static_cast<std::int64_t>(most_rank));
  std::int64_t elements = 1;
  for (std::int64_t i = 0; i < rank; ++i) {
    shape.dims.push_back(std::min(Extent(), kMostElements / elements));
    elements *= shape.dims.back();
  }
  return shape;
}

Shape RandomLayers::Repeated(std::size_t rank, std::int64_t least, std::int64_t most) {
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) shape.dims.push_back(Between(least, most));
  return shape;
}

DataType RandomLayers::AnyType() {
  return static_cast<DataType>(Between(1, static_cast<std::int64_t>(DataType::kBool)));
}

Shape RandomLayers::Broadcastable(const Shape& shape) {
  Shape part = shape;
  for (std::int64_t& dim : part.dims)
    if (Below(3) == 0) dim = 1;
  const auto dropped = static_cast<std::ptrdiff_t>(Below(static_cast<std::int64_t>(shape.rank()) + 1));
  if (Coin()) part.dims.erase(part.dims.begin(), part.dims.begin() + dropped);
  return part;
}

AttentionConfig RandomLayers::Attention() {
  AttentionConfig config;
  config.types = {AnyType(), DataType::kNone, AnyType()};
  config.mask = AnyUpTo(*this, AttentionMask::kFull);
  if (config.mask == AttentionMask::kFull && Coin()) config.types.weights = DataType::kBool;
  config.batch = Between(1, 8);
  config.kv_heads = Between(1, 8);
  config.heads = config.kv_heads * Between(1, 4);
  config.q = Extent();
  config.kv = Extent();
  config.head = Extent();
  if (Coin()) config.value_head = Extent();
  if (config.mask == AttentionMask::kCausal && Coin()) config.window = Between(1, config.kv);
  if (config.mask == AttentionMask::kFull) {
    for (std::int64_t i = Below(3); i > 0; --i)
      config.masks.push_back(
          Shape{{Coin() ? 1 : config.batch, Coin() ? 1 : config.heads, Coin() ? 1 : config.q, config.kv}});
  }
  return Canonicalize(std::move(config));
}

ConvolutionConfig RandomLayers::Convolution() {
  for (;;) {
    ConvolutionConfig config;
    const auto rank = static_cast<std::size_t>(Between(1, 3));
    config.types = {AnyType(), AnyType(), AnyType()};
    config.groups = Coin() ? 1 : Between(1, 6);
    config.input = Shape{{Between(1, 4), config.groups * Between(1, 8)}};
    for (std::size_t d = 0; d < rank; ++d) config.input.dims.push_back(Between(1, most_extent_));
    config.output_channels = config.groups * Between(1, 8);
    config.kernel = Repeated(rank, 1, 5);
    config.stride = Repeated(rank, 1, 4);
    config.dilation = Repeated(rank, 1, Coin() ? 1 : 4);
    for (std::size_t i = 0; i < 2 * rank; ++i) config.padding.push_back(Between(-1, 4));
    config.bias = Coin();
    config.weights = AnyUpTo(*this, Constness::kVariable);
    config.transposed = Below(3) == 0;
    if (config.transposed && Coin())
      for (std::size_t i = 0; i < rank; ++i) config.output_padding.push_back(Between(0, 2));
    if (Validate(config).ok()) return config;
  }
}

MatMulConfig RandomLayers::MatMul() {
  MatMulConfig config;
  config.types = {AnyType(), AnyType(), AnyType()};
  const auto batch_rank = Between(1, 4);
  for (std::int64_t i = 0; i < batch_rank; ++i) {
    const std::int64_t extent = Between(1, 5);
    const std::int64_t broadcast = Below(4);
    config.a.dims.push_back(broadcast == 0 ? 1 : extent);
    config.b.dims.push_back(broadcast == 1 ? 1 : extent);
  }
  const std::int64_t k = Extent();
  config.a.dims.insert(config.a.dims.end(), {Extent(), k});
  config.b.dims.insert(config.b.dims.end(), {k, Extent()});
  config.bias = AnyUpTo(*this, MatMulBias::kFull);
  config.weights = AnyUpTo(*this, Constness::kVariable);
  if (Below(4) != 0) {
    const bool may_be_sparse = config.weights == Constness::kConstant && k % 4 == 0 &&
                               BitsPerElement(config.types.weights) >= 8 && config.types.weights != DataType::kF8E8M0;
    if (may_be_sparse && Coin()) config.sparsity = Sparsity::kTwoOf4;
    return config;
  }
  constexpr DataType kStored[] = {DataType::kU4, DataType::kS4, DataType::kS8, DataType::kF4E2M1, DataType::kF8E4M3};
  config.types.weights = kStored[Below(5)];
  config.scales = {Between(1, k), Between(1, config.b.dims.back()), Coin() ? DataType::kF32 : DataType::kF8E8M0,
                   Coin() ? DataType::kNone : DataType::kU4};
  if (Coin()) config.activations = DataType::kS8;
  return config;
}

MovementConfig RandomLayers::Movement() {
  for (;;) {
    MovementConfig config;
    config.kind = AnyUpTo(*this, MovementKind::kTriangle);
    config.types.input = config.types.output = AnyType();
    const Shape in = AShape(1, 5);
    const auto rank = static_cast<std::int64_t>(in.rank());
    Shape out = in;
    config.inputs = {in};
    switch (config.kind) {
      case MovementKind::kTranspose:
        config.permutation.resize(in.rank());
        std::iota(config.permutation.begin(), config.permutation.end(), 0);
        for (std::size_t i = in.rank(); i > 1; --i)
          std::swap(config.permutation[i - 1],
                    config.permutation[static_cast<std::size_t>(Below(static_cast<std::int64_t>(i)))]);
        for (std::size_t i = 0; i < in.rank(); ++i)
          out.dims[i] = in.dims[static_cast<std::size_t>(config.permutation[i])];
        break;
      case MovementKind::kConcat:
      case MovementKind::kSplit: {
        config.axis = Below(rank);
        const auto axis = static_cast<std::size_t>(config.axis);
        std::vector<Shape> pieces(static_cast<std::size_t>(Between(1, 4)), in);
        out.dims[axis] = 0;
        for (Shape& piece : pieces) out.dims[axis] += piece.dims[axis] = Between(1, 9);
        config.inputs = config.kind == MovementKind::kConcat ? pieces : std::vector<Shape>{out};
        config.outputs = config.kind == MovementKind::kConcat ? std::vector<Shape>{out} : pieces;
        break;
      }
      case MovementKind::kSlice:
        for (std::int64_t& dim : out.dims)
          if (Coin()) dim = Between(1, dim);
        break;
      case MovementKind::kPad:
        for (std::int64_t& dim : out.dims)
          if (Coin()) dim += Between(0, 3);
        break;
      case MovementKind::kGather:
        config.types.weights = DataType::kS64;
        config.axis = Below(rank);
        config.indices = Between(1, 40);
        out.dims[static_cast<std::size_t>(config.axis)] = config.indices;
        break;
      case MovementKind::kScatter:
        config.types.weights = DataType::kS64;
        config.axis = Below(rank);
        config.indices = Between(1, 40);
        config.inputs.push_back(Shape{{config.indices}});
        break;
      case MovementKind::kExpand:
        config.inputs = {Broadcastable(out)};
        break;
      case MovementKind::kTile:
        for (std::int64_t& dim : out.dims)
          if (Coin()) dim *= Between(1, 3);
        break;
      case MovementKind::kFill:
        config.inputs.clear();
        config.types.input = DataType::kNone;
        break;
      case MovementKind::kOneHot:
        out.dims.push_back(Between(1, 20));
        break;
      case MovementKind::kCopy:
      case MovementKind::kDepthToSpace:
      case MovementKind::kReverse:
      case MovementKind::kTriangle:
        break;
    }
    if (config.outputs.empty()) config.outputs = {out};
    if (Validate(config).ok()) return config;
  }
}

NormalizationConfig RandomLayers::Normalization() {
  NormalizationConfig config;
  config.kind = AnyUpTo(*this, NormalizationKind::kMeanVariance);
  config.input = AShape(2, 5);
  config.axis = Below(static_cast<std::int64_t>(config.input.rank()));
  if (config.kind == NormalizationKind::kGroup) {
    config.groups = Between(1, 4);
    config.input.dims[static_cast<std::size_t>(config.axis)] = config.groups * Between(1, 4);
  }
  if (config.kind == NormalizationKind::kLocalResponse) config.size = Between(1, 9);
  const bool plain = config.kind == NormalizationKind::kLocalResponse || config.kind == NormalizationKind::kLp ||
                     config.kind == NormalizationKind::kMeanVariance;
  config.scale = !plain && Coin();
  config.bias = !plain && Coin();
  const bool parameters = config.scale || config.bias || config.kind == NormalizationKind::kBatch;
  config.types = {AnyType(), parameters ? AnyType() : DataType::kNone, AnyType()};
  return config;
}

PointwiseConfig RandomLayers::Pointwise() {
  PointwiseConfig config;
  config.kind = AnyUpTo(*this, PointwiseKind::kRequantize);
  const OperandRange range = OperandsOf(config.kind);
  const std::int64_t operands = Between(range.least, std::min(range.most, 5));
  const Shape shape = AShape(0, 5);
  for (std::int64_t i = 0; i < operands; ++i) config.inputs.push_back(Coin() ? shape : Broadcastable(shape));
  config.types = {AnyType(), operands > 1 ? AnyType() : DataType::kNone,
                  IsComparison(config.kind) ? DataType::kBool : AnyType()};
  return config;
}

PoolingConfig RandomLayers::Pooling() {
  for (;;) {
    PoolingConfig config;
    const auto rank = static_cast<std::size_t>(Between(1, 3));
    config.kind = AnyUpTo(*this, PoolingKind::kLp);
    config.types = {AnyType(), DataType::kNone, AnyType()};
    config.input = config.output = Shape{{Between(1, 4), Between(1, 8)}};
    config.kernel = Repeated(rank, 1, 5);
    config.stride = Repeated(rank, 1, 4);
    config.dilation = Repeated(rank, 1, Coin() ? 1 : 3);
    for (std::size_t i = 0; i < 2 * rank; ++i) config.padding.push_back(Between(0, 3));
    for (std::size_t d = 0; d < rank; ++d) {
      config.input.dims.push_back(Between(1, most_extent_));
      const std::int64_t padded = config.input.dims.back() + config.padding[d] + config.padding[d + rank];
      const std::int64_t reach = config.dilation.dims[d] * (config.kernel.dims[d] - 1) + 1;
      const std::int64_t room = std::max<std::int64_t>(0, padded - reach);
      // Rounded down, or up as ceil_mode does.
      config.output.dims.push_back((room + (Coin() ? config.stride.dims[d] - 1 : 0)) / config.stride.dims[d] + 1);
    }
    if (Validate(config).ok()) return config;
  }
}

RecurrentConfig RandomLayers::Recurrent() {
  RecurrentConfig config;
  config.kind = AnyUpTo(*this, RecurrentKind::kRnnRelu);
  config.types = {AnyType(), AnyType(), AnyType()};
  config.sequence = Extent();
  config.batch = Between(1, 8);
  config.input = Extent();
  config.hidden = Extent();
  config.directions = Between(1, 2);
  config.bias = Coin();
  config.weights = AnyUpTo(*this, Constness::kVariable);
  return config;
}

ReductionConfig RandomLayers::Reduction() {
  const Shape shape = AShape(1, 5);
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (Coin()) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.empty()) axes.push_back(0);
  const ReductionKind kind = AnyUpTo(*this, ReductionKind::kArgMin);
  const OperandTypes types{AnyType(), DataType::kNone, AnyType()};
  if (Coin()) return MakeReduction(kind, types, shape, axes);
  return {kind, types, shape, axes};
}

ReorderConfig RandomLayers::Reorder() {
  static const std::vector<std::string> layouts = {"nchw", "nhwc", "nChw8c", "nChw16c", "OIhw4i16o4i", "any_1"};
  return {{AnyType(), DataType::kNone, AnyType()}, AShape(0, 5), OneOf(layouts), OneOf(layouts)};
}

ResampleConfig RandomLayers::Resample() {
  ResampleConfig config;
  config.kind = AnyUpTo(*this, ResampleKind::kRoiAlign);
  config.types = {AnyType(), DataType::kNone, AnyType()};
  config.input = AShape(3, 5);
  config.output = config.input;
  for (std::size_t i = 2; i < config.output.rank(); ++i) config.output.dims[i] = Extent();
  if (config.kind == ResampleKind::kGridSample && Coin()) config.types.weights = DataType::kF32;
  return config;
}

ScanConfig RandomLayers::Scan() {
  ScanConfig config{AnyUpTo(*this, ScanKind::kProduct), {AnyType(), DataType::kNone, AnyType()}, AShape(1, 4), 0};
  config.axis = Below(static_cast<std::int64_t>(config.input.rank()));
  return config;
}

SoftmaxConfig RandomLayers::Softmax() {
  const Shape shape = AShape(1, 5);
  const auto axis = static_cast<std::size_t>(Below(static_cast<std::int64_t>(shape.rank())));
  return MakeSoftmax(AnyUpTo(*this, SoftmaxKind::kHardmax), {AnyType(), DataType::kNone, AnyType()}, shape, axis);
}

SortConfig RandomLayers::Sort() {
  SortConfig config{AnyUpTo(*this, SortKind::kSort), {AnyType(), DataType::kNone, AnyType()}, AShape(1, 4), 0, 1};
  config.axis = Below(static_cast<std::int64_t>(config.input.rank()));
  const std::int64_t length = config.input.dims[static_cast<std::size_t>(config.axis)];
  config.k = config.kind == SortKind::kSort ? length : Between(1, length);
  return config;
}

LayerConfig RandomLayers::Layer() {
  switch (Below(static_cast<std::int64_t>(std::variant_size_v<LayerConfig>))) {
    case 0:
      return Attention();
    case 1:
      return Convolution();
    case 2:
      return MatMul();
    case 3:
      return Movement();
    case 4:
      return Normalization();
    case 5:
      return Pointwise();
    case 6:
      return Pooling();
    case 7:
      return Recurrent();
    case 8:
      return Reduction();
    case 9:
      return Reorder();
    case 10:
      return Resample();
    case 11:
      return Scan();
    case 12:
      return Softmax();
    default:
      return Sort();
  }
}

PointwiseConfig RandomLayers::UnaryOn(const Operand& operand) {
  PointwiseConfig config;
  config.kind = OneOf<PointwiseKind>({PointwiseKind::kRelu, PointwiseKind::kSigmoid, PointwiseKind::kGeluErf,
                                      PointwiseKind::kTanh, PointwiseKind::kClip, PointwiseKind::kHardSwish});
  config.types = {operand.type, DataType::kNone, operand.type};
  config.inputs = {operand.shape};
  return Coin() ? Canonicalize(config) : config;
}

PointwiseConfig RandomLayers::BinaryOn(const Operand& operand) {
  PointwiseConfig config;
  config.kind = OneOf<PointwiseKind>({PointwiseKind::kAdd, PointwiseKind::kMultiply, PointwiseKind::kSubtract,
                                      PointwiseKind::kMaximum, PointwiseKind::kDivide});
  config.types = {operand.type, operand.type, operand.type};
  config.inputs = {operand.shape, Coin() ? operand.shape : Broadcastable(operand.shape)};
  return Coin() ? Canonicalize(config) : config;
}

Region RandomLayers::Fusion() {
  using Source = RegionOperand::Source;
  Region region;
  std::int64_t inputs = 0, weights = 0;
  const auto add = [&](LayerConfig config, std::vector<RegionOperand> operands) {
    region.members.push_back({std::move(config), std::move(operands)});
  };

  const LayerConfig anchor = Coin() ? LayerConfig(Convolution()) : Coin() ? LayerConfig(MatMul()) : Layer();
  std::vector<RegionOperand> operands;
  for (const Operand& operand : OperandsOf(anchor))
    operands.push_back(operand.constant ? RegionOperand{Source::kWeight, weights++}
                                        : RegionOperand{Source::kInput, inputs++});
  add(anchor, operands);

  const std::int64_t followers = Between(1, 5);
  for (std::int64_t i = 0; i < followers; ++i) {
    const RegionOperand previous{Source::kMember, i};
    const Operand output = OutputsOf(region.members.back().config)[0];
    if (Coin()) {
      add(UnaryOn(output), {previous});
      continue;
    }
    const PointwiseConfig binary = BinaryOn(output);
    // The second operand: an earlier member of the same size, an input, or a constant.
    RegionOperand other = Coin() ? RegionOperand{Source::kInput, inputs} : RegionOperand{Source::kWeight, weights};
    const std::int64_t earlier = Below(i + 1);
    const Shape earlier_shape = OutputsOf(region.members[static_cast<std::size_t>(earlier)].config)[0].shape;
    if (Below(3) == 0 && ElementCount(earlier_shape) == ElementCount(binary.inputs[1]))
      other = {Source::kMember, earlier};
    else
      (other.source == Source::kInput ? inputs : weights) += 1;
    add(binary, {previous, other});
  }
  for (std::int64_t i = 0; i < followers; ++i)
    if (Below(5) == 0) region.outputs.push_back(i);
  region.outputs.push_back(followers);
  return region;
}

Workload RandomLayers::Either() { return Coin() ? Workload(Layer()) : Workload(Fusion()); }

}  // namespace infimum::testing
