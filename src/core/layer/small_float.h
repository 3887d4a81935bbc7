// Floating point formats of 16 bits and fewer: IEEE's half, and those of the Open Compute Project (OFP8, MX).
//
//   const SmallFloat* e4m3 = SmallFloatOf(DataType::kF8E4M3);
//   e4m3->ValueOf(0x7e) == 448;   e4m3->BitsOf(1000) == 0x7e, since it saturates
//
// bf16 is the upper half of an f32, and f8e8m0 has no sign: neither is one of these.
#pragma once

#include "infimum/layer/data_type.h"

namespace infimum {

struct SmallFloat {
  enum class Top {
    kInfinities,  // the largest exponent has infinities and what is no number
    kOneNaN,      // its largest mantissa alone is no number
    kNumbers,     // all are numbers
  };
  int exponent_bits = 5;
  int mantissa_bits = 10;
  Top top = Top::kInfinities;
  bool saturates = false;  // beyond the largest number comes that one, as ONNX casts; else infinity

  // NaN where `bits` are no number; bits above the format's are not looked at.
  double ValueOf(unsigned bits) const;
  // Rounded to nearest, ties to even.
  unsigned BitsOf(double value) const;
};

// Floats of 8 bits that are numbers, which f8e8m0's are not: scales.
constexpr bool IsFloat8(DataType type) { return type == DataType::kF8E4M3 || type == DataType::kF8E5M2; }
// Floats of 8 and 4 bits, f8e8m0 among them.
inline bool IsSmallFloat(DataType type) { return IsFloatingPoint(type) && BitsPerElement(type) <= 8; }

// nullptr for other types.
const SmallFloat* SmallFloatOf(DataType type);

// f8e8m0: 2^(bits - 127), where 255 is no number; the nearest power of two in what it is the logarithm of.
double PowerOfScale(unsigned bits);
unsigned ScaleOfPower(double value);

}  // namespace infimum
