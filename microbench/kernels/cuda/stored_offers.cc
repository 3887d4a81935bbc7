// Products of few rows with weights of 4 or 8 bits, as decoding a language model has them: only the weights' memory
// counts. The integers are multiplied with f32 sums, each block's sum by its scale.
#include <algorithm>

#include "microbench/kernels/cuda/call_building.h"
#include "microbench/kernels/cuda/stored_body.h"

namespace infimum::cuda {
namespace {

// From here on Tensor Cores on dequantized weights are the better way.
constexpr std::uint32_t kMostRows = 64;

std::optional<StoredNumber> NumberOf(DataType type) {
  const int bits = BitsPerElement(type);
  switch (type) {
    case DataType::kF8E4M3:
      return StoredNumber::kF8E4M3;
    case DataType::kF8E5M2:
      return StoredNumber::kF8E5M2;
    case DataType::kF8E8M0:
      return StoredNumber::kF8E8M0;
    case DataType::kF4E2M1:
      return StoredNumber::kF4E2M1;
    default:
      return IsInteger(type) && (bits == 4 || bits == 8) ? std::optional(StoredNumber::kInteger) : std::nullopt;
  }
}

// nullopt where a kernel cannot read the weights as they are stored.
std::optional<StoredProductCall> CallFor(const MatMulConfig& config) {
  const OperandTypes& types = config.types;
  const BlockScales& scales = config.scales;
  const int bits = BitsPerElement(types.weights);
  const std::size_t rank = config.b.rank();
  const std::int64_t depth = config.b.dims[rank - 2], columns = config.b.dims[rank - 1];
  const std::int64_t rows = ElementCount(config.a) / depth;
  const auto is_float32 = [](DataType type) { return RealArithmetic(type) == Arithmetic::kF32; };
  if (config.weights != Constness::kConstant || ElementCount(config.b) != depth * columns) return std::nullopt;
  const std::optional<StoredNumber> number = NumberOf(types.weights);
  const StoredNumber of_scales = NumberOf(scales.type).value_or(StoredNumber::kInteger);
  if (!number || *number == StoredNumber::kF8E8M0 || !is_float32(types.input) || !is_float32(types.output))
    return std::nullopt;
  if (scales.any() && !is_float32(scales.type) && of_scales != StoredNumber::kF8E4M3 &&
      of_scales != StoredNumber::kF8E8M0)
    return std::nullopt;
  const bool may_have_zeros = *number == StoredNumber::kInteger;
  if (scales.zero_points != DataType::kNone && (!may_have_zeros || scales.zero_points != types.weights))
    return std::nullopt;
  // A single scale for all is a value: it is a factor of the result.
  const bool is_one_block = !scales.any() || scales.rows >= depth;
  if ((scales.any() && scales.columns != 1) || depth % kStoredStep != 0 || columns % kStoredColumns != 0)
    return std::nullopt;
  if ((!is_one_block && scales.rows % kStoredStep != 0) || !FitsCount(depth * 2)) return std::nullopt;
  if (!FitsCount(columns * kMostRows * 2) || !FitsCount(rows)) return std::nullopt;
  StoredProductCall call;
  call.bits = bits;
  call.number = *number;
  call.scale_number = of_scales;
  call.is_signed = types.weights == DataType::kS4 || types.weights == DataType::kS8;
  call.has_zeros = scales.zero_points != DataType::kNone;
  call.element = ElementOf(types.input);
  call.output_element = ElementOf(types.output);
  call.scale_element = ElementOf(scales.type);
  if (config.bias != MatMulBias::kNone) call.bias_element = ElementOf(OperandsOfFamily(config)[2].type);
  if (config.bias == MatMulBias::kFull) call.bias_step = static_cast<std::uint32_t>(columns);
  call.rows = static_cast<std::uint32_t>(rows);
  call.depth = static_cast<std::uint32_t>(depth);
  call.columns = static_cast<std::uint32_t>(columns);
  call.block = static_cast<std::uint32_t>(is_one_block ? depth : scales.rows);
  call.tiles = FastDivisor(Divided(columns, kStoredTile));
  return call;
}

// Constants are aligned; what other layers made need not be.
std::vector<KernelCall> Bound(StoredProductCall call, const KernelBuffers& buffers) {
  const bool has_bias = call.bias_element != Element::kNone;
  const std::size_t scales = has_bias ? 3 : 2;
  call.from = buffers.operands[0];
  call.weights = buffers.operands[1];
  if (has_bias) call.bias = buffers.operands[2];
  if (buffers.operands.size() > scales) call.scales = buffers.operands[scales];
  if (call.has_zeros) call.zeros = buffers.operands[scales + 1];
  call.to = buffers.outputs[0];
  call.is_aligned = IsAligned(call.from, PackAlignment(call.element, kStoredStep));
  if (call.parts == 1) return {call};
  call.states = static_cast<float*>(buffers.scratch);
  StoredProductCall combine = call;
  combine.combines = true;
  return {call, combine};
}

}  // namespace

std::vector<KernelOffer> OffersFor(const MatMulConfig& config, const cpu::LayerValues& values) {
  std::optional<StoredProductCall> call = CallFor(config);
  if (!call || values.quantized() || call->rows > kMostRows) return {};
  std::vector<KernelOffer> offers;
  for (const int rows : {1, 2, 4, 8}) {
    // As many as there are or the next power of two, and half of that.
    if (rows > 1 && call->rows <= static_cast<std::uint32_t>(rows / 2)) continue;
    if (rows < 8 && call->rows > static_cast<std::uint32_t>(2 * rows)) continue;
    call->rows_each = rows;
    const std::int64_t blocks = Divided(call->rows, rows) * call->tiles.divisor;
    const auto add = [&](std::string algorithm, std::int64_t parts) {
      constexpr std::int64_t kEach = kStoredStep * kStoredWarps;
      call->part_depth = static_cast<std::uint32_t>(Divided(Divided(call->depth, kEach), parts) * kEach);
      call->parts = static_cast<std::uint32_t>(Divided(call->depth, call->part_depth));
      const std::int64_t states = call->parts == 1 ? 0 : std::int64_t{call->parts} * call->rows * call->columns;
      offers.push_back({std::move(algorithm), 4 * states,
                        [own = *call](const KernelBuffers& buffers) { return Bound(own, buffers); }});
    };
    const std::string name = "stored:rows" + std::to_string(rows);
    add(name, 1);
    std::uint32_t before = call->parts;
    for (const int share : {1, 4}) {
      const std::int64_t parts = std::min(Divided(share * kManyBlocks, blocks), Divided(call->depth, 64));
      if (parts <= before) continue;
      add(name + (share == 1 ? "-split" : "-split4"), parts);
      before = static_cast<std::uint32_t>(parts);
    }
  }
  return offers;
}

std::optional<KernelOffer> DequantizationOf(const MatMulConfig& config) {
  std::optional<StoredProductCall> call = CallFor(config);
  // Numbers that are rounded to the type of a are near enough for results of that type.
  if (!call || config.types.input != config.types.output) return std::nullopt;
  call->expands = true;
  call->output_element = call->element;
  return KernelOffer{"stored:expand", 0, [own = *call](const KernelBuffers& buffers) {
                       StoredProductCall made = own;
                       made.weights = buffers.operands[0];
                       if (buffers.operands.size() > 1) made.scales = buffers.operands[1];
                       if (made.has_zeros) made.zeros = buffers.operands[2];
                       made.to = buffers.outputs[0];
                       return std::vector<KernelCall>{made};
                     }};
}

std::vector<KernelOffer> BlockQuantizeOffers(const Region& region, const std::vector<cpu::LayerValues>& values) {
  const std::vector<RegionMember>& members = region.members;
  if (members.size() != 3 || region.outputs != std::vector<std::int64_t>{1, 2}) return {};
  const auto* largest = std::get_if<ReductionConfig>(&members[0].config);
  const auto* scale = std::get_if<PointwiseConfig>(&members[1].config);
  const auto* divide = std::get_if<PointwiseConfig>(&members[2].config);
  const auto result = [](std::int64_t member) { return RegionOperand{RegionOperand::Source::kMember, member}; };
  if (largest == nullptr || scale == nullptr || divide == nullptr || largest->kind != ReductionKind::kMaxAbs ||
      scale->kind != PointwiseKind::kQuantize || divide->kind != PointwiseKind::kDivide ||
      members[1].operands[0] != result(0) || members[2].operands[0] != members[0].operands[0] ||
      members[2].operands[1] != result(1))
    return {};
  const Shape& input = largest->input;
  if (input.rank() != 2 || largest->axes != std::vector<std::int64_t>{1} || divide->inputs[0] != input ||
      divide->inputs[1] != Shape{{input.dims[0], 1}} || input.dims[1] % kStoredStep != 0 ||
      !FitsCount(ElementCount(input)))
    return {};
  const std::optional<StoredNumber> number = NumberOf(divide->types.output), of_scale = NumberOf(scale->types.output);
  const auto is_float = [](std::optional<StoredNumber> one) { return one && *one != StoredNumber::kInteger; };
  const DataType from = largest->types.input;
  if (!is_float(number) || *number == StoredNumber::kF8E8M0 || !is_float(of_scale) ||
      *of_scale == StoredNumber::kF4E2M1 || RealArithmetic(from) != Arithmetic::kF32 || largest->types.output != from)
    return {};
  const cpu::Quantization stored =
      cpu::OutputQuantization(scale->kind, scale->types, values.size() > 1 ? values[1] : cpu::LayerValues());
  if (stored.scales.size() != 1 || stored.zero() != 0) return {};
  BlockQuantizeCall call;
  call.element = ElementOf(from);
  call.number = *number;
  call.scale_number = *of_scale;
  call.blocks = static_cast<std::uint32_t>(input.dims[0]);
  call.block = static_cast<std::uint32_t>(input.dims[1]);
  call.unit = static_cast<float>(stored.scale());
  return {{"quantize:blocks", 0, [call](const KernelBuffers& buffers) {
             BlockQuantizeCall made = call;
             made.from = buffers.operands[0];
             made.scales = static_cast<std::uint8_t*>(buffers.outputs[0]);
             made.to = buffers.outputs[1];
             made.is_aligned = IsAligned(made.from, PackAlignment(made.element, kStoredStep));
             return std::vector<KernelCall>{made};
           }}};
}

}  // namespace infimum::cuda
