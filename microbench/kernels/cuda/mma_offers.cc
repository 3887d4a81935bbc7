// Rows of f16 and bf16 whose sums Tensor Cores make.
#include "microbench/kernels/cuda/call_building.h"
#include "microbench/kernels/cuda/mma_call.h"

namespace infimum::cuda {

std::optional<KernelOffer> MmaRowOffer(std::string algorithm, const OperandTypes& types, std::int64_t rows,
                                       std::int64_t length, bool scans, bool is_mean) {
  MmaRowCall call;
  call.element = ElementOf(types.input);
  call.output_element = ElementOf(types.output);
  const bool is_half = call.element == Element::kF16 || call.element == Element::kBF16;
  if (!is_half || RealArithmetic(types.output) != Arithmetic::kF32 || length % 8 != 0 || rows < kMmaRows) return {};
  if (!FitsCount(rows * length)) return {};
  call.scans = scans;
  call.rows = static_cast<std::uint32_t>(rows);
  call.length = static_cast<std::uint32_t>(length);
  call.divisor = is_mean ? static_cast<float>(length) : 1;
  return KernelOffer{std::move(algorithm), 0, [call](const KernelBuffers& buffers) {
                       MmaRowCall own = call;
                       own.from = buffers.operands[0];
                       own.to = buffers.outputs[0];
                       own.is_aligned = IsAligned(own.from, 16);
                       return std::vector<KernelCall>{own};
                     }};
}

}  // namespace infimum::cuda
