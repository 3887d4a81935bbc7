#include "infimum/layer/shape.h"

#include <algorithm>

#include "infimum/base/text.h"

namespace infimum {

Result<std::int64_t> CheckedElementCount(const Shape& shape) {
  for (const std::int64_t dim : shape.dims)
    if (dim < 0) return Error{"a negative dimension in shape " + Quoted(Format(shape))};
  if (std::ranges::find(shape.dims, 0) != shape.dims.end()) return std::int64_t{0};
  std::int64_t count = 1;
  for (const std::int64_t dim : shape.dims) {
    if (dim > kMaxElements / count)
      return Error{"shape " + Quoted(Format(shape)) + " has more than " + std::to_string(kMaxElements) + " elements"};
    count *= dim;
  }
  return count;
}

std::int64_t ElementCount(const Shape& shape) {
  const Result<std::int64_t> count = CheckedElementCount(shape);
  INFIMUM_CHECK(count.ok(), "a shape is checked before its elements are counted");
  return *count;
}

std::string Format(const Shape& shape) {
  if (shape.dims.empty()) return "scalar";
  std::string text;
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    if (i > 0) text += 'x';
    text += std::to_string(shape.dims[i]);
  }
  return text;
}

Result<Shape> ParseShape(std::string_view text) {
  Shape shape;
  if (text == "scalar") return shape;
  for (const std::string_view piece : Split(text, 'x')) {
    const std::optional<std::int64_t> dim = ParseInteger(piece);
    if (!dim) return Error{Quoted(text) + " is not a shape, write one like 1x64x56x56, or scalar"};
    shape.dims.push_back(*dim);
  }
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(shape));
  return shape;
}

Result<Shape> Broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.rank() - shorter.rank();
  for (std::size_t i = 0; i < shorter.rank(); ++i) {
    std::int64_t& dim = result.dims[offset + i];
    if (dim == 1)
      dim = shorter.dims[i];
    else if (shorter.dims[i] != 1 && shorter.dims[i] != dim)
      return Error{"shapes " + Quoted(Format(a)) + " and " + Quoted(Format(b)) + " do not broadcast"};
  }
  return result;
}

}  // namespace infimum
