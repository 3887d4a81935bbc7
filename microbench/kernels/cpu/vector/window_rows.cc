// The halves of a pooling window: along a row, and of bytes from row to row too.
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

// The largest of the taps of each of `count` windows, channel by channel: a vector of them at a time, then one.
template <class T>
void ByteWindows(const T* x, std::int64_t step, std::int64_t dilation, std::int64_t taps, T* y, std::int64_t count,
                 std::int64_t channels) {
  typedef T Vector __attribute__((vector_size(INFIMUM_VECTOR_BYTES)));
  typedef T Memory __attribute__((vector_size(INFIMUM_VECTOR_BYTES), aligned(1), may_alias));
  const std::int64_t whole = channels / kBytes * kBytes;
  for (std::int64_t i = 0; i < count; ++i, x += step, y += channels) {
    for (std::int64_t c = 0; c < whole; c += kBytes) {
      Vector most = *reinterpret_cast<const Memory*>(x + c);
      for (std::int64_t tap = 1; tap < taps; ++tap) {
        const Vector other = *reinterpret_cast<const Memory*>(x + tap * dilation + c);
        most = most > other ? most : other;
      }
      *reinterpret_cast<Memory*>(y + c) = most;
    }
    for (std::int64_t c = whole; c < channels; ++c) {
      T most = x[c];
      for (std::int64_t tap = 1; tap < taps; ++tap) most = most > x[tap * dilation + c] ? most : x[tap * dilation + c];
      y[c] = most;
    }
  }
}

template <class T>
void LargerOf(const T* __restrict x, T* __restrict y, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] > y[i] ? x[i] : y[i];
}

}  // namespace

void AccumulateByteMaximum(const void* x, void* y, std::int64_t bytes, bool is_signed) {
  if (is_signed) return LargerOf(static_cast<const std::int8_t*>(x), static_cast<std::int8_t*>(y), bytes);
  LargerOf(static_cast<const std::uint8_t*>(x), static_cast<std::uint8_t*>(y), bytes);
}

void WindowByteMaximum(const void* x, std::int64_t step, std::int64_t dilation, std::int64_t taps, void* y,
                       std::int64_t count, std::int64_t channels, bool is_signed) {
  const auto run = [&]<class T>(T* to) {
    ByteWindows(static_cast<const T*>(x), step, dilation, taps, to, count, channels);
  };
  if (is_signed) return run(static_cast<std::int8_t*>(y));
  run(static_cast<std::uint8_t*>(y));
}

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

void AddPicked(const float* __restrict x, const std::int32_t* __restrict places, const float* __restrict weights,
               float* __restrict y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] += weights[i] * x[places[i]];
}

namespace {

template <int kPlanes>
void SampleSome(const float* x, std::int64_t x_step, const std::int32_t* places, const float* weights, float* y,
                std::int64_t y_step, std::int64_t count) {
  // Written where they belong results would seem to be what is read next, as planes lie whole pages apart.
  constexpr std::int64_t kStaged = 64;
  float sums[kPlanes][kStaged];
  for (std::int64_t begin = 0; begin < count; begin += kStaged) {
    const std::int64_t some = count - begin < kStaged ? count - begin : kStaged;
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int32_t* const at = places + 4 * (begin + i);
      const float* const weight = weights + 4 * (begin + i);
      for (int c = 0; c < kPlanes; ++c) {
        const float* const from = x + c * x_step;
        sums[c][i] =
            weight[0] * from[at[0]] + weight[1] * from[at[1]] + weight[2] * from[at[2]] + weight[3] * from[at[3]];
      }
    }
    for (int c = 0; c < kPlanes; ++c)
      for (std::int64_t i = 0; i < some; ++i) y[c * y_step + begin + i] = sums[c][i];
  }
}

}  // namespace

void SamplePlanes(const float* x, std::int64_t x_step, const std::int32_t* places, const float* weights, float* y,
                  std::int64_t y_step, std::int64_t planes, std::int64_t count) {
  std::int64_t c = 0;
  for (; c + 4 <= planes; c += 4) SampleSome<4>(x + c * x_step, x_step, places, weights, y + c * y_step, y_step, count);
  for (; c < planes; ++c) SampleSome<1>(x + c * x_step, x_step, places, weights, y + c * y_step, y_step, count);
}

}  // namespace infimum::cpu::INFIMUM_ISA
