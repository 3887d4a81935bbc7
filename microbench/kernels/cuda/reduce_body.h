// What one thread of a reduction does, and how the states of threads, warps and parts become one.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/real_math.h"
#include "microbench/kernels/cuda/row_call.h"

namespace infimum::cuda {

inline constexpr int kReduceThreads = 256;

// log_sum_exp: the maximum in value, the sum of exponentials below it in extra. arg_*: the extreme and where it is.
template <class T>
struct ReduceState {
  T value;
  T extra;
  std::int64_t at;
};
static_assert(sizeof(ReduceState<double>) == kReduceStateBytes);

template <class T>
struct Extremes {
  INFIMUM_HOST_DEVICE static T Least() { return -static_cast<T>(HUGE_VAL); }
  INFIMUM_HOST_DEVICE static T Most() { return static_cast<T>(HUGE_VAL); }
};
template <>
struct Extremes<std::int64_t> {
  INFIMUM_HOST_DEVICE static std::int64_t Least() { return INT64_MIN; }
  INFIMUM_HOST_DEVICE static std::int64_t Most() { return INT64_MAX; }
};

template <class T>
INFIMUM_HOST_DEVICE inline ReduceState<T> EmptyState(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kMax:
    case ReduceKind::kArgMax:
    case ReduceKind::kLogSumExp:
      return {Extremes<T>::Least(), 0, INT64_MAX};
    case ReduceKind::kMin:
    case ReduceKind::kArgMin:
      return {Extremes<T>::Most(), 0, INT64_MAX};
    case ReduceKind::kProduct:
      return {1, 0, 0};
    default:
      return {0, 0, 0};
  }
}

