// The horizontal half of a pooling window.
#include "microbench/kernels/cpu/vector/math.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

template <bool maximum, int fixed_stride>
void Combine(const float* __restrict x, std::int64_t stride, float* __restrict y, std::int64_t count) {
  const std::int64_t step = fixed_stride == 0 ? stride : fixed_stride;
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = x[i * step];
    y[i] = maximum ? Max(value, y[i]) : y[i] + value;
  }
}

template <bool maximum>
void Window(const float* x, std::int64_t stride, std::int64_t dilation, std::int64_t taps, float* y,
            std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i * stride];
  for (std::int64_t tap = 1; tap < taps; ++tap) {
    const float* from = x + tap * dilation;
    switch (stride) {
      case 1:
        Combine<maximum, 1>(from, stride, y, count);
        break;
      case 2:
        Combine<maximum, 2>(from, stride, y, count);
        break;
      default:
        Combine<maximum, 0>(from, stride, y, count);
        break;
    }
  }
}

}  // namespace

void WindowMaximumRow(const float* x, std::int64_t stride, std::int64_t dilation, std::int64_t taps, float* y,
                      std::int64_t count) {
  Window<true>(x, stride, dilation, taps, y, count);
}

void WindowSumRow(const float* x, std::int64_t stride, std::int64_t dilation, std::int64_t taps, float* y,
                  std::int64_t count) {
  Window<false>(x, stride, dilation, taps, y, count);
}

void PickTwoRow(const float* __restrict x, const std::int32_t* __restrict first, const std::int32_t* __restrict second,
                const float* __restrict weights, float* __restrict y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[first[i]] + weights[i] * (x[second[i]] - x[first[i]]);
}

}  // namespace infimum::cpu::INFIMUM_ISA
