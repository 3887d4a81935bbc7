#include "microbench/reference/host_tensor.h"

#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "infimum/layer/number_types.h"
#include "src/core/layer/small_float.h"

namespace infimum::cpu {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t SizeOf(AlignedBuffer::Pages pages) { return pages == AlignedBuffer::Pages::kHuge ? kHugePage : 4096; }

double FromBrain(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint16_t ToBrain(double value) {
  if (std::isnan(value)) return 0x7fc0;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T>
T Saturate(double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  // The bounds of 64-bit types are not doubles; the comparison with >= keeps the cast defined.
  if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

}  // namespace

void AlignedBuffer::Free::operator()(void* memory) const { std::free(memory); }

AlignedBuffer::Pages AlignedBuffer::PagesOf(std::size_t bytes) {
  return bytes + kBehind >= 2 * kHugePage ? Pages::kHuge : Pages::kSmall;
}

std::size_t AlignedBuffer::Rounded(std::size_t bytes, Pages pages) {
  const std::size_t page = SizeOf(pages);
  return (bytes + kBehind + page - 1) / page * page;
}

Result<AlignedBuffer> AlignedBuffer::Make(std::size_t bytes, Pages pages) {
  const std::size_t alignment = SizeOf(pages), rounded = Rounded(bytes, pages);
  if (rounded < bytes) return Error{"a buffer larger than the address space, use a smaller layer"};
  AlignedBuffer buffer;
  buffer.memory_.reset(std::aligned_alloc(alignment, rounded));
  if (buffer.memory_ == nullptr) {
    return Error{"no memory for " + std::to_string(bytes) + " bytes, use a smaller batch or a larger machine"};
  }
  // A hint: where it is refused the buffer works all the same. What is large and asks for small pages is many buffers.
  if (pages == Pages::kHuge) (void)madvise(buffer.memory_.get(), rounded, MADV_HUGEPAGE);
  if (pages != PagesOf(bytes)) (void)madvise(buffer.memory_.get(), rounded, MADV_NOHUGEPAGE);
  std::memset(buffer.memory_.get(), 0, rounded);
  buffer.size_ = bytes;
  return buffer;
}

int BytesPerElement(DataType type) {
  if (type == DataType::kF4E2M1) return 1;  // as integers of 4 bits, in the buffers of their wider types
  const int bits = BitsPerElement(type);
  return bits % 8 == 0 ? bits / 8 : 0;
}

DataType BufferType(DataType type) {
  if (type == DataType::kU4) return DataType::kU8;
  if (type == DataType::kS4) return DataType::kS8;
  return type;
}

IntegerRange RangeOf(DataType type) {
  if (!IsInteger(type)) return {0, 1};
  return WithNumber(
      type,
      []<class T>(T) {
        return IntegerRange{static_cast<double>(std::numeric_limits<T>::min()),
                            static_cast<double>(std::numeric_limits<T>::max())};
      },
      [] {
        return IntegerRange{0, 1};
      });
}

Result<HostTensor> HostTensor::Make(const Shape& shape, DataType type) {
  INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, Over(nullptr, shape, type));
  INFIMUM_ASSIGN_OR_RETURN(tensor.buffer_, AlignedBuffer::Make(tensor.bytes_));
  tensor.data_ = tensor.buffer_.data();
  return tensor;
}

Result<HostTensor> HostTensor::Over(void* data, const Shape& shape, DataType type,
                                    std::shared_ptr<const MemoryOrder> order) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t count, CheckedElementCount(shape));
  type = BufferType(type);
  if (BytesPerElement(type) == 0) {
    return Error{"unsupported: no buffers of type '" + std::string(Name(type)) + "' on a CPU"};
  }
  HostTensor tensor;
  tensor.shape_ = shape;
  tensor.type_ = type;
  tensor.count_ = count;
  tensor.bytes_ = static_cast<std::size_t>(count) * static_cast<std::size_t>(BytesPerElement(type));
  tensor.data_ = data;
  tensor.order_ = std::move(order);
  return tensor;
}

double HostTensor::GetElement(const void* data, DataType type, std::int64_t index) {
  const auto at = [&]<class T>(T) { return static_cast<const T*>(data)[index]; };
  if (const SmallFloat* small = SmallFloatOf(type))
    return small->ValueOf(type == DataType::kF16 ? at(std::uint16_t{}) : at(std::uint8_t{}));
  if (type == DataType::kF8E8M0) return PowerOfScale(at(std::uint8_t{}));
  if (type == DataType::kBF16) return FromBrain(at(std::uint16_t{}));
  if (type == DataType::kBool) return at(std::uint8_t{}) != 0 ? 1 : 0;
  return WithNumber(
      type, [&](auto number) { return static_cast<double>(at(number)); },
      [] { return std::numeric_limits<double>::quiet_NaN(); });
}

void HostTensor::SetElement(void* data, DataType type, std::int64_t index, double value) {
  const auto put = [&]<class T>(T element) { static_cast<T*>(data)[index] = element; };
  if (const SmallFloat* small = SmallFloatOf(type)) {
    const unsigned bits = small->BitsOf(value);
    return type == DataType::kF16 ? put(static_cast<std::uint16_t>(bits)) : put(static_cast<std::uint8_t>(bits));
  }
  if (type == DataType::kF8E8M0) return put(static_cast<std::uint8_t>(ScaleOfPower(value)));
  if (type == DataType::kBF16) return put(ToBrain(value));
  if (type == DataType::kBool) return put(static_cast<std::uint8_t>(value != 0));
  WithNumber(
      type,
      [&]<class T>(T) {
        if constexpr (std::is_floating_point_v<T>)
          put(static_cast<T>(value));
        else
          put(Saturate<T>(value));
      },
      [] {});
}

}  // namespace infimum::cpu
