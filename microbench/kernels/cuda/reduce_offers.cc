// Reductions: by rows where what is reduced lies together, by columns where what is kept does; long ones to few outputs
// in parts.
#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {
namespace {

// Integers exactly, but products and roots as f64: a product saturates, as a sum of 64 bits cannot.
std::optional<Arithmetic> SumArithmetic(const ReductionConfig& config) {
  if (const std::optional<Arithmetic> real = RealArithmetic(config.types.input)) return real;
  if (ElementOf(config.types.input) == Element::kNone) return std::nullopt;
  const bool is_plain = config.kind != ReductionKind::kProduct && config.kind != ReductionKind::kL2 &&
                        config.kind != ReductionKind::kLogSum && config.kind != ReductionKind::kLogSumExp;
  const bool exact = is_plain && IsInteger(config.types.input) && config.types.input != DataType::kU64;
  return exact ? Arithmetic::kS64 : Arithmetic::kF64;
}

bool CanTake(const ReduceCall& call, int width) {
  const bool by_rows = call.form == ReduceCall::Form::kRows;
  const Box& box = by_rows ? call.reduced : call.kept;
  const Steps &own = by_rows ? call.reduced_steps : call.kept_steps,
              &other = by_rows ? call.kept_steps : call.reduced_steps;
  const Box& other_box = by_rows ? call.kept : call.reduced;
  if (box.rank == 0 || own.at[0] != 1 || box.size[0].divisor % static_cast<std::uint32_t>(width) != 0) return false;
  for (int d = 1; d < box.rank; ++d) {
    if (own.at[d] % width != 0) return false;
  }
  for (int d = 0; d < other_box.rank; ++d) {
    if (other.at[d] % width != 0) return false;
  }
  return IsAligned(call.from, PackAlignment(call.element, width));
}

int WidthOf(const ReduceCall& call) {
  if (call.arithmetic != Arithmetic::kF32) return 1;
  const int whole = BytesOf(call.element) == 2 ? 8 : 4;
  for (int width = whole; width >= 4; width /= 2) {
    if (CanTake(call, width)) return width;
  }
  return 1;
}

KernelOffer OfferOf(const std::string& name, const ReduceCall& call, bool widens) {
  KernelOffer offer;
  offer.algorithm = "reduce:" + name;
  if (call.parts > 1) offer.scratch_bytes = std::int64_t{call.kept_count} * call.parts * kReduceStateBytes;
  offer.make = [call, widens](const KernelBuffers& buffers) {
    ReduceCall own = call;
    own.from = buffers.operands[0];
    own.to = buffers.outputs[0];
    own.states = buffers.scratch;
    own.width = widens ? WidthOf(own) : 1;
    std::vector<KernelCall> calls{own};
    if (own.parts > 1) {
      ReduceCall last = own;
      last.combines = true;
      last.from = own.states;
      last.form = ReduceCall::Form::kRows;
      last.threads = own.parts > 1024 ? 256 : 32;
      last.width = 1;
      calls.emplace_back(last);
    }
    return calls;
  };
  return offer;
}

}  // namespace

std::vector<KernelOffer> OffersFor(const ReductionConfig& config) {
  const std::optional<Arithmetic> arithmetic = SumArithmetic(config);
  if (!arithmetic || ElementOf(config.types.output) == Element::kNone) return {};
  Iteration kept{{}, {{}}}, reduced{{}, {{}}};
  const std::vector<std::int64_t> steps = PackedSteps(config.input.dims);
  for (std::size_t d = 0; d < config.input.rank(); ++d) {
    const bool is_reduced = std::ranges::find(config.axes, static_cast<std::int64_t>(d)) != config.axes.end();
    Iteration& own = is_reduced ? reduced : kept;
    own.dims.push_back(config.input.dims[d]);
    own.steps[0].push_back(steps[d]);
  }
  kept.Merge();
  reduced.Merge();
  const std::optional<Box> kept_box = BoxOf(kept.dims), reduced_box = BoxOf(reduced.dims);
  const std::optional<Steps> kept_steps = StepsOf(kept.steps[0]), reduced_steps = StepsOf(reduced.steps[0]);
  if (!kept_box || !reduced_box || !kept_steps || !reduced_steps) return {};
  auto call = CallOf<ReduceCall>(*arithmetic, config.types);
  call.kind = static_cast<ReduceKind>(config.kind);
  call.kept_count = static_cast<std::uint32_t>(kept.count());
  call.reduced_count = static_cast<std::uint32_t>(reduced.count());
  call.kept = *kept_box;
  call.reduced = *reduced_box;
  call.kept_steps = *kept_steps;
  call.reduced_steps = *reduced_steps;

  // Blocks enough for every multiprocessor of today's largest devices, each with some work.
  constexpr std::int64_t kEnoughBlocks = 1024;
  std::vector<KernelOffer> offers;
  const auto add = [&](const std::string& name, int threads, bool widens, std::int64_t parts = 1) {
    call.threads = threads;
    call.parts = static_cast<std::uint32_t>(parts);
    offers.push_back(OfferOf(name, call, widens));
  };
  const std::int64_t outputs = call.kept_count, length = call.reduced_count;
  const bool by_rows = reduced_box->rank > 0 && (kept_box->rank == 0 || reduced_steps->at[0] < kept_steps->at[0]);
  call.form = by_rows ? ReduceCall::Form::kRows : ReduceCall::Form::kColumns;
  if (by_rows) {
    if (length <= 64) add("thread", 1, true);
    if (length <= 16384) add("warp", 32, true);
    if (length >= 256) add("block", 256, true);
    if (length >= 8192) add("block1024", 1024, true);
    const bool is_mean = config.kind == ReductionKind::kMean, is_dense = kept_box->rank <= 1 &&
                                                                         reduced_box->rank == 1 &&
                                                                         (outputs == 1 || kept_steps->at[0] == length);
    if (is_dense && (is_mean || config.kind == ReductionKind::kSum)) {
      if (auto offer = MmaRowOffer("reduce:mma", config.types, outputs, length, false, is_mean))
        offers.push_back(std::move(*offer));
    }
    const std::int64_t parts = std::min(kEnoughBlocks / std::max<std::int64_t>(1, outputs), length / 4096);
    if (parts >= 2) add("split", 256, true, parts);
    return offers;
  }
  call.form = ReduceCall::Form::kColumns;
  const bool widens = WidthOf(call) > 1;
  if (length <= 64 || outputs >= 32768) add(widens ? "column1-wide" : "column1", 1, true);
  if (length > 64) add(widens ? "column32-wide" : "column32", 32, true);
  if (length > 1) add("column8", 8, false);
  if (length > 1 && widens) add("column8-wide", 8, true);
  const std::int64_t parts = std::min(kEnoughBlocks * 32 / std::max<std::int64_t>(32, outputs), length / 256);
  if (parts >= 2) {
    add("column8-split", 8, false, parts);
    if (widens) add("column8-wide-split", 8, true, parts);
  }
  return offers;
}

}  // namespace infimum::cuda
