#include "src/core/layer/windows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/core/layer/family.h"

namespace infimum {
namespace {

// Positions are symmetric in steps and taps.
Windows Swapped(const Windows& w) { return {w.extent, w.taps, w.dilation, w.steps, w.stride, w.offset}; }

// Valid steps of one tap: an interval, since positions grow with the step.
std::int64_t ValidStepsOf(const Windows& w, std::int64_t tap) {
  const std::int64_t start = tap * w.dilation - w.offset;
  const std::int64_t first = std::max<std::int64_t>(0, CeilDivide(-start, w.stride));
  const std::int64_t last = std::min(w.steps - 1, FloorDivide(w.extent - 1 - start, w.stride));
  return std::max<std::int64_t>(0, last - first + 1);
}

// The inverse of a modulo m, where they have no common factor; m may be 1.
std::int64_t Inverse(std::int64_t a, std::int64_t m) {
  std::int64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const std::int64_t quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    t0 = std::exchange(t1, t0 - quotient * t1);
  }
  return t0 < 0 ? t0 + m : t0;
}

// With a dilation of 1, windows either overlap or touch, and cover one interval, or are apart.
std::int64_t PositionsOfDenseTaps(const Windows& w) {
  if (w.taps < w.stride) return CountValidPairs(w);
  const std::int64_t first = std::max<std::int64_t>(0, -w.offset);
  const std::int64_t last = std::min(w.extent - 1, (w.steps - 1) * w.stride + w.taps - 1 - w.offset);
  return std::max<std::int64_t>(0, last - first + 1);
}

}  // namespace

std::int64_t CountValidPairs(const Windows& windows) {
  const Windows w = windows.taps <= windows.steps ? windows : Swapped(windows);
  std::int64_t count = 0;
  for (std::int64_t tap = 0; tap < w.taps; ++tap) count += ValidStepsOf(w, tap);
  return count;
}

std::int64_t CountPositions(const Windows& w) {
  if (w.steps == 1 || w.taps == 1) return CountValidPairs(w);
  if (w.dilation == 1) return PositionsOfDenseTaps(w);
  if (w.stride == 1) return PositionsOfDenseTaps(Swapped(w));
  // x = o * stride + t * dilation has a solution with both in range if and only if the common divisor
  // divides x and the first o of the right residue, from where t is small enough on, is small enough.
  const std::int64_t divisor = std::gcd(w.stride, w.dilation);
  const std::int64_t modulus = w.dilation / divisor;
  const std::int64_t inverse = Inverse(w.stride / divisor, modulus);
  std::int64_t count = 0;
  for (std::int64_t position = 0; position < w.extent; ++position) {
    const std::int64_t x = position + w.offset;
    if (x < 0 || x % divisor != 0) continue;
    const std::int64_t least = std::max<std::int64_t>(0, CeilDivide(x - (w.taps - 1) * w.dilation, w.stride));
    const std::int64_t most = std::min(w.steps - 1, x / w.stride);
    const std::int64_t residue = (x / divisor) % modulus * inverse % modulus;
    const std::int64_t first = least + ((residue - least) % modulus + modulus) % modulus;
    if (first <= most) ++count;
  }
  return count;
}

std::int64_t CountUsedTaps(const Windows& w) {
  std::int64_t count = 0;
  for (std::int64_t tap = 0; tap < w.taps; ++tap) count += ValidStepsOf(w, tap) > 0 ? 1 : 0;
  return count;
}

std::int64_t CountUsedSteps(const Windows& w) { return CountUsedTaps(Swapped(w)); }

}  // namespace infimum
