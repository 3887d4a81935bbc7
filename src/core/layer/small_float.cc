#include "src/core/layer/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace infimum {
namespace {

constexpr SmallFloat kHalf{5, 10, SmallFloat::Top::kInfinities, false};
constexpr SmallFloat kE4M3{4, 3, SmallFloat::Top::kOneNaN, true};
constexpr SmallFloat kE5M2{5, 2, SmallFloat::Top::kInfinities, true};
constexpr SmallFloat kE2M1{2, 1, SmallFloat::Top::kNumbers, true};

constexpr int kScaleBias = 127;
constexpr unsigned kNoScale = 255;

}  // namespace

double SmallFloat::ValueOf(unsigned bits) const {
  const unsigned exponent = (bits >> mantissa_bits) & ((1U << exponent_bits) - 1);
  const unsigned mantissa = bits & ((1U << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const bool is_top = exponent == (1U << exponent_bits) - 1;
  double magnitude = 0;
  if (is_top && top == Top::kInfinities)
    magnitude = mantissa == 0 ? INFINITY : NAN;
  else if (is_top && top == Top::kOneNaN && mantissa == (1U << mantissa_bits) - 1)
    magnitude = NAN;
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else
    magnitude = std::ldexp(mantissa + (1U << mantissa_bits), static_cast<int>(exponent) - bias - mantissa_bits);
  return (bits >> (exponent_bits + mantissa_bits) & 1U) != 0 ? -magnitude : magnitude;
}

unsigned SmallFloat::BitsOf(double value) const {
  const unsigned sign = std::signbit(value) ? 1U << (exponent_bits + mantissa_bits) : 0;
  const unsigned all = (1U << (exponent_bits + mantissa_bits)) - 1;
  const unsigned infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  // What is no number: the first of IEEE's, the only one, or nothing.
  if (std::isnan(value)) return top == Top::kInfinities ? infinity | 1U << (mantissa_bits - 1) : all;
  const unsigned largest = top == Top::kInfinities ? infinity - 1 : top == Top::kOneNaN ? all - 1 : all;
  const double magnitude = std::fabs(value);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int least = 1 - bias;  // of normal numbers
  const int exponent = magnitude > 0 ? std::max(std::ilogb(std::min(magnitude, 0x1p100)), least) : least;
  // In units of the last place; where it rounds up to the next power the carry goes into the exponent by itself.
  const double units = std::nearbyint(std::ldexp(std::min(magnitude, 0x1p100), mantissa_bits - exponent));
  const double number = std::ldexp(exponent - least, mantissa_bits) + units;
  if (number > largest) return sign | (saturates ? largest : infinity);
  return sign | static_cast<unsigned>(number);
}

const SmallFloat* SmallFloatOf(DataType type) {
  switch (type) {
    case DataType::kF16:
      return &kHalf;
    case DataType::kF8E4M3:
      return &kE4M3;
    case DataType::kF8E5M2:
      return &kE5M2;
    case DataType::kF4E2M1:
      return &kE2M1;
    default:
      return nullptr;
  }
}

double PowerOfScale(unsigned bits) {
  return bits == kNoScale ? std::numeric_limits<double>::quiet_NaN()
                          : std::ldexp(1, static_cast<int>(bits) - kScaleBias);
}

unsigned ScaleOfPower(double value) {
  if (!(value > 0)) return std::isnan(value) ? kNoScale : 0;
  return static_cast<unsigned>(std::clamp(std::nearbyint(std::log2(value)) + kScaleBias, 0.0, 254.0));
}

}  // namespace infimum
