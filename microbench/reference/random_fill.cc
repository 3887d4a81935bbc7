#include "microbench/reference/random_fill.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "microbench/reference/index_map.h"

namespace infimum::cpu {
namespace {

struct Range {
  double low = -1;
  double high = 1;
};

double Uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

void FillUniform(HostTensor& tensor, std::uint64_t seed, Range range) {
  const std::int64_t count = tensor.count();
  const double width = range.high - range.low;
  if (tensor.type() == DataType::kF32) {
    float* data = tensor.As<float>();
    for (std::int64_t i = 0; i < count; ++i) {
      data[i] = static_cast<float>(range.low + width * Uniform(HashOf(seed, static_cast<std::uint64_t>(i))));
    }
    return;
  }
  if (tensor.type() == DataType::kBool) {
    auto* data = tensor.As<std::uint8_t>();
    for (std::int64_t i = 0; i < count; ++i) data[i] = HashOf(seed, static_cast<std::uint64_t>(i)) >> 63;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    tensor.Set(i, range.low + width * Uniform(HashOf(seed, static_cast<std::uint64_t>(i))));
  }
}

bool IsProduct(const LayerConfig& config) {
  return std::holds_alternative<ConvolutionConfig>(config) || std::holds_alternative<MatMulConfig>(config);
}

Range IntegerOperand(const LayerConfig& config, std::size_t number, DataType type) {
  if (IsProduct(config) && number == 1 && type == DataType::kS8) return {-127, 127};
  if (type == DataType::kU8) return {0, 255};
  if (type == DataType::kS8) return {-128, 127};
  const bool is_unsigned = type == DataType::kU16 || type == DataType::kU32 || type == DataType::kU64;
  return {is_unsigned ? 1.0 : -1000.0, 1000};
}

Range PointwiseOperand(PointwiseKind kind, std::size_t number, DataType type) {
  const bool integers = IsInteger(type);
  switch (kind) {
    case PointwiseKind::kLogarithm:
    case PointwiseKind::kSquareRoot:
    case PointwiseKind::kReciprocal:
      return {0.25, 4};
    case PointwiseKind::kPower:
      if (integers) return number == 0 ? Range{1, 5} : Range{0, 4};
      return number == 0 ? Range{0.25, 2} : Range{-1.5, 2.5};
    case PointwiseKind::kDivide:
    case PointwiseKind::kModulo:
      if (number == 1) return integers ? Range{1, 20} : Range{0.5, 2};
      return integers ? Range{0, 100} : Range{-4, 4};
    case PointwiseKind::kBitShift:
      return number == 1 ? Range{0, 3} : Range{0, 15};
    case PointwiseKind::kMultiply:
    case PointwiseKind::kAdd:
    case PointwiseKind::kSubtract:
    case PointwiseKind::kMean:
      if (integers && BitsPerElement(type) == 8) return {5, 10};
      return integers ? Range{-100, 100} : Range{-1, 1};
    case PointwiseKind::kArcSine:
    case PointwiseKind::kArcCosine:
    case PointwiseKind::kArcHyperbolicTangent:
      return {-0.95, 0.95};
    case PointwiseKind::kArcHyperbolicCosine:
      return {1.05, 5};
    case PointwiseKind::kTangent:
      return {-1.3, 1.3};
    case PointwiseKind::kQuantize:
      return {-1.5, 1.5};
    case PointwiseKind::kBitwiseAnd:
    case PointwiseKind::kBitwiseOr:
    case PointwiseKind::kBitwiseXor:
    case PointwiseKind::kBitwiseNot:
      return {0, 127};
    case PointwiseKind::kEqual:
      return integers ? Range{0, 4} : Range{-1, 1};
    case PointwiseKind::kDequantize:
    case PointwiseKind::kRequantize:
      if (BitsPerElement(type) > 8) return {-100, 100};
      return type == DataType::kU8 ? Range{0, 255} : Range{-128, 127};
    case PointwiseKind::kCast:
      return integers ? Range{0, 100} : Range{-100, 100};
    default:
      return integers ? Range{0, 100} : Range{-4, 4};
  }
}

void FillIndices(const MovementConfig& config, std::uint64_t seed, HostTensor& tensor) {
  const bool scatter = config.kind == MovementKind::kScatter;
  const Shape& moved = scatter && config.inputs.size() > 1 ? config.inputs[1] : config.outputs[0];
  const IndexedForm form = FormOf(config, config.inputs[0], moved);
  const std::int64_t range = form.axis_length;
  // A scatter's indices do not repeat as long as there are enough of them: steps of a unit of the range.
  std::int64_t step = range * 5 / 8 + 1;
  while (std::gcd(step, range) != 1) ++step;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    std::int64_t index =
        static_cast<std::int64_t>(HashOf(seed, static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(range));
    if (scatter) {
      std::int64_t place = i;
      if (form.kind == IndexedForm::Kind::kElements) place = i / std::max<std::int64_t>(1, form.inner) % form.picked;
      index = place % range * step % range;
    }
    tensor.Set(i, static_cast<double>(index));
  }
}

// The output's own pixels, each up to one element of the input beside its place, as a warp or an offset has them: how
// far apart neighbours read decides what the layer costs.
void FillGrid(const ResampleConfig& config, std::uint64_t seed, HostTensor& tensor) {
  const std::size_t rank = config.output.rank();
  const auto spatial = static_cast<std::int64_t>(rank) - 2;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const std::size_t d = rank - 1 - static_cast<std::size_t>(i % spatial);
    std::int64_t at = i / spatial;
    for (std::size_t inner = rank - 1; inner > d; --inner) at /= config.output.dims[inner];
    const auto out = static_cast<double>(config.output.dims[d]), in = static_cast<double>(config.input.dims[d]);
    const double beside = static_cast<double>(HashOf(seed, static_cast<std::uint64_t>(i)) % 4096) / 2048 - 1;
    tensor.Set(i, (2 * static_cast<double>(at % config.output.dims[d]) + 1) / out - 1 + 2 * beside / in);
  }
}

// Of each four elements along the depth two become zero, any two.
void MakeSparse(const Shape& b, std::uint64_t seed, HostTensor& tensor) {
  constexpr std::array<std::array<std::int64_t, 2>, 6> kPairs{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
  const std::int64_t columns = b.dims.back();
  for (std::int64_t i = 0; i < tensor.count() / 4; ++i) {
    const std::int64_t first = i / columns * 4 * columns + i % columns;
    for (const std::int64_t row : kPairs[HashOf(seed, static_cast<std::uint64_t>(i)) % kPairs.size()])
      tensor.Set(first + row * columns, 0);
  }
}

}  // namespace

void FillOperand(const LayerConfig& config, std::size_t number, std::uint64_t seed, HostTensor& tensor) {
  const std::uint64_t own_seed = HashOf(seed, 1000 + number);
  if (const auto* movement = std::get_if<MovementConfig>(&config)) {
    if (number >= movement->inputs.size()) return FillIndices(*movement, own_seed, tensor);
    if (movement->kind == MovementKind::kOneHot) {
      const Shape& output = movement->outputs[0];
      const double depth =
          static_cast<double>(ElementCount(output)) / static_cast<double>(std::max<std::int64_t>(1, tensor.count()));
      return FillUniform(tensor, own_seed, {-0.49, std::max(0.49, depth - 0.51)});
    }
  }
  if (const auto* resample = std::get_if<ResampleConfig>(&config); resample != nullptr && number == 1)
    return FillGrid(*resample, own_seed, tensor);
  Range range;
  if (IsInteger(tensor.type())) range = IntegerOperand(config, number, tensor.type());
  if (const auto* product = std::get_if<MatMulConfig>(&config); product != nullptr && product->scales.any()) {
    const Operand operand = OperandsOf(config)[number];
    const bool is_signed = operand.type == DataType::kS4 || operand.type == DataType::kS8;
    const double levels = std::exp2(BitsPerElement(operand.type));
    const std::size_t scales = product->bias == MatMulBias::kNone ? 2 : 3;
    if (IsInteger(operand.type)) range = {is_signed ? -levels / 2 : 0, is_signed ? levels / 2 - 1 : levels - 1};
    if (operand.type == DataType::kF4E2M1) range = {-6, 6};
    if (number >= scales && IsFloatingPoint(operand.type)) range = {0.01, 0.02};
  }
  if (const auto* pointwise = std::get_if<PointwiseConfig>(&config)) {
    range = PointwiseOperand(pointwise->kind, number, tensor.type());
  }
  if (const auto* reduction = std::get_if<ReductionConfig>(&config)) {
    const bool floats = IsFloatingPoint(tensor.type());
    if (reduction->kind == ReductionKind::kProduct) range = floats ? Range{0.9, 1.1} : Range{1, 2};
    if (reduction->kind == ReductionKind::kLogSum) range = {0.25, 1};
  }
  if (const auto* scan = std::get_if<ScanConfig>(&config)) {
    if (scan->kind == ScanKind::kProduct) range = IsFloatingPoint(tensor.type()) ? Range{0.95, 1.05} : Range{1, 1};
  }
  if (const auto* norm = std::get_if<NormalizationConfig>(&config)) {
    const std::size_t parameters = 1 + (norm->scale ? 1 : 0) + (norm->bias ? 1 : 0);
    if (number == parameters + 1) range = {0.5, 1.5};  // a variance
  }
  if (std::holds_alternative<SoftmaxConfig>(config)) range = {-4, 4};
  if (std::holds_alternative<RecurrentConfig>(config) && number > 0) range = {-0.25, 0.25};
  FillUniform(tensor, own_seed, range);
  if (const auto* product = std::get_if<MatMulConfig>(&config);
      product != nullptr && product->sparsity == Sparsity::kTwoOf4 && number == 1)
    MakeSparse(product->b, HashOf(own_seed, 1), tensor);
}

}  // namespace infimum::cpu
