#include "microbench/gpu/device/tensor_placement.h"

#include <cstring>

#include "infimum/base/check.h"
#include "src/core/measurement/cudnn_layer.h"
#include "src/core/measurement/cudnn_shapes.h"

namespace infimum::cuda {
namespace {

// "1D Block Scaling Factors Layout" of cuBLAS's documentation: of tiles, one behind the other, rows 32 apart are
// neighbours.
std::int64_t InTiles(std::int64_t place, std::int64_t columns) {
  const std::int64_t row = place / columns, column = place % columns;
  const std::int64_t tile = row / 128 * (columns / 4) + column / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

// visit(element, place) for all elements, in row-major order.
template <class Visitor>
void ForEachElement(const TensorPlacement& placement, const Visitor& visit) {
  const std::vector<std::int64_t>& dims = placement.shape.dims;
  const std::int64_t count = ElementCount(placement.shape);
  std::vector<std::int64_t> position(dims.size(), 0);
  std::int64_t place = 0;
  for (std::int64_t element = 0; element < count; ++element) {
    visit(element, placement.tiled_columns > 0 ? InTiles(place, placement.tiled_columns) : place);
    for (std::size_t i = dims.size(); i-- > 0;) {
      place += placement.strides[i];
      if (++position[i] < dims[i]) break;
      place -= placement.strides[i] * dims[i];
      position[i] = 0;
    }
  }
}

// Copies of a compile-time size are single instructions.
template <class Copy>
void WithElementSize(std::size_t size, const Copy& copy) {
  switch (size) {
    case 1:
      return copy([](void* to, const void* from) { std::memcpy(to, from, 1); });
    case 2:
      return copy([](void* to, const void* from) { std::memcpy(to, from, 2); });
    case 4:
      return copy([](void* to, const void* from) { std::memcpy(to, from, 4); });
    default:
      return copy([](void* to, const void* from) { std::memcpy(to, from, 8); });
  }
}

// Two elements of 4 bits to a byte, and back, with the sign.
std::vector<std::byte> InHalves(const std::vector<std::byte>& whole) {
  std::vector<std::byte> halves((whole.size() + 1) / 2);
  for (std::size_t i = 0; i < whole.size(); ++i) halves[i / 2] |= (whole[i] & std::byte{0xf}) << (i % 2 * 4);
  return halves;
}
std::vector<std::byte> FromHalves(const std::vector<std::byte>& halves, std::size_t count, DataType type) {
  const bool is_signed = type == DataType::kS4;
  std::vector<std::byte> whole(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte half = (halves[i / 2] >> (i % 2 * 4)) & std::byte{0xf};
    whole[i] = is_signed && half >= std::byte{8} ? half | std::byte{0xf0} : half;
  }
  return whole;
}

}  // namespace

TensorPlacement TensorPlacement::RowMajor(const Shape& shape) { return {shape, shape, Strides(shape, false), 0}; }

TensorPlacement TensorPlacement::InScaleTiles(const Shape& shape, bool of_columns) {
  const cudnn::Layout layout = of_columns ? cudnn::Layout::kSecondScales : cudnn::Layout::kScales;
  const cudnn::Dims room = cudnn::RoomOf(shape.dims, layout, {});
  return {shape, Shape{room}, cudnn::StridesOf(room, layout, {}), of_columns ? room[room.size() - 2] : room.back()};
}

TensorPlacement TensorPlacement::WithChannels(const Shape& shape, bool channels_last, std::int64_t multiple) {
  TensorPlacement placement{shape, shape, {}, 0};
  std::int64_t& channels = placement.room.dims[1];
  channels = (channels + multiple - 1) / multiple * multiple;
  placement.strides = Strides(placement.room, channels_last);
  return placement;
}

std::int64_t TensorPlacement::elements() const { return ElementCount(room); }

bool TensorPlacement::is_row_major() const {
  if (shape != room || tiled_columns > 0) return false;
  // Dimensions of one element lie anywhere.
  std::int64_t stride = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    if (shape.dims[i] == 1) continue;
    if (strides[i] != stride) return false;
    stride *= shape.dims[i];
  }
  return true;
}

Bytes TensorPlacement::bytes(DataType type) const { return Bytes{(elements() * BitsPerElement(type) + 7) / 8}; }

std::vector<std::byte> Packed(const cpu::HostTensor& tensor, const TensorPlacement& placement, DataType type) {
  INFIMUM_CHECK(ElementCount(placement.shape) == tensor.count(), "a placement is of another tensor");
  const auto size = static_cast<std::size_t>(cpu::BytesPerElement(tensor.type()));
  std::vector<std::byte> packed(static_cast<std::size_t>(placement.elements()) * size);
  const auto* from = static_cast<const std::byte*>(tensor.data());
  if (placement.is_row_major()) {
    std::memcpy(packed.data(), from, packed.size());
    return BitsPerElement(type) == 4 ? InHalves(packed) : packed;
  }
  WithElementSize(size, [&](auto copy) {
    ForEachElement(placement, [&](std::int64_t element, std::int64_t place) {
      copy(packed.data() + static_cast<std::size_t>(place) * size, from + static_cast<std::size_t>(element) * size);
    });
  });
  return BitsPerElement(type) == 4 ? InHalves(packed) : packed;
}

void Unpack(const std::vector<std::byte>& given, const TensorPlacement& placement, DataType type,
            cpu::HostTensor& tensor) {
  const std::vector<std::byte>& packed =
      BitsPerElement(type) == 4 ? FromHalves(given, static_cast<std::size_t>(placement.elements()), type) : given;
  INFIMUM_CHECK(ElementCount(placement.shape) == tensor.count(), "a placement is of another tensor");
  const auto size = static_cast<std::size_t>(cpu::BytesPerElement(tensor.type()));
  INFIMUM_CHECK(packed.size() == static_cast<std::size_t>(placement.elements()) * size,
                "packed bytes are of another tensor");
  auto* to = static_cast<std::byte*>(tensor.data());
  WithElementSize(size, [&](auto copy) {
    ForEachElement(placement, [&](std::int64_t element, std::int64_t place) {
      copy(to + static_cast<std::size_t>(element) * size, packed.data() + static_cast<std::size_t>(place) * size);
    });
  });
}

}  // namespace infimum::cuda
