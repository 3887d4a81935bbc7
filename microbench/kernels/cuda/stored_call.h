// Products whose weights are read as they are stored: 4 or 8 bits with a scale, and perhaps a zero point, for each
// block of a column.
#pragma once

#include "microbench/kernels/cuda/element.h"
#include "microbench/kernels/cuda/index_math.h"

namespace infimum::cuda {

inline constexpr int kStoredWarps = 4;
inline constexpr int kStoredColumns = 8;                 // of a thread
inline constexpr int kStoredTile = 32 * kStoredColumns;  // of a block, whose warps share the depth
inline constexpr int kStoredStep = 8;                    // rows of b that a thread loads at a time
inline constexpr int kStoredThreads = 32 * kStoredWarps;

// Numbers that are stored in 8 or 4 bits: integers, and floats as the OCP formats have them.
enum class StoredNumber : std::uint8_t { kInteger, kF8E4M3, kF8E5M2, kF8E8M0, kF4E2M1 };

// from [rows][depth], weights [depth][columns] with two elements of 4 bits in a byte, the first in the lower half;
// scales and zero points [depth / block][columns]; to [rows][columns]. Columns and depth are multiples of 8, as blocks
// are, but one that is the whole depth.
struct StoredProductCall {
  int rows_each = 1;  // of a block: 1, 2, 4 or 8
  int bits = 4;
  StoredNumber number = StoredNumber::kInteger;        // of the weights
  StoredNumber scale_number = StoredNumber::kInteger;  // of scales of 8 bits; else they are of scale_element
  bool is_signed = false;
  bool has_zeros = false;
  bool is_aligned = true;  // `from`, for loads of 16 bytes
  Element element = Element::kF32;
  Element output_element = Element::kF32;
  Element scale_element = Element::kF32;
  Element bias_element = Element::kNone;  // kNone: no bias
  const void* from = nullptr;
  const void* weights = nullptr;
  const void* scales = nullptr;  // null: 1
  const void* zeros = nullptr;
  const void* bias = nullptr;
  void* to = nullptr;
  std::uint32_t rows = 0, depth = 0, columns = 0;
  std::uint32_t bias_step = 0;  // from one row's bias to the next one's: 0 or columns
  std::uint32_t block = 0;      // rows of b that share a scale
  FastDivisor tiles;            // of columns
  // The depth is cut into `parts` of `part_depth`. Where there are several each leaves its sums in `states`
  // [parts][rows][columns], which a second call joins (combines = true).
  std::uint32_t parts = 1, part_depth = 0;
  float* states = nullptr;
  bool combines = false;
  bool expands = false;  // writes the weights as numbers, `to` [depth][columns], and reads no `from`
};

// Numbers become floats of 4 or 8 bits in blocks, each with the scale by which it was divided: the largest of its
// numbers over `unit`, rounded. from [blocks][block], scales [blocks], to [blocks][block], of 4 bits two in a byte. A
// block is a multiple of 8.
struct BlockQuantizeCall {
  Element element = Element::kF32;
  StoredNumber number = StoredNumber::kF4E2M1, scale_number = StoredNumber::kF8E4M3;
  bool is_aligned = true;  // `from`, for loads of 16 bytes
  const void* from = nullptr;
  void* to = nullptr;
  std::uint8_t* scales = nullptr;
  std::uint32_t blocks = 0, block = 0;
  float unit = 1;
};

}  // namespace infimum::cuda
