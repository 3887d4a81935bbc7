// Running sums: one thread on a line from end to end, or a block that goes through a line in pieces of
// kScanThreads * kScanWidth elements, each thread with kScanWidth neighbours.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/reduce_body.h"
#include "microbench/kernels/cuda/row_call.h"

namespace infimum::cuda {

inline constexpr int kScanThreads = 256;
inline constexpr int kScanWidth = 4;

template <class T>
INFIMUM_HOST_DEVICE inline T ScanCombine(const ScanCall& call, T a, T b) {
  return call.multiplies ? Combined<Fold::kProduct>(a, b) : Combined<Fold::kSum>(a, b);
}
template <class T>
INFIMUM_HOST_DEVICE inline T ScanEmpty(const ScanCall& call) {
  return call.multiplies ? T{1} : T{0};
}

template <class T>
INFIMUM_HOST_DEVICE inline void ScanLine(const ScanCall& call, std::uint32_t line) {
  if (line >= call.lines) return;
  std::uint32_t within = line;
  const std::uint32_t outer = call.inner.DivideInto(within);
  const std::int64_t step = call.inner.divisor;
  const std::int64_t base = static_cast<std::int64_t>(outer) * call.length * step + within;
  T state = ScanEmpty<T>(call);
  for (std::uint32_t i = 0; i < call.length; ++i) {
    state = ScanCombine(call, state, LoadOne<T>(call.from, call.element, base + i * step));
    StoreOne<T>(call.to, call.output_element, base + i * step, state);
  }
}

// A piece: each thread loads its elements as running sums of their own, hands on their total, and stores them with the
// sum of all before.
template <class T>
struct ScanPiece {
  T value[kScanWidth];

  INFIMUM_HOST_DEVICE T Load(const ScanCall& call, std::uint32_t line, std::uint32_t piece, int thread) {
    T sum = ScanEmpty<T>(call);
    const std::int64_t first = First(piece, thread), base = static_cast<std::int64_t>(line) * call.length;
    INFIMUM_UNROLL
    for (int e = 0; e < kScanWidth; ++e) {
      if (first + e < call.length) {
        sum = ScanCombine(call, sum, LoadOne<T>(call.from, call.element, base + first + e));
      }
      value[e] = sum;
    }
    return sum;
  }
  INFIMUM_HOST_DEVICE void Store(const ScanCall& call, std::uint32_t line, std::uint32_t piece, int thread,
                                 T before) const {
    const std::int64_t first = First(piece, thread), base = static_cast<std::int64_t>(line) * call.length;
    INFIMUM_UNROLL
    for (int e = 0; e < kScanWidth; ++e) {
      if (first + e < call.length) {
        StoreOne<T>(call.to, call.output_element, base + first + e, ScanCombine(call, before, value[e]));
      }
    }
  }
  INFIMUM_HOST_DEVICE static std::int64_t First(std::uint32_t piece, int thread) {
    return (static_cast<std::int64_t>(piece) * kScanThreads + thread) * kScanWidth;
  }
};
inline constexpr std::uint32_t kScanPiece = kScanThreads * kScanWidth;

}  // namespace infimum::cuda
