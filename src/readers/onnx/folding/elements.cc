#include "src/readers/onnx/folding/elements.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "infimum/layer/number_types.h"
#include "src/readers/onnx/parse/node_view.h"
#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {
namespace {

template <class T, class From>
std::vector<std::byte> ToBytes(const std::vector<From>& from) {
  std::vector<std::byte> bytes(from.size() * sizeof(T));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const T element = static_cast<T>(from[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

// IEEE half precision, rounded to nearest even.
std::uint16_t HalfBits(double number) {
  const std::uint16_t sign = std::signbit(number) ? 0x8000 : 0;
  const double magnitude = std::fabs(number);
  if (std::isnan(number)) return sign | 0x7E00;
  if (magnitude >= 65520.0) return sign | 0x7C00;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), -14);
  // The carry of a mantissa that rounds up runs into the exponent, as it should.
  const auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<std::uint16_t>(sign + (exponent + 14) * 1024 + mantissa);
}

std::uint16_t BrainBits(double number) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if (std::isnan(number)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// Truncated towards zero; nullopt where some number has no such integer.
std::optional<std::vector<std::int64_t>> Truncated(const std::vector<double>& numbers) {
  std::vector<std::int64_t> integers;
  integers.reserve(numbers.size());
  for (const double number : numbers) {
    if (!(std::fabs(number) < 0x1p63)) return std::nullopt;
    integers.push_back(static_cast<std::int64_t>(number));
  }
  return integers;
}

std::optional<std::vector<std::byte>> FloatingBytes(const std::vector<double>& numbers, DataType type) {
  std::vector<std::uint16_t> halves;
  switch (type) {
    case DataType::kF64:
      return ToBytes<double>(numbers);
    case DataType::kF32:
      return ToBytes<float>(numbers);
    case DataType::kF16:
      for (const double number : numbers) halves.push_back(HalfBits(number));
      return ToBytes<std::uint16_t>(halves);
    case DataType::kBF16:
      for (const double number : numbers) halves.push_back(BrainBits(number));
      return ToBytes<std::uint16_t>(halves);
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<std::byte>> IntegerBytes(const std::vector<std::int64_t>& integers, DataType type) {
  using Bytes = std::optional<std::vector<std::byte>>;
  return WithNumber(
      type, [&]<class T>(T) { return Bytes(ToBytes<T>(integers)); }, [] { return Bytes(); });
}

}  // namespace

std::optional<Elements> Decode(const Tensor& tensor) {
  Elements elements;
  elements.floating = IsFloatingPoint(tensor.type);
  if (elements.floating) {
    std::optional<std::vector<double>> numbers = NumbersOf(&tensor);
    if (!numbers) return std::nullopt;
    elements.numbers = std::move(*numbers);
  } else {
    std::optional<std::vector<std::int64_t>> integers = IntegersOf(&tensor);
    if (!integers) return std::nullopt;
    elements.integers = std::move(*integers);
  }
  return elements;
}

std::optional<Tensor> Encode(const Elements& elements, DataType type, const Shape& shape) {
  const std::optional<std::size_t> count = SmallCount(shape);
  if (!count || *count != elements.size()) return std::nullopt;
  std::optional<std::vector<std::byte>> bytes;
  if (type == DataType::kBool) {
    std::vector<std::uint8_t> truths(*count);
    for (std::size_t i = 0; i < *count; ++i)
      truths[i] = elements.floating ? elements.numbers[i] != 0 : elements.integers[i] != 0;
    bytes = ToBytes<std::uint8_t>(truths);
  } else if (IsFloatingPoint(type)) {
    bytes = FloatingBytes(
        elements.floating ? elements.numbers : std::vector<double>(elements.integers.begin(), elements.integers.end()),
        type);
  } else if (elements.floating) {
    if (const auto integers = Truncated(elements.numbers)) bytes = IntegerBytes(*integers, type);
  } else {
    bytes = IntegerBytes(elements.integers, type);
  }
  if (!bytes) return std::nullopt;
  return Tensor{type, shape, std::move(*bytes)};
}

std::optional<std::size_t> SmallCount(const Shape& shape) {
  const Result<std::int64_t> count = CheckedElementCount(shape);
  if (!count.ok() || *count > kMostFoldedElements) return std::nullopt;
  return static_cast<std::size_t>(*count);
}

std::vector<std::int64_t> RowMajorStrides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.rank(), 1);
  // Only a tensor without elements can have extents whose product overflows, and it is never walked.
  for (std::size_t i = shape.rank(); i-- > 1;)
    if (__builtin_mul_overflow(strides[i], shape.dims[i], &strides[i - 1])) strides[i - 1] = 0;
  return strides;
}

Indices StridedIndices(const Shape& to, std::int64_t offset, const std::vector<std::int64_t>& strides) {
  const std::size_t count = SmallCount(to).value_or(0);
  Indices indices(count);
  std::vector<std::int64_t> position(to.rank(), 0);
  std::int64_t index = offset;
  for (std::size_t i = 0; i < count; ++i) {
    indices[i] = static_cast<std::size_t>(index);
    for (std::size_t axis = to.rank(); axis-- > 0;) {
      index += strides[axis];
      if (++position[axis] < to.dims[axis]) break;
      index -= strides[axis] * to.dims[axis];
      position[axis] = 0;
    }
  }
  return indices;
}

std::optional<Indices> BroadcastIndices(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank() || !SmallCount(to)) return std::nullopt;
  const std::vector<std::int64_t> own = RowMajorStrides(from);
  std::vector<std::int64_t> strides(to.rank(), 0);
  for (std::size_t i = 0; i < from.rank(); ++i) {
    const std::size_t axis = to.rank() - from.rank() + i;
    if (from.dims[i] == to.dims[axis])
      strides[axis] = own[i];
    else if (from.dims[i] != 1)
      return std::nullopt;
  }
  return StridedIndices(to, 0, strides);
}

std::optional<Tensor> Take(const Tensor& from, const Indices& indices, const Shape& shape) {
  const std::optional<std::size_t> count = SmallCount(shape);
  if (!count || *count != indices.size() || BitsPerElement(from.type) % 8 != 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(BitsPerElement(from.type) / 8);
  if (size == 0) return std::nullopt;
  const std::size_t available = from.bytes.size() / size;
  Tensor result{from.type, shape, std::vector<std::byte>(*count * size)};
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= available) return std::nullopt;
    std::memcpy(result.bytes.data() + i * size, from.bytes.data() + indices[i] * size, size);
  }
  return result;
}

}  // namespace infimum
