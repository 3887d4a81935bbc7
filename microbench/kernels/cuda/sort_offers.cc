// Sorts and top-k: lines of up to some thousand elements in one launch, longer ones in pieces that are merged.
#include <bit>

#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {
namespace {

// The sort, then merges until each line is one run. Runs lie in the two halves of the scratch memory in turn.
std::vector<KernelCall> Bound(SortCall call, std::int64_t half, const KernelBuffers& buffers) {
  call.from = buffers.operands[0];
  call.to = buffers.outputs[0];
  call.places = static_cast<std::int64_t*>(buffers.outputs[1]);
  auto* const scratch = static_cast<char*>(buffers.scratch);
  std::vector<KernelCall> calls;
  for (std::uint32_t runs = call.pieces.divisor;;) {
    const bool is_last = runs == 1;
    call.left = is_last ? nullptr : scratch + (calls.size() % 2 == 0 ? 0 : half);
    calls.emplace_back(call);
    if (is_last) return calls;
    call.merges = true;
    call.pieces = FastDivisor(runs);
    call.runs = call.left;
    call.run = call.merged;
    call.merged = std::min(2 * call.run, call.kept);
    runs = (runs + 1) / 2;
  }
}

}  // namespace

std::vector<KernelOffer> OffersFor(const SortConfig& config) {
  const std::optional<Arithmetic> real = RealArithmetic(config.types.input);
  const bool is_ordered = real || (IsInteger(config.types.input) && config.types.input != DataType::kU64);
  auto call = CallOf<SortCall>(real.value_or(Arithmetic::kS64), config.types);
  const cpu::AxisLines lines = cpu::LinesOf(config.input, config.axis);
  const std::int64_t count = lines.outer * lines.inner;
  if (!is_ordered || call.element == Element::kNone || call.output_element == Element::kNone) return {};
  if (!FitsCount(2 * count * lines.length)) return {};
  call.descends = config.kind == SortKind::kTopK;
  call.lines = static_cast<std::uint32_t>(count);
  call.length = static_cast<std::uint32_t>(lines.length);
  call.kept = static_cast<std::uint32_t>(config.k);
  call.inner = FastDivisor(lines.inner);
  std::vector<KernelOffer> offers;
  for (const std::uint32_t entries : {512U, 1024U, 2048U, 4096U}) {
    const std::int64_t bytes = SortEntryBytes(call.arithmetic);
    if (entries * bytes > kSharedBytes) continue;
    call.entries = entries;
    call.piece = std::min(entries, std::max(2U, std::bit_ceil(call.length)));
    call.pieces = FastDivisor(Divided(call.length, call.piece));
    call.merged = std::min(call.piece, call.kept);
    const std::uint32_t pieces = call.pieces.divisor;
    // Runs without a neighbour are filled up: merges leave as much as of the next power of two.
    const std::int64_t half = pieces == 1 ? 0 : bytes * count * std::bit_ceil(pieces) * call.merged;
    offers.push_back({"sort:" + std::to_string(entries), 2 * half,
                      [own = call, half](const KernelBuffers& buffers) { return Bound(own, half, buffers); }});
    // Blocks that are mostly empty.
    if (std::int64_t{entries} >= count * pieces * call.piece) break;
  }
  return offers;
}

}  // namespace infimum::cuda
