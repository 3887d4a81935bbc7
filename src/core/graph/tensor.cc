#include "src/core/graph/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "infimum/layer/number_types.h"
#include "src/core/layer/small_float.h"

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
        result.push_back(SmallFloatOf(tensor->type)->ValueOf(bits));
      return result;
    case DataType::kBF16:
      for (const std::uint32_t bits : Elements<std::uint16_t, std::uint32_t>(*tensor, *count))
        result.push_back(std::bit_cast<float>(bits << 16));
      return result;
    case DataType::kF8E4M3:
    case DataType::kF8E5M2:
      for (const unsigned bits : Elements<std::uint8_t, unsigned>(*tensor, *count))
        result.push_back(SmallFloatOf(tensor->type)->ValueOf(bits));
      return result;
    case DataType::kF8E8M0:
      for (const unsigned bits : Elements<std::uint8_t, unsigned>(*tensor, *count))
        result.push_back(PowerOfScale(bits));
      return result;
    case DataType::kF4E2M1:
      for (const unsigned bits : HalfBytes<unsigned>(*tensor, *count, false))
        result.push_back(SmallFloatOf(tensor->type)->ValueOf(bits));
      return result;
    default:
      return WholeNumbers<double>(*tensor, *count);
  }
}

}  // namespace infimum
