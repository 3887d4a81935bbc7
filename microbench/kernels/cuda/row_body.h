// What one thread of a row's does, pass by pass: each pass goes over the thread's share of the row and gives a state;
// the states of a row's threads are combined; after the last pass the row is written. Thread t has elements
// (k * threads + t) * width and the `width - 1` after, so it finds in shared memory only what it put there itself.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/real_math.h"
#include "microbench/kernels/cuda/row_call.h"

namespace infimum::cuda {

inline constexpr int kRowThreads = 256;  // of a block of which several rows have a thread or a warp each

INFIMUM_HOST_DEVICE inline int RowPasses(RowKind kind) {
  return kind == RowKind::kNormalize || kind == RowKind::kMeanVariance ? 2 : 1;
}

// softmax: the maximum, and the sum of exponentials below it; hardmax: the maximum and where it is; else a sum in b.
template <class T>
struct RowState {
  T a;
  T b;
  std::uint32_t at;
};

// What is known of a row so far, after each pass.
template <class T>
struct RowTotals {
  T first = 0;   // maximum, mean, or what elements are multiplied by
  T second = 0;  // sum of exponentials or its logarithm, or 1 / deviation
  std::uint32_t at = 0;
};

template <class T>
INFIMUM_HOST_DEVICE inline RowState<T> EmptyRowState() {
  return {-static_cast<T>(HUGE_VAL), 0, 0xffffffff};
}

template <class T>
INFIMUM_HOST_DEVICE inline bool IsMaximumKind(RowKind kind) {
  return kind == RowKind::kSoftmax || kind == RowKind::kLogSoftmax;
}

template <class T>
INFIMUM_HOST_DEVICE inline RowState<T> Combine(RowKind kind, const RowState<T>& x, const RowState<T>& y) {
  if (kind == RowKind::kHardmax) {
    const bool takes_y = y.a > x.a || (y.a == x.a && y.at < x.at);
    return takes_y ? y : x;
  }
  if (!IsMaximumKind<T>(kind)) return {x.a, x.b + y.b, x.at};
  const T largest = Max(x.a, y.a);
  if (largest == -static_cast<T>(HUGE_VAL)) return x;  // both empty, or masked out
  return {largest, x.b * Exp(x.a - largest) + y.b * Exp(y.a - largest), x.at};
}

// Where a row's elements come from: memory, or a program over other tensors (pointwise_body.h).
struct RowInMemory {
  template <class T, int kWidth>
  INFIMUM_HOST_DEVICE void Load(const RowCall& call, std::int64_t at, bool, T (&x)[kWidth]) const {
    WithFloat(call.element, [&](auto traits) { LoadPack<decltype(traits)>(call.from, at, x); });
  }
};
template <class Thread>
struct RowOfProgram {
  const PointwiseCall& chain;
  const PointwiseData& data;

  template <class T, int kWidth>
  INFIMUM_HOST_DEVICE void Load(const RowCall&, std::int64_t at, bool is_first, T (&x)[kWidth]) const {
    Thread::Compute(chain, data, at, is_first, x);
  }
};

template <class T, int kWidth, class Source = RowInMemory>
struct RowThread {
  const RowCall& call;
  std::uint32_t row;
  int thread;
  void* cache;  // of call.element; null: the row is read again
  Source source = {};

  INFIMUM_HOST_DEVICE std::int64_t RowOffset() const {
    const RowSpace& space = call.space;
    std::uint32_t within = row;
    const std::uint32_t outer = space.row_run.DivideInto(within);
    return outer * space.row_step + within * space.row_run_step;
  }
  INFIMUM_HOST_DEVICE std::int64_t Offset(std::int64_t base, std::uint32_t i) const {
    const RowSpace& space = call.space;
    if (space.run.divisor >= space.length) return base + i * space.step;
    const std::uint32_t segment = space.run.DivideInto(i);
    return base + segment * space.segment_step + i * space.step;
  }

