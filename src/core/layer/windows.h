// A window that slides along one spatial dimension, and what of the data it really touches. Convolutions
// and poolings count each dimension alone and multiply, since dimensions are independent.
//
// Step o (0 <= o < steps) and tap t (0 <= t < taps) fall on the position o * stride + t * dilation - offset;
// the pair is valid where that is from 0 to extent - 1 (elsewhere is padding).
//
//   Windows w{.extent = 224, .steps = 112, .stride = 2, .taps = 7, .dilation = 1, .offset = 3};
//   CountValidPairs(w) == 778, of 784;   CountPositions(w) == 224
//
// All numbers are at most 2^24 in magnitude. The counts are exact and need at most
// O(min(steps, taps)) or O(extent) time.
#pragma once

#include <cstdint>

namespace infimum {

struct Windows {
  std::int64_t extent = 1;
  std::int64_t steps = 1;
  std::int64_t stride = 1;
  std::int64_t taps = 1;
  std::int64_t dilation = 1;
  std::int64_t offset = 0;
};

std::int64_t CountValidPairs(const Windows& windows);

// Distinct positions that some valid pair falls on.
std::int64_t CountPositions(const Windows& windows);

// Taps that are valid in some step, and steps in which some tap is valid.
std::int64_t CountUsedTaps(const Windows& windows);
std::int64_t CountUsedSteps(const Windows& windows);

}  // namespace infimum
