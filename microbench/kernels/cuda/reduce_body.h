// What one thread of a reduction does, and how the states of threads, warps and parts become one.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/real_math.h"
#include "microbench/kernels/cuda/row_call.h"

namespace infimum::cuda {

inline constexpr int kReduceThreads = 256;

using formulas::Combined, formulas::Fold, formulas::Square, formulas::StartOf;

// log_sum_exp: the maximum in value, the sum of exponentials below it in extra. arg_*: the extreme and where it is.
template <class T>
struct ReduceState {
  T value;
  T extra;
  std::int64_t at;
};
static_assert(sizeof(ReduceState<double>) == kReduceStateBytes);

// A case of the switches over the kinds.
#define INFIMUM_CASE(kind, ...) \
  case ReduceKind::kind:        \
    return __VA_ARGS__;

template <class T>
INFIMUM_HOST_DEVICE inline ReduceState<T> EmptyState(ReduceKind kind) {
  switch (kind) {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) \
  INFIMUM_CASE(kind, {StartOf<T>(Fold::fold), 0, 0})
#define INFIMUM_EXPONENTIAL_REDUCTION(kind, ...) INFIMUM_CASE(kind, {StartOf<T>(Fold::kMaximum), 0, 0})
#define INFIMUM_ARGUMENT(kind, name, fold) INFIMUM_CASE(kind, {StartOf<T>(Fold::fold), 0, INT64_MAX})
#include "src/core/layer/reduction_kinds.def"
  }
  return {};
}

// The first of equal extremes.
template <Fold kFold, class T>
INFIMUM_HOST_DEVICE inline ReduceState<T> FirstExtreme(const ReduceState<T>& x, const ReduceState<T>& y) {
  const bool is_beyond = kFold == Fold::kMaximum ? y.value > x.value : y.value < x.value;
  return is_beyond || (y.value == x.value && y.at < x.at) ? y : x;
}

template <class T>
INFIMUM_HOST_DEVICE inline ReduceState<T> SumOfExponentials(const ReduceState<T>& x, const ReduceState<T>& y) {
  if constexpr (!std::is_same_v<T, std::int64_t>) {
    const T largest = Max(x.value, y.value);
    if (largest == StartOf<T>(Fold::kMaximum)) return x;
    return {largest, x.extra * Exp(x.value - largest) + y.extra * Exp(y.value - largest), 0};
  }
  return x;
}

template <class T>
INFIMUM_HOST_DEVICE inline ReduceState<T> Combine(ReduceKind kind, const ReduceState<T>& x, const ReduceState<T>& y) {
  switch (kind) {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) \
  INFIMUM_CASE(kind, {Combined<Fold::fold>(x.value, y.value), 0, 0})
#define INFIMUM_EXPONENTIAL_REDUCTION(kind, ...) INFIMUM_CASE(kind, SumOfExponentials(x, y))
#define INFIMUM_ARGUMENT(kind, name, fold) INFIMUM_CASE(kind, FirstExtreme<Fold::fold>(x, y))
#include "src/core/layer/reduction_kinds.def"
  }
  return x;
}

template <Fold kFold, int kWidth, class T, class Term>
INFIMUM_HOST_DEVICE inline void AccumulateTerms(const T (&x)[kWidth], ReduceState<T>& state, Term term) {
  INFIMUM_UNROLL
  for (int e = 0; e < kWidth; ++e) state.value = Combined<kFold>(state.value, term(x[e]));
}

template <Fold kFold, int kWidth, class T>
INFIMUM_HOST_DEVICE inline void AccumulateExtremes(const T (&x)[kWidth], std::int64_t at, ReduceState<T>& state) {
  INFIMUM_UNROLL
  for (int e = 0; e < kWidth; ++e) state = FirstExtreme<kFold>(state, ReduceState<T>{x[e], 0, at + e});
}

template <int kWidth, class T>
INFIMUM_HOST_DEVICE inline void AccumulateExponentials(const T (&x)[kWidth], ReduceState<T>& state) {
  if constexpr (!std::is_same_v<T, std::int64_t>) {
    T largest = state.value;
    INFIMUM_UNROLL
    for (int e = 0; e < kWidth; ++e) largest = Max(largest, x[e]);
    if (largest == StartOf<T>(Fold::kMaximum)) return;
    T sum = state.extra * Exp(state.value - largest);
    INFIMUM_UNROLL
    for (int e = 0; e < kWidth; ++e) sum += Exp(x[e] - largest);
    state.value = largest;
    state.extra = sum;
  }
}

// Neighbouring elements of one reduction, the first of which is number `at`.
template <int kWidth, class T>
INFIMUM_HOST_DEVICE inline void Accumulate(ReduceKind kind, const T (&elements)[kWidth], std::int64_t at,
                                           ReduceState<T>& state) {
  switch (kind) {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) \
  INFIMUM_CASE(kind, AccumulateTerms<Fold::fold>(elements, state, [](T x) { return static_cast<T>(term); }))
#define INFIMUM_EXPONENTIAL_REDUCTION(kind, ...) INFIMUM_CASE(kind, AccumulateExponentials(elements, state))
#define INFIMUM_ARGUMENT(kind, name, fold) INFIMUM_CASE(kind, AccumulateExtremes<Fold::fold>(elements, at, state))
#include "src/core/layer/reduction_kinds.def"
  }
}

// Of a kind that is no place.
template <class T>
INFIMUM_HOST_DEVICE inline T ResultOf(ReduceKind kind, const ReduceState<T>& state, [[maybe_unused]] T count) {
  const T total = state.value;
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return kind == ReduceKind::kMean ? total / count : total;  // roots and logarithms are not offered
  } else {
    switch (kind) {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) INFIMUM_CASE(kind, result)
#define INFIMUM_EXPONENTIAL_REDUCTION(kind, ...) INFIMUM_CASE(kind, total + Log(state.extra))
#include "src/core/layer/reduction_kinds.def"
      default:
        return total;
    }
  }
}
#undef INFIMUM_CASE

// The result of a whole reduction, stored.
template <class T>
INFIMUM_HOST_DEVICE inline void StoreResult(const ReduceCall& call, std::uint32_t output, const ReduceState<T>& state) {
  switch (call.kind) {
#define INFIMUM_ARGUMENT(kind, name, fold) case ReduceKind::kind:
#include "src/core/layer/reduction_kinds.def"
    return StoreOne<std::int64_t>(call.to, call.output_element, output, state.at);
    default:
      break;
  }
  T value = ResultOf(call.kind, state, static_cast<T>(call.reduced_count));
  // A mean of integers is cut off, as their division is.
  if constexpr (std::is_same_v<T, double>) {
    if (call.kind == ReduceKind::kMean && IsIntegerElement(call.output_element)) value = Truncate(value);
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