  // Calls function(i, x) for the thread's elements.
  template <class Function>
  INFIMUM_HOST_DEVICE void ForElements(bool first_pass, const Function& function) const {
    const std::int64_t base = RowOffset();
    const auto stride = static_cast<std::uint32_t>(call.threads * kWidth);
    for (std::uint32_t i = static_cast<std::uint32_t>(thread * kWidth); i < call.space.length; i += stride) {
      T x[kWidth] = {};
      const bool is_cached = cache != nullptr && !first_pass;
      if (!is_cached) source.Load(call, Offset(base, i), first_pass, x);
      if (cache != nullptr) {
        WithFloat(call.element, [&](auto traits) {
          using Traits = decltype(traits);
          if (is_cached) {
            LoadPack<Traits>(cache, i, x);
          } else {
            StorePack<Traits>(cache, i, x);
          }
        });
      }
      function(i, x);
    }
  }

  INFIMUM_HOST_DEVICE RowState<T> Pass(int pass, const RowTotals<T>& totals) const {
    RowState<T> state = EmptyRowState<T>();
    ForElements(pass == 0, [&](std::uint32_t i, const T(&x)[kWidth]) {
      switch (call.kind) {
        case RowKind::kSoftmax:
        case RowKind::kLogSoftmax: {
          T largest = state.a;
          INFIMUM_UNROLL
          for (int e = 0; e < kWidth; ++e) largest = Max(largest, x[e]);
          if (largest == -static_cast<T>(HUGE_VAL)) return;
          T sum = state.b * Exp(state.a - largest);
          INFIMUM_UNROLL
          for (int e = 0; e < kWidth; ++e) sum += Exp(x[e] - largest);
          state.a = largest;
          state.b = sum;
          return;
        }
        case RowKind::kHardmax:
          INFIMUM_UNROLL
          for (int e = 0; e < kWidth; ++e) {
            if (!(x[e] > state.a)) continue;
            state.a = x[e];
            state.at = i + static_cast<std::uint32_t>(e);
          }
          return;
        case RowKind::kNormalize:
        case RowKind::kMeanVariance:
          INFIMUM_UNROLL
          for (int e = 0; e < kWidth; ++e) {
            const T difference = x[e] - totals.first;
            state.b += pass == 0 ? x[e] : difference * difference;
          }
          return;
        default:
          INFIMUM_UNROLL
          for (int e = 0; e < kWidth; ++e) state.b += x[e] * x[e];
          return;
      }
    });
    return state;
  }

  // What a pass's combined state adds to what is known.
  INFIMUM_HOST_DEVICE void Conclude(int pass, const RowState<T>& state, RowTotals<T>& totals) const {
    const T inverse_length = T{1} / static_cast<T>(call.space.length);
    const T epsilon = static_cast<T>(call.epsilon);
    switch (call.kind) {
      case RowKind::kSoftmax:
        totals.first = state.a;
        totals.second = T{1} / state.b;
        return;
      case RowKind::kLogSoftmax:
        totals.first = state.a;
        totals.second = Log(state.b);
        return;
      case RowKind::kHardmax:
        totals.at = state.at;
        return;
      case RowKind::kNormalize:
      case RowKind::kMeanVariance:
        if (pass == 0) {
          totals.first = state.b * inverse_length;
        } else {
          const T variance = state.b * inverse_length;
          totals.second =
              call.kind == RowKind::kNormalize ? InverseRoot(variance + epsilon) : 1 / (Sqrt(variance) + epsilon);
        }
        return;
      case RowKind::kRms:
        totals.second = InverseRoot(state.b * inverse_length + epsilon);
        return;
      default:
        totals.second = InverseRoot(Max(state.b, static_cast<T>(1e-30)));
        return;
    }
  }

