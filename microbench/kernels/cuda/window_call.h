// Outputs that depend on a window of inputs: poolings, resampling, local response normalization.
#pragma once

#include "microbench/kernels/cuda/element.h"
#include "microbench/kernels/cuda/index_math.h"
#include "microbench/kernels/cuda/row_call.h"

namespace infimum::cuda {

// Of n * c planes with up to three dimensions, depth first; missing ones are of extent 1. With the channels last a
// plane is an image, and `channels` those of its pixels.
struct PoolCall {
  ReduceKind kind = ReduceKind::kMax;  // kMax, kMean or kL2
  bool counts_padding = false;         // where a mean divides
  Arithmetic arithmetic = Arithmetic::kF32;
  Element element = Element::kF32;
  Element output_element = Element::kF32;
  const void* from = nullptr;
  void* to = nullptr;
  void* indices = nullptr;  // s64, of the largest among all input elements; null: not asked for
  std::uint32_t count = 0;  // outputs
  FastDivisor channels;     // 1 where planes are whole
  FastDivisor output[3];
  std::int32_t input[3] = {1, 1, 1};
  std::int32_t kernel[3] = {1, 1, 1};
  std::int32_t stride[3] = {1, 1, 1};
  std::int32_t dilation[3] = {1, 1, 1};
  std::int32_t pad[3] = {};
  std::int32_t end_pad[3] = {};
};

// Samples between the neighbours of places that a grid names, for `each` channels by a thread. Dimensions are innermost
// first, as a point's numbers are.
struct GridCall {
  Arithmetic arithmetic = Arithmetic::kF32;
  Element element = Element::kF32;
  Element output_element = Element::kF32;
  Element grid_element = Element::kF32;
  const void* from = nullptr;
  const void* grid = nullptr;
  void* to = nullptr;
  std::uint32_t count = 0;  // threads
  int rank = 2;             // up to 3
  std::int32_t input[3] = {1, 1, 1};
  std::uint32_t channels = 1;
  std::uint32_t each = 1;
  bool aligned_corners = false;  // the numbers -1 and 1 are the middles of the first and last element, not their edges
  bool border = false;           // outside lies the element at the edge, not zero
  FastDivisor points;            // of an image
  FastDivisor groups;            // of `each` channels
};

// Coordinates of half pixels, or of aligned corners, clamped at the edges. Dimensions are innermost first; the first
// `resized` of them may change.
struct ResampleCall {
  int taps = 1;  // in a resized dimension: 1 nearest, 2 linear, 4 cubic
  Arithmetic arithmetic = Arithmetic::kF32;
  Element element = Element::kF32;
  Element output_element = Element::kF32;
  const void* from = nullptr;
  void* to = nullptr;
  std::uint32_t count = 0;  // outputs
  int rank = 0;             // at most 5; dimensions that stay are merged where they are neighbours
  FastDivisor output[5];
  std::int32_t input[5] = {1, 1, 1, 1, 1};
  std::int64_t input_step[5] = {};
  FastDivisor twice_output[5];  // for nearest: (2 p + 1) * input / (2 * output); unused where that passes 2^31
  double ratio[5] = {};         // input / output; of aligned corners both less one
  double shift = 0.5;           // an output at p lies at (p + shift) ratio - shift
  double cubic = -0.75;
};

// x / (k + alpha / size * sum of squares of `size` channels around)^beta
struct ResponseCall {
  Arithmetic arithmetic = Arithmetic::kF32;
  Element element = Element::kF32;
  const void* from = nullptr;
  void* to = nullptr;
  std::uint32_t count = 0;
  FastDivisor pixels;
  FastDivisor channels;
  std::int32_t size = 1;
  double alpha = 0, beta = 0, k = 1;
};

}  // namespace infimum::cuda
