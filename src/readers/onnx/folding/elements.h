// The elements of small constants as 64-bit integers or doubles, and the index arithmetic that moves
// them. Everything here is bounded: no constant has more than kMostFoldedElements elements.
//
//   Elements e = *Decode(tensor);              // u8 {1, 2} -> integers {1, 2}
//   Encode(e, DataType::kS64, Shape{{2}})      // s64 {1, 2}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/core/graph/tensor.h"

namespace infimum {

struct Elements {
  bool floating = false;
  std::vector<std::int64_t> integers;  // of integer types and bool
  std::vector<double> numbers;         // of floating point types

  std::size_t size() const { return floating ? numbers.size() : integers.size(); }
  // Either kind as a number.
  double number(std::size_t index) const { return floating ? numbers[index] : static_cast<double>(integers[index]); }
};

std::optional<Elements> Decode(const Tensor& tensor);

// Elements of `type`. Integers wrap as a C++ conversion does, floating point rounds to nearest even;
// nullopt for a number that an integer type cannot hold and for types that are never computed (f8, 4 bits).
std::optional<Tensor> Encode(const Elements& elements, DataType type, const Shape& shape);

// For each element of the result, row-major, the index of the element that it is taken from.
using Indices = std::vector<std::size_t>;

// Nullopt where `from` does not stretch to `to`, or where `to` has too many elements.
std::optional<Indices> BroadcastIndices(const Shape& from, const Shape& to);
// `strides` in elements, one for each dimension of `to`; the caller guarantees that all are inside.
Indices StridedIndices(const Shape& to, std::int64_t offset, const std::vector<std::int64_t>& strides);
std::vector<std::int64_t> RowMajorStrides(const Shape& shape);

// The chosen elements with their type; nullopt for 4-bit types and indices out of range.
std::optional<Tensor> Take(const Tensor& from, const Indices& indices, const Shape& shape);

// A count that is small enough to fold.
std::optional<std::size_t> SmallCount(const Shape& shape);

}  // namespace infimum
