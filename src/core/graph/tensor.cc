#include "src/core/graph/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "infimum/layer/number_types.h"

namespace infimum {
namespace {

template <class T, class Out>
std::vector<Out> Elements(const Tensor& tensor, std::size_t count) {
  std::vector<Out> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, tensor.bytes.data() + i * sizeof(T), sizeof(T));
    result[i] = static_cast<Out>(element);
  }
  return result;
}

// Elements of 4 bits, the first in the low half of its byte.
template <class Out>
std::vector<Out> HalfBytes(const Tensor& tensor, std::size_t count, bool is_signed) {
  std::vector<Out> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    int element = (std::to_integer<int>(tensor.bytes[i / 2]) >> (i % 2 == 0 ? 0 : 4)) & 15;
    if (is_signed && element > 7) element -= 16;
    result[i] = static_cast<Out>(element);
  }
  return result;
}

// A floating point format of 16 bits or fewer with an implicit leading one and subnormals. Infinities
// and NaN become what the format's exponent says; e4m3 has neither infinity nor more than one NaN.
double SmallFloat(unsigned bits, int exponent_bits, int mantissa_bits, bool has_infinity) {
  const unsigned sign = (bits >> (exponent_bits + mantissa_bits)) & 1u;
  const unsigned exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const bool top = exponent == (1u << exponent_bits) - 1;
  double magnitude = 0;
  if (top && has_infinity)
    magnitude = mantissa == 0 ? INFINITY : NAN;
  else if (top && !has_infinity && mantissa == (1u << mantissa_bits) - 1)
    magnitude = NAN;
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else
    magnitude = std::ldexp(mantissa + (1u << mantissa_bits), static_cast<int>(exponent) - bias - mantissa_bits);
  return sign != 0 ? -magnitude : magnitude;
}

// The element count of a tensor whose bytes fit its shape.
std::optional<std::size_t> CountOf(const Tensor* tensor) {
  if (tensor == nullptr) return std::nullopt;
  const Result<std::int64_t> count = CheckedElementCount(tensor->shape);
  if (!count.ok() || SizeOf(tensor->type, *count).value != static_cast<std::int64_t>(tensor->bytes.size()))
    return std::nullopt;
  return static_cast<std::size_t>(*count);
}

template <class Out>
std::optional<std::vector<Out>> WholeNumbers(const Tensor& tensor, std::size_t count) {
  using Numbers = std::optional<std::vector<Out>>;
  if (tensor.type == DataType::kS4) return HalfBytes<Out>(tensor, count, true);
  if (tensor.type == DataType::kU4) return HalfBytes<Out>(tensor, count, false);
  if (IsFloatingPoint(tensor.type)) return std::nullopt;
  return WithNumber(
      tensor.type, [&]<class T>(T) { return Numbers(Elements<T, Out>(tensor, count)); }, [] { return Numbers(); });
}

}  // namespace

std::optional<std::vector<std::int64_t>> IntegersOf(const Tensor* tensor) {
  const std::optional<std::size_t> count = CountOf(tensor);
  return count ? WholeNumbers<std::int64_t>(*tensor, *count) : std::nullopt;
}

std::optional<std::vector<double>> NumbersOf(const Tensor* tensor) {
  const std::optional<std::size_t> count = CountOf(tensor);
  if (!count) return std::nullopt;
  std::vector<double> result;
  switch (tensor->type) {
    case DataType::kF64:
      return Elements<double, double>(*tensor, *count);
    case DataType::kF32:
      return Elements<float, double>(*tensor, *count);
    case DataType::kF16:
      for (const unsigned bits : Elements<std::uint16_t, unsigned>(*tensor, *count))
        result.push_back(SmallFloat(bits, 5, 10, true));
      return result;
    case DataType::kBF16:
      for (const std::uint32_t bits : Elements<std::uint16_t, std::uint32_t>(*tensor, *count))
        result.push_back(std::bit_cast<float>(bits << 16));
      return result;
    case DataType::kF8E4M3:
      for (const unsigned bits : Elements<std::uint8_t, unsigned>(*tensor, *count))
        result.push_back(SmallFloat(bits, 4, 3, false));
      return result;
    case DataType::kF8E5M2:
      for (const unsigned bits : Elements<std::uint8_t, unsigned>(*tensor, *count))
        result.push_back(SmallFloat(bits, 5, 2, true));
      return result;
    default:
      return WholeNumbers<double>(*tensor, *count);
  }
}

}  // namespace infimum