  INFIMUM_HOST_DEVICE void Write(const RowTotals<T>& totals) const {
    const std::int64_t base = RowOffset();
    std::uint32_t parameter_row = row;
    call.parameter_rows.DivideInto(parameter_row);
    parameter_row *= call.parameter_row_step;
    ForElements(false, [&](std::uint32_t i, const T(&x)[kWidth]) {
      T y[kWidth];
      switch (call.kind) {
        case RowKind::kSoftmax:
          INFIMUM_UNROLL
          for (int e = 0; e < kWidth; ++e) y[e] = Exp(x[e] - totals.first) * totals.second;
          break;
        case RowKind::kLogSoftmax:
          INFIMUM_UNROLL
          for (int e = 0; e < kWidth; ++e) y[e] = x[e] - totals.first - totals.second;
          break;
        case RowKind::kHardmax:
          INFIMUM_UNROLL
          for (int e = 0; e < kWidth; ++e) y[e] = i + static_cast<std::uint32_t>(e) == totals.at ? T{1} : T{0};
          break;
        default:
          INFIMUM_UNROLL
          for (int e = 0; e < kWidth; ++e) y[e] = (x[e] - totals.first) * totals.second;
          Parameters(i, parameter_row, y);
          break;
      }
      const std::int64_t at = Offset(base, i);
      WithFloat(call.output_element, [&](auto traits) {
        using Traits = decltype(traits);
        if (call.to != nullptr) StorePack<Traits>(call.to, at, y);
        INFIMUM_UNROLL
        for (int e = 0; e < kWidth; ++e) y[e] = Traits::template Read<T>(Traits::template Write<T>(y[e]));
      });
      if (call.quantized_element != Element::kNone) Quantize(at, y);
    });
  }

 private:
  // Of the result as it is stored.
  INFIMUM_HOST_DEVICE void Quantize(std::int64_t at, T (&y)[kWidth]) const {
    const auto scale = static_cast<T>(call.quantize_scale), zero = static_cast<T>(call.quantize_zero);
    const bool is_integer = IsIntegerElement(call.quantized_element);
    INFIMUM_UNROLL
    for (int e = 0; e < kWidth; ++e) y[e] = is_integer ? Round(y[e] / scale) + zero : y[e] / scale;
    WithElement(call.quantized_element, [&](auto traits) { StorePack<decltype(traits)>(call.quantized, at, y); });
  }

  INFIMUM_HOST_DEVICE void Parameters(std::uint32_t i, std::uint32_t parameter_row, T (&y)[kWidth]) const {
    if (call.scale == nullptr && call.bias == nullptr) return;
    T scale[kWidth], bias[kWidth];
    INFIMUM_UNROLL
    for (int e = 0; e < kWidth; ++e) {
      scale[e] = T{1};
      bias[e] = T{0};
    }
    WithFloat(call.parameter_element, [&](auto traits) {
      using Traits = decltype(traits);
      using Stored = typename Traits::Stored;
      if (call.parameter_run.divisor == 1 && call.parameter_row_step == 0) {
        if (call.scale != nullptr) LoadPack<Traits>(call.scale, i, scale);
        if (call.bias != nullptr) LoadPack<Traits>(call.bias, i, bias);
        return;
      }
      INFIMUM_UNROLL
      for (int e = 0; e < kWidth; ++e) {
        const std::uint32_t at = parameter_row + call.parameter_run.Divide(i + static_cast<std::uint32_t>(e));
        if (call.scale != nullptr) scale[e] = Traits::template Read<T>(static_cast<const Stored*>(call.scale)[at]);
        if (call.bias != nullptr) bias[e] = Traits::template Read<T>(static_cast<const Stored*>(call.bias)[at]);
      }
    });
    INFIMUM_UNROLL
    for (int e = 0; e < kWidth; ++e) y[e] = y[e] * scale[e] + bias[e];
  }
};

// Bytes of shared memory that a row takes where it is cached.
INFIMUM_HOST_DEVICE inline std::int64_t RowCacheBytes(const RowCall& call) {
  return call.caches ? (std::int64_t{call.space.length} * BytesOf(call.element) + 15) / 16 * 16 : 0;
}

// function(T{}, std::integral_constant<int, width>())
template <class Function>
inline bool WithRowThread(const RowCall& call, const Function& function) {
  if (call.arithmetic == Arithmetic::kF32) {
    if (call.width == 1) return function(float{}, std::integral_constant<int, 1>()), true;
    if (call.width == 4) return function(float{}, std::integral_constant<int, 4>()), true;
    if (call.width == 8) return function(float{}, std::integral_constant<int, 8>()), true;
    return false;
  }
  if (call.width == 1) return function(double{}, std::integral_constant<int, 1>()), true;
  if (call.width == 4) return function(double{}, std::integral_constant<int, 4>()), true;
  return false;
}

}  // namespace infimum::cuda
