// How a tensor's elements lie in a GPU's memory, as a library wants them: strides, and channels that are filled up with
// zeros.
//
//   1x3x224x224, channels last, filled up to 8     shape 1x3x224x224   room 1x8x224x224   strides 401408,1,1792,8
//
// Host tensors are row-major; Packed() and Unpack() go between the two, element by element. Elements of 4 bits, which
// take a byte each there, lie two in a byte here, the first in the lower half.
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/base/units.h"
#include "infimum/layer/shape.h"
#include "microbench/reference/host_tensor.h"

namespace infimum::cuda {

struct TensorPlacement {
  Shape shape;                        // row-major positions in it are the host tensor's elements
  Shape room;                         // of the same rank, each extent at least the shape's
  std::vector<std::int64_t> strides;  // in elements; each place of `room` has its own
  // Of scales in the tiles of cuDNN and cuBLASLt, 128 rows by 4 scales: as many as the room has in a row. What strides
  // say is then where an element would lie without tiles.
  std::int64_t tiled_columns = 0;

  static TensorPlacement RowMajor(const Shape& shape);
  // Scales of blocks of rows, or of columns (which are rows then), in tiles; filled up with zeros to whole ones.
  static TensorPlacement InScaleTiles(const Shape& shape, bool of_columns);
  // The dimension at 1 is channels; `multiple` is what their count is filled up to.
  static TensorPlacement WithChannels(const Shape& shape, bool channels_last, std::int64_t multiple = 1);

  std::int64_t elements() const;  // of the room
  bool is_row_major() const;
  Bytes bytes(DataType type) const;

  friend bool operator==(const TensorPlacement&, const TensorPlacement&) = default;
};

// The tensor's elements of `type` as they lie in the room, zeros where it has none. The shape has as many elements as
// the tensor.
std::vector<std::byte> Packed(const cpu::HostTensor& tensor, const TensorPlacement& placement, DataType type);

// `packed` holds placement.bytes(type) bytes.
void Unpack(const std::vector<std::byte>& packed, const TensorPlacement& placement, DataType type,
            cpu::HostTensor& tensor);

}  // namespace infimum::cuda
