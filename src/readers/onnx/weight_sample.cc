#include "src/readers/onnx/weight_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {
namespace {

using onnx::TensorProto;
using ByteSpan = std::span<const std::byte>;

constexpr std::int64_t kFewestElements = 4096;
constexpr std::size_t kBlocks = 16;
constexpr std::size_t kMostSampled = 1024;  // elements
constexpr std::size_t kWidest = 8;          // bytes of an element
constexpr std::size_t kLongestNumber = 10;  // bytes of one of protobuf's
constexpr std::int64_t kFirstFours = 64;
constexpr std::int64_t kMostZeroPoints = 1 << 20;

bool MayBeWeights(DataType type) {
  return IsFloatingPoint(type) || (IsInteger(type) && BitsPerElement(type) > 0 && BitsPerElement(type) <= 16);
}

// Whole units, at most `most` of them: all where there are no more.
std::vector<ByteSpan> Blocks(ByteSpan bytes, std::size_t unit, std::size_t most) {
  const std::size_t units = bytes.size() / unit, each = most / kBlocks;
  if (units <= most) return {bytes.first(units * unit)};
  std::vector<ByteSpan> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i)
    blocks.push_back(bytes.subspan((units - each) * i / (kBlocks - 1) * unit, each * unit));
  return blocks;
}

// Elements of `width` bytes from entries of `stride` bytes, low bytes first.
std::vector<std::byte> SamplePacked(ByteSpan bytes, std::size_t width, std::size_t stride) {
  std::vector<std::byte> sample;
  sample.reserve(kMostSampled * width);
  for (const ByteSpan block : Blocks(bytes, stride, kMostSampled)) {
    if (stride == width) sample.insert(sample.end(), block.begin(), block.end());
    for (std::size_t at = 0; stride != width && at < block.size(); at += stride)
      sample.insert(sample.end(), block.begin() + static_cast<std::ptrdiff_t>(at),
                    block.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
  return sample;
}

// Elements of `width` bytes from protobuf's numbers of base 128. A block that does not start with the first starts
// behind the end of one.
std::vector<std::byte> SampleNumbers(ByteSpan bytes, std::size_t width) {
  std::vector<std::byte> sample;
  const auto is_last = [](std::byte byte) { return (byte & std::byte{128}) == std::byte{0}; };
  for (ByteSpan block : Blocks(bytes, 1, kMostSampled * kLongestNumber)) {
    if (block.data() != bytes.data())
      block = {std::ranges::find_if(block, is_last), block.end()}, block = block.subspan(block.empty() ? 0 : 1);
    for (std::uint64_t number = 0, shift = 0; const std::byte byte : block) {
      if (shift < 64) number |= std::to_integer<std::uint64_t>(byte & std::byte{127}) << shift;
      shift += 7;
      if (!is_last(byte)) continue;
      for (std::size_t i = 0; i < width; ++i) sample.push_back(static_cast<std::byte>(number >> (8 * i)));
      number = shift = 0;
    }
  }
  return sample;
}

// Elements of `width` bytes, low bytes first, in entries of `stride` bytes; empty where they are otherwise stored.
struct PackedElements {
  ByteSpan bytes;
  std::size_t width = 1, stride = 1;
};

PackedElements PackedOf(const TensorProto& tensor, const Shape& shape, const StoredElements& elements) {
  const DataType type = DataTypeOf(tensor.data_type());
  const auto width = static_cast<std::size_t>(std::max(BitsPerElement(type) / 8, 1));
  const auto packed = [&](const void* data, std::size_t size, std::size_t stride) -> PackedElements {
    const auto expected = static_cast<std::size_t>(SizeOf(type, ElementCount(shape)).value) / width * stride;
    if (size != expected) return {};
    return {{static_cast<const std::byte*>(data), size}, width, stride};
  };
  const bool is_beside = tensor.data_location() == TensorProto::EXTERNAL;
  if (tensor.has_raw_data() && !is_beside) return packed(tensor.raw_data().data(), tensor.raw_data().size(), width);
  if (!elements.bytes.empty()) {
    const int field = type == DataType::kF32   ? TensorProto::kFloatDataFieldNumber
                      : type == DataType::kF64 ? TensorProto::kDoubleDataFieldNumber
                                               : TensorProto::kRawDataFieldNumber;
    if (elements.field != TensorProto::kRawDataFieldNumber && elements.field != field) return {};
    return packed(elements.bytes.data(), elements.bytes.size(), width);
  }
  const auto of_field = [&](const auto& entries) {
    return packed(entries.data(), static_cast<std::size_t>(entries.size()) * sizeof(*entries.data()),
                  sizeof(*entries.data()));
  };
  if (type == DataType::kF32) return of_field(tensor.float_data());
  if (type == DataType::kF64) return of_field(tensor.double_data());
  return of_field(tensor.int32_data());
}

std::vector<std::byte> SampleOf(const TensorProto& tensor, const Shape& shape, const StoredElements& elements) {
  const DataType type = DataTypeOf(tensor.data_type());
  const auto width = static_cast<std::size_t>(std::max(BitsPerElement(type) / 8, 1));
  if (!tensor.has_raw_data() && elements.field == TensorProto::kInt32DataFieldNumber && type != DataType::kF32 &&
      type != DataType::kF64 && !elements.bytes.empty())
    return SampleNumbers(elements.bytes, width);
  const PackedElements packed = PackedOf(tensor, shape, elements);
  return SamplePacked(packed.bytes, packed.width, packed.stride);
}

// Along the middle one of three extents, by the first so many fours. `is_zero(i)`: of element i.
template <class IsZero>
bool HasTwoOfFour(std::int64_t outer, std::int64_t length, std::int64_t inner, const IsZero& is_zero,
                  std::int64_t most_fours) {
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t four = 0; four < length / 4; ++four)
      for (std::int64_t i = 0; i < inner; ++i) {
        if (most_fours-- == 0) return true;
        const std::int64_t first = (o * length + four * 4) * inner + i;
        int others = 0;
        for (std::int64_t k = 0; k < 4; ++k) others += is_zero(first + k * inner) ? 0 : 1;
        if (others > 2) return false;
      }
  return true;
}

// Bits of the bytes that `counts` counts, each by itself.
double Entropy(const std::array<std::uint32_t, 256>& counts, std::size_t bytes) {
  const auto n = static_cast<double>(bytes);
  double sum = 0, values = 0;
  for (const std::uint32_t count : counts) {
    if (count == 0) continue;
    ++values;
    sum += static_cast<double>(count) * static_cast<double>(std::log2(static_cast<float>(count)));
  }
  return std::clamp(std::log2(n) - sum / n + (values - 1) / (2 * n * std::numbers::ln2), 0.0, 8.0);
}

}  // namespace

