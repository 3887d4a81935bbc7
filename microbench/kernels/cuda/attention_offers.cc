// Attention in one pass, in f32 sums without Tensor Cores: for f32, which cuDNN's fused attention does not take, for
// head sizes and masks that it refuses, and for few queries against many keys, where only their memory counts.
#include <algorithm>
#include <cmath>

#include "microbench/kernels/cuda/attention_body.h"
#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {
namespace {

struct Form {
  int each, lanes, keys;

  int rows() const { return kAttentionThreads / lanes * each; }
};
// From many rows of a block to few; all that fit a block's memory are tried, but those with more rows than twice as
// many as there are.
constexpr Form kForms[] = {{4, 8, 32}, {4, 8, 16}, {2, 8, 32}, {2, 8, 16}, {1, 8, 32}, {1, 32, 32}};

std::optional<AttentionCall> CallFor(const AttentionConfig& config, const cpu::LayerValues& values) {
  const std::vector<Operand> operands = OperandsOfFamily(config);
  const std::int64_t value_head = config.value_head == 0 ? config.head : config.value_head;
  const std::int64_t rows = config.heads / config.kv_heads * config.q;
  const bool is_float32 =
      RealArithmetic(config.types.input) == Arithmetic::kF32 && RealArithmetic(config.types.output) == Arithmetic::kF32;
  const std::int64_t outputs = config.batch * config.kv_heads * rows * value_head;
  if (!is_float32 || values.quantized() || !FitsCount(outputs) || !FitsCount(config.kv * 64)) return std::nullopt;
  if (std::max(config.head, value_head) > 256) return std::nullopt;
  AttentionCall call;
  call.element = ElementOf(config.types.input);
  call.output_element = ElementOf(config.types.output);
  call.causal = config.mask == AttentionMask::kCausal;
  call.window = static_cast<std::uint32_t>(config.window);
  call.keys_transposed = values.keys_transposed;
  call.scale = static_cast<float>(values.scale.value_or(1 / std::sqrt(static_cast<double>(config.head))));
  call.mask_scale = static_cast<float>(values.mask_scale);
  const std::vector<Shape> masks = MaskShapes(config);
  if (masks.size() > AttentionCall::kMostMasks) return std::nullopt;
  for (const Shape& mask : masks) {
    if (!FitsCount(ElementCount(mask))) return std::nullopt;
    AttentionCall::Mask& own = call.mask[call.masks++];
    own.batches = FastDivisor(mask.dims[0]);
    own.batch_step = static_cast<std::uint32_t>(mask.dims[1] * mask.dims[2]);
    own.head_step = mask.dims[1] == 1 ? 0 : static_cast<std::uint32_t>(mask.dims[2]);
    own.query_step = mask.dims[2] == 1 ? 0 : 1;
  }
  if (!masks.empty()) call.mask_element = ElementOf(operands[3].type);
  if (!IsSource<float>(call.mask_element)) return std::nullopt;
  call.batch = static_cast<std::uint32_t>(config.batch);
  call.kv_heads = FastDivisor(config.kv_heads);
  call.group = static_cast<std::uint32_t>(config.heads / config.kv_heads);
  call.kv = static_cast<std::uint32_t>(config.kv);
  call.head = static_cast<std::uint32_t>(config.head);
  call.value_head = static_cast<std::uint32_t>(value_head);
  call.queries = FastDivisor(config.q);
  return call;
}

// Pointers, and loads as wide as they allow.
std::vector<KernelCall> Bound(AttentionCall call, const KernelBuffers& buffers) {
  call.q = buffers.operands[0];
  call.k = buffers.operands[1];
  call.v = buffers.operands[2];
  call.to = buffers.outputs[0];
  for (int i = 0; i < call.masks; ++i) call.mask[i].from = buffers.operands[static_cast<std::size_t>(3 + i)];
  const auto fits = [&](const void* from, std::uint32_t length) {
    return length % 4 == 0 && IsAligned(from, PackAlignment(call.element, 4));
  };
  const bool is_wide = fits(call.q, call.head) && fits(call.k, call.head) && fits(call.v, call.value_head);
  call.width = is_wide ? 4 : 1;
  call.head_units = FastDivisor(Divided(call.head, 4) * 4 / call.width);
  call.value_units = FastDivisor(Divided(call.value_head, 4) * 4 / call.width);
  if (call.parts == 1) return {call};
  call.states = static_cast<float*>(buffers.scratch);
  AttentionCombineCall combine;
  combine.output_element = call.output_element;
  combine.to = call.to;
  combine.states = call.states;
  combine.count = call.batch * call.kv_heads.divisor * call.group * call.queries.divisor * call.value_head;
  combine.value_head = FastDivisor(call.value_head);
  combine.parts = call.parts;
  return {call, combine};
}

}  // namespace

std::vector<KernelOffer> OffersFor(const AttentionConfig& config, const cpu::LayerValues& values) {
  const std::optional<AttentionCall> problem = CallFor(config, values);
  if (!problem) return {};
  const std::int64_t rows = std::int64_t{problem->group} * problem->queries.divisor;
  const std::int64_t heads = std::int64_t{problem->batch} * problem->kv_heads.divisor;
  std::vector<KernelOffer> offers;
  for (const Form& form : kForms) {
    AttentionCall call = *problem;
    call.each = form.each;
    call.lanes = form.lanes;
    call.keys = form.keys;
    while (call.columns * form.lanes < static_cast<int>(call.value_head)) call.columns *= 2;
    const bool is_last = form.lanes == 32;
    if (call.each * call.columns > 64) continue;  // registers
    if (AttentionSharedBytes(form.rows(), form.keys, call.columns * form.lanes, call.head) > kSharedBytes) continue;
    // Half of the rows at least are some; few rows are for few alone.
    if (!is_last && rows <= form.rows() / 2) continue;
    if (is_last && rows > 16 * form.rows()) continue;
    const std::int64_t tiles = Divided(rows, form.rows());
    if (!FitsCount(heads * tiles)) continue;
    call.tiles = FastDivisor(tiles);
    const std::string name = "attention:" + std::to_string(form.rows()) + "x" + std::to_string(form.keys);
    const auto add = [&](std::string algorithm, std::int64_t parts) {
      call.part_keys = static_cast<std::uint32_t>(Divided(Divided(call.kv, form.keys), parts) * form.keys);
      call.parts = static_cast<std::uint32_t>(Divided(call.kv, call.part_keys));
      const std::int64_t states = call.parts == 1 ? 0 : heads * rows * call.parts * (2 + call.value_head);
      offers.push_back(
          {std::move(algorithm), 4 * states, [call](const KernelBuffers& buffers) { return Bound(call, buffers); }});
    };
    add(name, 1);
    const std::int64_t parts = std::min(Divided(kManyBlocks, heads * tiles), Divided(call.kv, 4 * form.keys));
    if (parts > 1) add(name + "-split", std::min<std::int64_t>(parts, 256));
  }
  return offers;
}

}  // namespace infimum::cuda
