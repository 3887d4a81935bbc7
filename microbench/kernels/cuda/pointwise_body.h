// What one thread of an element-wise kernel does: loads its elements of all operands, so that all are on their way at a
// time, then goes through the program's steps.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/step_math.h"

namespace infimum::cuda {

inline constexpr int kPointwiseThreads = 256;

template <int kWidth, class T>
INFIMUM_HOST_DEVICE inline void LoadOperand(const PointwiseCall::Operand& operand, const void* data, std::int64_t at,
                                            T (&values)[kWidth]) {
  if (operand.access == PointwiseCall::Access::kVector) {
    WithSource<T>(operand.element, [&](auto traits) { LoadPack<decltype(traits)>(data, at, values); });
    return;
  }
  WithSource<T>(operand.element, [&](auto traits) {
    using Traits = decltype(traits);
    const auto* from = static_cast<const typename Traits::Stored*>(data) + at;
    if (operand.access == PointwiseCall::Access::kOne) {
      const T value = Traits::template Read<T>(*from);
      INFIMUM_UNROLL
      for (int i = 0; i < kWidth; ++i) values[i] = value;
    } else {
      const std::int64_t step = operand.steps.at[0];
      INFIMUM_UNROLL
      for (int i = 0; i < kWidth; ++i) values[i] = Traits::template Read<T>(from[i * step]);
    }
  });
}

// At most kOperands operands, kWidth elements of each.
template <class T, int kWidth, int kOperands>
struct PointwiseThread {
  using Place = PointwiseCall::Place;

  // `call` without its addresses, which `data` has.
  INFIMUM_HOST_DEVICE static void Run(const PointwiseCall& call, const PointwiseData& data, std::int64_t thread) {
    const std::int64_t element = thread * kWidth;
    T x[kWidth] = {};
    if (element < call.count) Compute(call, data, element, true, x);
  }

  // The last step's result for `element` and the kWidth - 1 behind it; `stores`: writes the outputs.
  INFIMUM_HOST_DEVICE static void Compute(const PointwiseCall& call, const PointwiseData& data, std::int64_t element,
                                          bool stores, T (&x)[kWidth]) {
    T operand[kOperands][kWidth];
    Load(call, data, element, operand);
    T slot[PointwiseCall::kMostSlots][kWidth];
    T y[kWidth] = {}, z[kWidth] = {};
    INFIMUM_UNROLL
    for (int s = 0; s < call.steps; ++s) {
      const PointwiseCall::Step& step = call.step[s];
      // The others first: the accumulator may be one of them.
      Take(step.second, x, operand, slot, y);
      if (step.kind == StepKind::kWhere || step.kind == StepKind::kDynamicQuantize) {
        Take(step.third, x, operand, slot, z);
      }
      if (step.first != PointwiseCall::kAccumulator) Take(step.first, x, operand, slot, x);
      Apply<kWidth>(step, x, y, z);
      if (step.rounded != Element::kNone) RoundTo(step.rounded, x);
      if (step.save >= 0) {
        INFIMUM_UNROLL
        for (int i = 0; i < kWidth; ++i) slot[step.save][i] = x[i];
      }
      if (stores && step.output >= 0) {
        const PointwiseCall::Output& output = call.output[step.output];
        WithElement(output.element,
                    [&](auto traits) { StorePack<decltype(traits)>(data.output[step.output], element, x); });
      }
    }
  }

 private:
  INFIMUM_HOST_DEVICE static void Load(const PointwiseCall& call, const PointwiseData& data, std::int64_t element,
                                       T (&operand)[kOperands][kWidth]) {
    std::int64_t offset[kOperands] = {};
    if (call.box.rank <= 1) {
      INFIMUM_UNROLL
      for (int i = 0; i < kOperands; ++i) offset[i] = element * call.operand[i].steps.at[0];
    } else {
      auto number = static_cast<std::uint32_t>(element);
      INFIMUM_UNROLL
      for (int d = 0; d < kMostDims; ++d) {
        if (d >= call.box.rank) break;
        std::uint32_t rest = 0;
        if (d + 1 < call.box.rank) rest = call.box.size[d].DivideInto(number);
        INFIMUM_UNROLL
        for (int i = 0; i < kOperands; ++i) {
          offset[i] += static_cast<std::int64_t>(static_cast<std::int32_t>(number)) * call.operand[i].steps.at[d];
        }
        number = rest;
      }
    }
    INFIMUM_UNROLL
    for (int i = 0; i < kOperands; ++i) {
      if (i < call.operands) LoadOperand<kWidth>(call.operand[i], data.operand[i], offset[i], operand[i]);
    }
  }

  INFIMUM_HOST_DEVICE static void Take(Place place, const T (&accumulator)[kWidth],
                                       const T (&operand)[kOperands][kWidth],
                                       const T (&slot)[PointwiseCall::kMostSlots][kWidth], T (&to)[kWidth]) {
    if (place == PointwiseCall::kAccumulator) {
      INFIMUM_UNROLL
      for (int i = 0; i < kWidth; ++i) to[i] = accumulator[i];
    }
    // Registers have no addresses: each operand is compared with.
    INFIMUM_UNROLL
    for (int number = 0; number < kOperands; ++number) {
      if (place == PointwiseCall::OperandPlace(number)) {
        INFIMUM_UNROLL
        for (int i = 0; i < kWidth; ++i) to[i] = operand[number][i];
      }
    }
    if (place >= PointwiseCall::SlotPlace(0)) {
      INFIMUM_UNROLL
      for (int i = 0; i < kWidth; ++i) to[i] = slot[place - PointwiseCall::SlotPlace(0)][i];
    }
  }

  INFIMUM_HOST_DEVICE static void RoundTo(Element element, T (&x)[kWidth]) {
    WithElement(element, [&](auto traits) {
      using Traits = decltype(traits);
      INFIMUM_UNROLL
      for (int i = 0; i < kWidth; ++i) x[i] = Traits::template Read<T>(Traits::template Write<T>(x[i]));
    });
  }
};

// The kernels that there are: function(PointwiseThread<...>()), or false where none has as many operands at this width.
template <class Function>
inline bool WithPointwiseThread(const PointwiseCall& call, const Function& function) {
  const int operands = call.operands;
  switch (call.arithmetic) {
    case Arithmetic::kF32:
      if (call.width == 8 && operands <= 1) return function(PointwiseThread<float, 8, 1>()), true;
      if (call.width == 8 && operands <= 2) return function(PointwiseThread<float, 8, 2>()), true;
      if (call.width == 4 && operands <= 4) return function(PointwiseThread<float, 4, 4>()), true;
      if (call.width == 4) return function(PointwiseThread<float, 4, 8>()), true;
      if (call.width == 1) return function(PointwiseThread<float, 1, 8>()), true;
      return false;
    case Arithmetic::kF64:
      if (call.width == 2 && operands <= 4) return function(PointwiseThread<double, 2, 4>()), true;
      if (call.width == 1) return function(PointwiseThread<double, 1, 8>()), true;
      return false;
    case Arithmetic::kS64:
      if (call.width == 4 && operands <= 4) return function(PointwiseThread<std::int64_t, 4, 4>()), true;
      if (call.width == 1) return function(PointwiseThread<std::int64_t, 1, 8>()), true;
      return false;
  }
  return false;
}

}  // namespace infimum::cuda
