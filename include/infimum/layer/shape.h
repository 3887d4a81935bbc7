// The extent of a tensor, outermost dimension first, in the model's logical order (NCHW).
//
//   Format(Shape{{1, 64, 56, 56}}) == "1x64x56x56";   Format(Shape{}) == "scalar"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"

namespace infimum {

struct Shape {
  std::vector<std::int64_t> dims;

  std::size_t rank() const { return dims.size(); }
  friend bool operator==(const Shape&, const Shape&) = default;
};

// No tensor may have more elements than this, so that every count of bytes and FLOPs built from one
// or two of them stays an exact 64-bit integer; a shape beyond it is refused with an error.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 47;

// The product of the dimensions; 1 for a scalar. An error for a negative dimension or a product over
// kMaxElements.
Result<std::int64_t> CheckedElementCount(const Shape& shape);

// The same for a shape that was checked before; aborts where CheckedElementCount would return an error.
std::int64_t ElementCount(const Shape& shape);

std::string Format(const Shape& shape);
Result<Shape> ParseShape(std::string_view text);

// NumPy's broadcasting, as ONNX uses it: aligned at the last dimension, 1 stretches.
Result<Shape> Broadcast(const Shape& a, const Shape& b);

}  // namespace infimum