// A zero of f8e8m0 is a number.
bool HasZeroPattern(DataType type) {
  return (IsFloatingPoint(type) && BitsPerElement(type) >= 8 && type != DataType::kF8E8M0) || type == DataType::kS8;
}

ZeroPattern ZeroPatternOf(const TensorProto& tensor, const Shape& shape, const StoredElements& elements) {
  const DataType type = DataTypeOf(tensor.data_type());
  const std::int64_t count = ElementCount(shape);
  const bool is_vector = shape.rank() <= 1, is_byte = IsInteger(type) && BitsPerElement(type) == 8;
  if (is_vector ? !is_byte || count > kMostZeroPoints : !HasZeroPattern(type) || count < kFewestElements) return {};
  const PackedElements packed = PackedOf(tensor, shape, elements);
  if (packed.bytes.empty()) return {};
  const auto sign = IsFloatingPoint(type) ? std::byte{128} : std::byte{0};  // -0 is zero
  const auto is_zero_at = [&](const std::byte* element) {
    std::byte any = element[packed.width - 1] & ~sign;
    for (std::size_t k = 0; k + 1 < packed.width; ++k) any |= element[k];
    return any == std::byte{0};
  };
  const auto is_zero = [&](std::int64_t i) {
    return is_zero_at(packed.bytes.data() + static_cast<std::size_t>(i) * packed.stride);
  };
  ZeroPattern found;
  if (is_vector) {
    found.all = true;
    for (std::int64_t i = 0; i < count && found.all; ++i) found.all = is_zero(i);
    return found;
  }
  const std::int64_t rows = shape.dims[shape.rank() - 2], columns = shape.dims.back(),
                     matrices = count / (rows * columns);
  const auto look = [&](std::int64_t most_fours) {
    found.rows = found.rows && HasTwoOfFour(matrices, rows, columns, is_zero, most_fours);
    found.columns = found.columns && HasTwoOfFour(matrices * rows, columns, 1, is_zero, most_fours);
    return found.rows || found.columns;
  };
  found = {rows % 4 == 0, columns % 4 == 0};
  if (!look(kFirstFours)) return {};
  // What is zero throughout would be read to its end for nothing.
  const std::vector<std::byte> sample = SampleOf(tensor, shape, elements);
  bool any = false;
  for (std::size_t at = 0; at + packed.width <= sample.size() && !any; at += packed.width)
    any = !is_zero_at(sample.data() + at);
  return any && look(count) ? found : ZeroPattern{};
}

void WeightSampler::Add(const TensorProto& tensor, const Shape& shape, StoredElements elements) {
  const DataType type = DataTypeOf(tensor.data_type());
  const std::int64_t count = ElementCount(shape);
  if (!MayBeWeights(type) || count < kFewestElements) return;
  if (floats_ && type != floats_ && (type == DataType::kF32 || type == DataType::kF16 || type == DataType::kBF16))
    return;
  const std::vector<std::byte> sample = SampleOf(tensor, shape, elements);
  if (sample.empty()) return;

  const int bits = BitsPerElement(type);
  const auto width = static_cast<std::size_t>(std::max(bits / 8, 1));
  const auto sign = IsFloatingPoint(type) ? std::byte{128} : std::byte{0};  // -0 is zero
  std::array<std::array<std::uint32_t, 256>, kWidest> counts{};
  std::size_t zeros = 0;
  for (std::size_t at = 0; at + width <= sample.size(); at += width) {
    std::byte any{0};
    for (std::size_t i = 0; i < width; ++i) {
      const std::byte byte = sample[at + i];
      ++counts[i][std::to_integer<std::size_t>(byte)];
      any |= i + 1 == width ? byte & ~sign : byte;
    }
    if (bits == 4)
      zeros +=
          ((any & std::byte{0x0F}) == std::byte{0} ? 1u : 0u) + ((any & std::byte{0xF0}) == std::byte{0} ? 1u : 0u);
    else
      zeros += any == std::byte{0} ? 1 : 0;
  }
  const std::size_t sampled = sample.size() / width;
  double information = 0;
  for (std::size_t i = 0; i < width; ++i) information += Entropy(counts[i], sampled);
  const std::int64_t bytes = SizeOf(type, count).value;
  bytes_ += bytes;
  zeros_ +=
      static_cast<double>(bytes) * static_cast<double>(zeros) / static_cast<double>(sampled * (bits == 4 ? 2 : 1));
  information_ += static_cast<double>(bytes) * information / static_cast<double>(8 * width);
}

std::optional<WeightSample> WeightSampler::Take() const {
  if (bytes_ == 0) return std::nullopt;
  const auto all = static_cast<double>(bytes_);
  return WeightSample{Bytes{bytes_}, zeros_ / all, information_ / all};
}

}  // namespace infimum
