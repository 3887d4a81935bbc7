// Calls that move elements without looking at them, and those that pick where to move from.
//
// Elements are units of 1, 2, 4, 8 or 16 bytes: the code that makes a call takes as many of the tensor's elements as
// one unit as lie together on both sides.
#pragma once

#include "microbench/kernels/cuda/element.h"
#include "microbench/kernels/cuda/index_math.h"

namespace infimum::cuda {

// `bytes` from one place to another; units of 16 bytes if both are aligned so, and a rest shorter than a unit.
struct FlatCopyCall {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;
  int unit_bytes = 16;       // both addresses are multiples of it
  int units_per_thread = 4;  // in flight at a time: 1, 4, or 8 in units of 16 bytes
  bool streams = false;      // loads and stores that ask the caches to drop them first
};

// Writes zeros: `to` is aligned to `unit_bytes`.
struct FillCall {
  void* to = nullptr;
  std::int64_t bytes = 0;
  int unit_bytes = 16;
  std::uint32_t word = 0;  // the pattern, of whole words from the front; 0 where `bytes` is no multiple of 4
};

// to[position] = from[position] for a box of positions, each side with steps of its own: slices, concatenations,
// splits, expansions, tiles, changes of order, reverses. With a limit, what lies outside of it becomes zero.
struct CopyCall {
  enum class Limit : std::uint8_t {
    kNone,
    kBox,            // positions from `begin` to `end` in each dimension are read (padding)
    kLowerTriangle,  // dimension 0 up to dimension 1
  };
  const void* from = nullptr;  // of position 0, even where that one is not read
  void* to = nullptr;
  std::uint32_t count = 0;  // units
  int unit_bytes = 4;
  int units_per_thread = 4;  // 4, or 1 without a limit
  Limit limit = Limit::kNone;
  Box box;
  Steps from_steps;
  Steps to_steps;
  std::int32_t begin[kMostDims] = {};
  std::int32_t end[kMostDims] = {};
};

// to[batch, column, row] = from[batch, row, column] through tiles in shared memory: columns are neighbours in `from`,
// rows in `to`. `merged` elements (1, 2, 4 or 8) are loaded and stored as one word; then rows, columns, all steps and
// both addresses are multiples of that many.
struct TransposeCall {
  const void* from = nullptr;
  void* to = nullptr;
  int element_bytes = 4;
  int merged = 1;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::int32_t from_row_step = 0;
  std::int32_t to_column_step = 0;
  std::uint32_t batches = 1;
  Box batch;
  Steps from_batch_steps;
  Steps to_batch_steps;
  FastDivisor row_tiles;  // tiles along the rows, and along the columns, of tile_elements() each
  FastDivisor column_tiles;

  INFIMUM_HOST_DEVICE int tile_elements() const { return 32 * merged; }
  INFIMUM_HOST_DEVICE std::int64_t tiles() const {
    return static_cast<std::int64_t>(batches) * row_tiles.divisor * column_tiles.divisor;
  }
};

// Gather: moved[p] = data[p . data_steps + indices[p . index_steps] * axis_step]; moved lies without gaps. Scatter: the
// other way round; where indices repeat, any one of them wins.
struct GatherCall {
  const void* data = nullptr;  // written by a scatter
  const void* indices = nullptr;
  void* moved = nullptr;  // read by a scatter
  bool scatters = false;
  Element index_element = Element::kS64;
  int unit_bytes = 4;
  int units_per_thread = 4;  // 1 or 4
  std::uint32_t count = 0;
  Box box;  // of moved
  Steps data_steps;
  Steps index_steps;
  std::int64_t axis_step = 1;
  std::int64_t axis_length = 1;  // an index below 0 counts from the end
};

// A concatenation, or a split: each row of the whole is a row of each part, one beside the other.
struct JoinCall {
  static constexpr int kMostParts = 64;
  void* whole = nullptr;               // read by a split
  void* part[kMostParts] = {};         // written by a split
  std::uint32_t end[kMostParts] = {};  // units of a row of the whole up to the part's last
  int parts = 0;
  bool splits = false;
  int unit_bytes = 4;
  std::uint32_t count = 0;  // units of the whole
  FastDivisor row;          // units of one of its rows
};

// to[i, j] = 1 where indices[i] is j, else 0.
struct OneHotCall {
  const void* indices = nullptr;
  void* to = nullptr;
  Element index_element = Element::kS64;
  Element element = Element::kF32;
  std::uint32_t count = 0;  // of `to`
  FastDivisor depth;
};

}  // namespace infimum::cuda
