// What all makers of calls need: element types, boxes and steps from dimensions that are counted from the outermost,
// and whether addresses allow wide loads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "microbench/kernels/cuda/kernel_offers.h"
#include "microbench/reference/index_map.h"

namespace infimum::cuda {

// kNone for what kernels do not compute with (4 bits, 8-bit floats).
Element ElementOf(DataType type);

// Whole bytes of one element; 0 where there are none.
int ElementBytes(DataType type);

// In what an element-wise layer or a reduction of this input computes; nullopt where it cannot be.
std::optional<Arithmetic> RealArithmetic(DataType type);  // of floating point types alone

using cpu::PackedSteps;

// Dimensions with steps of several tensors, all outermost first. Tensors are numbered; `steps[tensor][dimension]`.
struct Iteration {
  std::vector<std::int64_t> dims;
  std::vector<std::vector<std::int64_t>> steps;

  std::int64_t count() const;
  // Drops dimensions of one and joins neighbours whose steps agree in every tensor; those in `kept` stay apart. What
  // `kept` says is moved along with the dimensions.
  void Merge(std::vector<bool>* kept = nullptr);
};

// Row-major steps; 0 where an operand of fewer dimensions, or with ones, is repeated in `dims`.
std::vector<std::int64_t> BroadcastSteps(const Shape& operand, const std::vector<std::int64_t>& dims);

// As calls have them, innermost first. nullopt: too many dimensions, 2^31 elements or steps.
std::optional<Box> BoxOf(const std::vector<std::int64_t>& dims);
std::optional<Steps> StepsOf(const std::vector<std::int64_t>& steps);

inline bool IsAligned(const void* address, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(bytes) == 0;
}
// How a pack of `width` elements has to be aligned.
inline std::int64_t PackAlignment(Element element, int width) {
  return std::min<std::int64_t>(16, std::int64_t{BytesOf(element)} * width);
}
// A call that computes in `arithmetic`, from the layer's input to its output.
template <class Call>
Call CallOf(Arithmetic arithmetic, const OperandTypes& types) {
  Call call;
  call.arithmetic = arithmetic;
  call.element = ElementOf(types.input);
  call.output_element = ElementOf(types.output);
  return call;
}
// One call, from a layer's first operand to its first output.
template <class Call>
KernelOffer OneCall(std::string algorithm, const Call& call) {
  const auto make = [call](const KernelBuffers& buffers) {
    Call own = call;
    own.from = buffers.operands[0];
    own.to = buffers.outputs[0];
    return std::vector<KernelCall>{own};
  };
  return {std::move(algorithm), 0, make};
}
// What every device here has for a block without asking.
inline constexpr std::int64_t kSharedBytes = std::int64_t{48} << 10;

// Blocks that fill the largest device, four on each of its processors; where there are fewer, sums are cut into parts.
inline constexpr std::int64_t kManyBlocks = 592;

// Rows of 16 or more, each behind the other; nullopt for other types than f16 and bf16, or lengths that 8 does not
// divide.
std::optional<KernelOffer> MmaRowOffer(std::string algorithm, const OperandTypes& types, std::int64_t rows,
                                       std::int64_t length, bool scans, bool is_mean);

inline bool FitsCount(std::int64_t count) { return count < (std::int64_t{1} << 31); }

// By family; KernelsFor chooses.
std::vector<KernelOffer> OffersFor(const AttentionConfig& config, const cpu::LayerValues& values);
std::vector<KernelOffer> OffersFor(const MatMulConfig& config, const cpu::LayerValues& values);
std::vector<KernelOffer> OffersFor(const MovementConfig& config, const cpu::LayerValues& values);
std::vector<KernelOffer> OffersFor(const ReorderConfig& config);
std::vector<KernelOffer> OffersFor(const PointwiseConfig& config, const cpu::LayerValues& values);
std::vector<KernelOffer> OffersFor(const ReductionConfig& config);
std::vector<KernelOffer> OffersFor(const ScanConfig& config);
std::vector<KernelOffer> OffersFor(const SortConfig& config);
std::vector<KernelOffer> OffersFor(const SoftmaxConfig& config);
std::vector<KernelOffer> OffersFor(const NormalizationConfig& config, const cpu::LayerValues& values);
std::vector<KernelOffer> OffersFor(const PoolingConfig& config, const cpu::LayerValues& values);
std::vector<KernelOffer> OffersFor(const ResampleConfig& config, const cpu::LayerValues& values);

}  // namespace infimum::cuda