// Sums of integers wrap.
template <class T>
INFIMUM_HOST_DEVICE inline T Sum(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}
template <class T>
INFIMUM_HOST_DEVICE inline T Product(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class T>
INFIMUM_HOST_DEVICE inline ReduceState<T> Combine(ReduceKind kind, const ReduceState<T>& x, const ReduceState<T>& y) {
  switch (kind) {
    case ReduceKind::kMax:
      return {Max(x.value, y.value), 0, 0};
    case ReduceKind::kMin:
      return {Min(x.value, y.value), 0, 0};
    case ReduceKind::kProduct:
      return {Product(x.value, y.value), 0, 0};
    case ReduceKind::kArgMax:
      return y.value > x.value || (y.value == x.value && y.at < x.at) ? y : x;
    case ReduceKind::kArgMin:
      return y.value < x.value || (y.value == x.value && y.at < x.at) ? y : x;
    case ReduceKind::kLogSumExp:
      if constexpr (!std::is_same_v<T, std::int64_t>) {
        const T largest = Max(x.value, y.value);
        if (largest == Extremes<T>::Least()) return x;
        return {largest, x.extra * Exp(x.value - largest) + y.extra * Exp(y.value - largest), 0};
      }
      return x;
    default:
      return {Sum(x.value, y.value), 0, 0};
  }
}

// Neighbouring elements of one reduction, the first of which is number `at`.
template <int kWidth, class T>
INFIMUM_HOST_DEVICE inline void Accumulate(ReduceKind kind, const T (&x)[kWidth], std::int64_t at,
                                           ReduceState<T>& state) {
  switch (kind) {
    case ReduceKind::kMax:
      INFIMUM_UNROLL
      for (int e = 0; e < kWidth; ++e) state.value = Max(state.value, x[e]);
      return;
    case ReduceKind::kMin:
      INFIMUM_UNROLL
      for (int e = 0; e < kWidth; ++e) state.value = Min(state.value, x[e]);
      return;
    case ReduceKind::kProduct:
      INFIMUM_UNROLL
      for (int e = 0; e < kWidth; ++e) state.value = Product(state.value, x[e]);
      return;
    case ReduceKind::kL1:
      INFIMUM_UNROLL
      for (int e = 0; e < kWidth; ++e) state.value = Sum(state.value, Abs(x[e]));
      return;
    case ReduceKind::kL2:
    case ReduceKind::kSumSquare:
      INFIMUM_UNROLL
      for (int e = 0; e < kWidth; ++e) state.value = Sum(state.value, Product(x[e], x[e]));
      return;
    case ReduceKind::kArgMax:
      INFIMUM_UNROLL
      for (int e = 0; e < kWidth; ++e) state = Combine(kind, state, ReduceState<T>{x[e], 0, at + e});
      return;
    case ReduceKind::kArgMin:
      INFIMUM_UNROLL
      for (int e = 0; e < kWidth; ++e) state = Combine(kind, state, ReduceState<T>{x[e], 0, at + e});
      return;
    case ReduceKind::kLogSumExp:
      if constexpr (!std::is_same_v<T, std::int64_t>) {
        T largest = state.value;
        INFIMUM_UNROLL
        for (int e = 0; e < kWidth; ++e) largest = Max(largest, x[e]);
        if (largest == Extremes<T>::Least()) return;
        T sum = state.extra * Exp(state.value - largest);
        INFIMUM_UNROLL
        for (int e = 0; e < kWidth; ++e) sum += Exp(x[e] - largest);
        state.value = largest;
        state.extra = sum;
      }
      return;
    default:
      INFIMUM_UNROLL
      for (int e = 0; e < kWidth; ++e) state.value = Sum(state.value, x[e]);
      return;
  }
}

// The result of a whole reduction, stored.
template <class T>
INFIMUM_HOST_DEVICE inline void StoreResult(const ReduceCall& call, std::uint32_t output, const ReduceState<T>& state) {
  T value = state.value;
  if (call.kind == ReduceKind::kArgMax || call.kind == ReduceKind::kArgMin) {
    return StoreOne<std::int64_t>(call.to, call.output_element, output, state.at);
  }
  if (call.kind == ReduceKind::kMean) {
    value = value / static_cast<T>(call.reduced_count);
    // A mean of integers is cut off, as their division is.
    if constexpr (std::is_same_v<T, double>) {
      if (call.output_element > Element::kBF16) value = Truncate(value);
    }
  }
  if constexpr (!std::is_same_v<T, std::int64_t>) {
    if (call.kind == ReduceKind::kL2) value = Sqrt(value);
    if (call.kind == ReduceKind::kLogSum) value = Log(value);
    if (call.kind == ReduceKind::kLogSumExp) value = state.value + Log(state.extra);
  }
  StoreOne<T>(call.to, call.output_element, output, value);
}

// The elements of part `part`: from begin to end, whole widths but the last.
struct PartRange {
  std::uint32_t begin, end;
};
INFIMUM_HOST_DEVICE inline PartRange RangeOf(const ReduceCall& call, std::uint32_t part, int width) {
  const std::uint32_t packs = call.reduced_count / static_cast<std::uint32_t>(width);
  const std::uint32_t each = (packs + call.parts - 1) / call.parts * static_cast<std::uint32_t>(width);
  const std::uint64_t begin = std::uint64_t{part} * each, end = begin + each;
  const std::uint64_t count = call.reduced_count;
  return {static_cast<std::uint32_t>(begin < count ? begin : count),
          static_cast<std::uint32_t>(end < count ? end : count)};
}

// Form kRows: thread `thread` of call.threads on one output, or on one part of it.
template <class T, int kWidth>
INFIMUM_HOST_DEVICE inline ReduceState<T> ReduceRow(const ReduceCall& call, std::uint32_t output, std::uint32_t part,
                                                    int thread) {
  ReduceState<T> state = EmptyState<T>(call.kind);
  if (call.combines) {
    const auto* states = static_cast<const ReduceState<T>*>(call.from) + std::int64_t{output} * call.parts;
    for (std::uint32_t i = static_cast<std::uint32_t>(thread); i < call.parts;
         i += static_cast<std::uint32_t>(call.threads)) {
      state = Combine(call.kind, state, states[i]);
    }
    return state;
  }
  const std::int64_t base = OffsetOf(call.kept, call.kept_steps, output);
  const PartRange range = RangeOf(call, part, kWidth);
  const auto stride = static_cast<std::uint32_t>(call.threads * kWidth);
  for (std::uint64_t i = range.begin + static_cast<std::uint32_t>(thread * kWidth); i < range.end; i += stride) {
    T x[kWidth];
    const std::int64_t at = base + OffsetOf(call.reduced, call.reduced_steps, static_cast<std::uint32_t>(i));
    WithSource<T>(call.element, [&](auto traits) { LoadPack<decltype(traits)>(call.from, at, x); });
    Accumulate(call.kind, x, static_cast<std::int64_t>(i), state);
  }
  return state;
}

// Form kColumns: `kWidth` neighbouring outputs from `output` on.
template <class T, int kWidth>
INFIMUM_HOST_DEVICE inline void ReduceColumn(const ReduceCall& call, std::uint32_t output, std::uint32_t part,
                                             int thread, ReduceState<T> (&state)[kWidth]) {
  INFIMUM_UNROLL
  for (int e = 0; e < kWidth; ++e) state[e] = EmptyState<T>(call.kind);
  if (output >= call.kept_count) return;
  const std::int64_t base = OffsetOf(call.kept, call.kept_steps, output);
  const PartRange range = RangeOf(call, part, 1);
  for (std::uint64_t i = range.begin + static_cast<std::uint32_t>(thread); i < range.end;
       i += static_cast<std::uint32_t>(call.threads)) {
    T x[kWidth];
    const std::int64_t at = base + OffsetOf(call.reduced, call.reduced_steps, static_cast<std::uint32_t>(i));
    WithSource<T>(call.element, [&](auto traits) { LoadPack<decltype(traits)>(call.from, at, x); });
    INFIMUM_UNROLL
    for (int e = 0; e < kWidth; ++e) {
      const T one[1] = {x[e]};
      Accumulate(call.kind, one, static_cast<std::int64_t>(i), state[e]);
    }
  }
}

// A complete state of one output, or of one part: where it goes.
template <class T>
INFIMUM_HOST_DEVICE inline void Leave(const ReduceCall& call, std::uint32_t output, std::uint32_t part,
                                      const ReduceState<T>& state) {
  if (call.parts > 1 && !call.combines) {
    static_cast<ReduceState<T>*>(call.states)[std::int64_t{output} * call.parts + part] = state;
  } else {
    StoreResult(call, output, state);
  }
}

template <class Function>
inline bool WithReduceThread(const ReduceCall& call, const Function& function) {
  const bool is_single = call.width == 1;
  switch (call.arithmetic) {
    case Arithmetic::kF32:
      if (call.width == 8) return function(float{}, std::integral_constant<int, 8>()), true;
      if (call.width == 4) return function(float{}, std::integral_constant<int, 4>()), true;
      if (is_single) return function(float{}, std::integral_constant<int, 1>()), true;
      return false;
    case Arithmetic::kF64:
      if (is_single) return function(double{}, std::integral_constant<int, 1>()), true;
      return false;
    default:
      if (is_single) return function(std::int64_t{}, std::integral_constant<int, 1>()), true;
      return false;
  }
}

}  // namespace infimum::cuda
