// One output element of a pooling, a resampling or a local response normalization: what its thread does.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/real_math.h"
#include "microbench/kernels/cuda/window_call.h"

namespace infimum::cuda {

inline constexpr int kWindowThreads = 256;

template <class T>
INFIMUM_HOST_DEVICE inline void PoolThread(const PoolCall& call, std::int64_t number) {
  if (number >= call.count) return;
  std::int32_t start[3];
  auto channel = static_cast<std::uint32_t>(number);
  std::uint32_t rest = call.channels.DivideInto(channel);
  const std::int64_t channels = call.channels.divisor;
  INFIMUM_UNROLL
  for (int d = 2; d >= 0; --d) {
    const std::uint32_t next = call.output[d].DivideInto(rest);
    start[d] = static_cast<std::int32_t>(rest) * call.stride[d] - call.pad[d];
    rest = next;
  }
  const std::int64_t plane_elements = static_cast<std::int64_t>(call.input[0]) * call.input[1] * call.input[2];
  const std::int64_t plane = static_cast<std::int64_t>(rest) * plane_elements;
  T sum = 0, largest = -static_cast<T>(HUGE_VAL);
  std::int64_t largest_at = 0;
  std::int32_t inside = 0, padded = 0;
  for (int a = 0; a < call.kernel[0]; ++a) {
    const std::int32_t z = start[0] + a * call.dilation[0];
    for (int b = 0; b < call.kernel[1]; ++b) {
      const std::int32_t y = start[1] + b * call.dilation[1];
      const bool row_inside = z >= 0 && z < call.input[0] && y >= 0 && y < call.input[1];
      const bool row_padded = z < call.input[0] + call.end_pad[0] && y < call.input[1] + call.end_pad[1];
      const std::int64_t line = plane + (static_cast<std::int64_t>(z) * call.input[1] + y) * call.input[2];
      for (int c = 0; c < call.kernel[2]; ++c) {
        const std::int32_t x = start[2] + c * call.dilation[2];
        padded += row_padded && x < call.input[2] + call.end_pad[2] ? 1 : 0;
        if (!row_inside || x < 0 || x >= call.input[2]) continue;
        const T value = LoadOne<T>(call.from, call.element, (line + x) * channels + channel);
        ++inside;
        switch (call.kind) {
          case ReduceKind::kMax:
            if (value > largest) {
              largest = value;
              largest_at = line + x;
            }
            break;
          case ReduceKind::kL2:
            sum += value * value;
            break;
          default:
            sum += value;
            break;
        }
      }
    }
  }
  T result = largest;
  const std::int32_t counted = call.counts_padding ? padded : inside;
  if (call.kind == ReduceKind::kMean) result = sum / static_cast<T>(counted > 1 ? counted : 1);
  if (call.kind == ReduceKind::kL2) result = Sqrt(sum);
  StoreOne<T>(call.to, call.output_element, number, result);
  if (call.indices != nullptr) static_cast<std::int64_t*>(call.indices)[number] = largest_at;
}

template <class T>
INFIMUM_HOST_DEVICE inline std::int32_t ClampedTap(T at, std::int32_t size) {
  const auto tap = static_cast<std::int32_t>(at);
  return tap < 0 ? 0 : tap >= size ? size - 1 : tap;
}

// The source of output coordinate `at` for mode nearest: (2 at + 1) * in / (2 * out), in integers.
INFIMUM_HOST_DEVICE inline std::int32_t NearestTap(const ResampleCall& call, int d, std::uint32_t at) {
  const std::uint64_t scaled = (std::uint64_t{2} * at + 1) * static_cast<std::uint32_t>(call.input[d]);
  if (scaled < 0x80000000U)
    return static_cast<std::int32_t>(call.twice_output[d].Divide(static_cast<std::uint32_t>(scaled)));
  return static_cast<std::int32_t>(scaled / (2 * std::uint64_t{call.output[d].divisor}));
}

// kTaps: 1 nearest, 2 linear, 4 cubic. Dimensions that stay as they are have the weight 1 at one tap.
template <class T, int kTaps>
INFIMUM_HOST_DEVICE inline void ResampleThread(const ResampleCall& call, std::int64_t number) {
  constexpr int kRank = 5;
  if (number >= call.count) return;
  auto rest = static_cast<std::uint32_t>(number);
  std::int64_t base = 0;
  std::int64_t place[kRank][kTaps];
  T weight[kRank][kTaps];
  int resized = 0;
  INFIMUM_UNROLL
  for (int d = 0; d < kRank; ++d) {
    if (d >= call.rank) break;
    std::uint32_t next = 0;
    if (d + 1 < call.rank) next = call.output[d].DivideInto(rest);
    const std::int64_t step = call.input_step[d];
    const std::int32_t size = call.input[d];
    if (static_cast<std::uint32_t>(size) == call.output[d].divisor) {
      base += rest * step;
    } else if constexpr (kTaps == 1) {
      base += NearestTap(call, d, rest) * step;
    } else {
      const T shift = static_cast<T>(call.shift);
      const T x = (static_cast<T>(rest) + shift) * static_cast<T>(call.ratio[d]) - shift;
      const T floor = Floor(x), t = x - floor;
      if constexpr (kTaps == 2) {
        place[resized][0] = ClampedTap(floor, size) * step;
        place[resized][1] = ClampedTap(floor + 1, size) * step;
        weight[resized][0] = 1 - t;
        weight[resized][1] = t;
      } else {
        INFIMUM_UNROLL
        for (int k = 0; k < 4; ++k) place[resized][k] = ClampedTap(floor + (k - 1), size) * step;
        formulas::CubicWeights(t, static_cast<T>(call.cubic), weight[resized]);
      }
      ++resized;
    }
    rest = next;
  }
  if constexpr (kTaps == 1) {
    StoreOne<T>(call.to, call.output_element, number, LoadOne<T>(call.from, call.element, base));
    return;
  } else {
    int taps = 1;
    for (int d = 0; d < resized; ++d) taps *= kTaps;
    T sum = 0;
    for (int tap = 0; tap < taps; ++tap) {
      std::int64_t at = base;
      T product = 1;
      int digits = tap;
      for (int d = 0; d < resized; ++d) {
        at += place[d][digits % kTaps];
        product *= weight[d][digits % kTaps];
        digits /= kTaps;
      }
      sum += product * LoadOne<T>(call.from, call.element, at);
    }
    StoreOne<T>(call.to, call.output_element, number, sum);
  }
}

template <class T>
INFIMUM_HOST_DEVICE inline void GridThread(const GridCall& call, std::int64_t number) {
  if (number >= call.count) return;
  constexpr int kRank = 3;
  auto point = static_cast<std::uint32_t>(number);  // image, group, point
  std::uint32_t group = call.points.DivideInto(point);
  const std::uint32_t image = call.groups.DivideInto(group);
  const std::int64_t whole = static_cast<std::int64_t>(image) * call.points.divisor + point;
  std::int64_t place[kRank][2], step = 1;
  T weight[kRank][2];
  INFIMUM_UNROLL
  for (int d = 0; d < kRank; ++d) {
    if (d >= call.rank) break;
    const auto last = static_cast<T>(call.input[d] - 1);
    const T named = LoadOne<T>(call.grid, call.grid_element, whole * call.rank + d);
    T x = formulas::GridPosition(named, last + 1, call.aligned_corners);
    if (call.border) x = x < 0 ? T(0) : x > last ? last : x;
    const T floor = Floor(x);
    INFIMUM_UNROLL
    for (int side = 0; side < 2; ++side) {
      const T at = floor + static_cast<T>(side);
      const bool is_inside = at >= 0 && at <= last;  // not of what is no number
      place[d][side] = is_inside ? static_cast<std::int64_t>(at) * step : 0;
      weight[d][side] = is_inside ? (side == 0 ? 1 - (x - floor) : x - floor) : T(0);
    }
    step *= call.input[d];
  }
  const std::uint32_t first = group * call.each, beyond = first + call.each;
  const std::uint32_t end = beyond < call.channels ? beyond : call.channels;
  for (std::uint32_t channel = first; channel < end; ++channel) {
    const std::int64_t plane = static_cast<std::int64_t>(image) * call.channels + channel;
    T sum = 0;
    for (int tap = 0; tap < 1 << call.rank; ++tap) {
      std::int64_t at = 0;
      T product = 1;
      INFIMUM_UNROLL
      for (int d = 0; d < kRank; ++d) {
        if (d >= call.rank) break;
        at += (tap >> d & 1) == 0 ? place[d][0] : place[d][1];
        product *= (tap >> d & 1) == 0 ? weight[d][0] : weight[d][1];
      }
      sum += product * LoadOne<T>(call.from, call.element, plane * step + at);
    }
    StoreOne<T>(call.to, call.output_element, plane * call.points.divisor + point, sum);
  }
}

template <class T>
INFIMUM_HOST_DEVICE inline void ResponseThread(const ResponseCall& call, std::int64_t number) {
  if (number >= call.count) return;
  auto pixel = static_cast<std::uint32_t>(number);
  std::uint32_t channel = call.pixels.DivideInto(pixel);
  call.channels.DivideInto(channel);
  const auto channels = static_cast<std::int32_t>(call.channels.divisor), at = static_cast<std::int32_t>(channel);
  const std::int64_t step = call.pixels.divisor;
  const std::int32_t before = (call.size - 1) / 2, after = call.size - 1 - before;
  T squares = 0, own = 0;
  for (std::int32_t c = -before; c <= after; ++c) {
    if (at + c < 0 || at + c >= channels) continue;
    const T value = LoadOne<T>(call.from, call.element, number + c * step);
    squares += value * value;
    if (c == 0) own = value;
  }
  const T sum = static_cast<T>(call.k) + static_cast<T>(call.alpha / call.size) * squares;
  // x^-0.75 is what nearly every model has.
  const T factor =
      call.beta == 0.75 ? InverseRoot(sum) * Sqrt(InverseRoot(sum)) : Exp(-static_cast<T>(call.beta) * Log(sum));
  StoreOne<T>(call.to, call.element, number, own * factor);
}

}  // namespace infimum::cuda
