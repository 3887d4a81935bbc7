// Sorts and top-k along an axis. Blocks sort pieces of the lines in shared memory; where a line has several, further
// calls merge pairs of sorted runs, of which no more than the first `kept` entries are carried along.
#pragma once

#include "microbench/kernels/cuda/index_math.h"
#include "microbench/kernels/cuda/pointwise_call.h"

namespace infimum::cuda {

inline constexpr int kSortThreads = 256;

// An element as what orders it, and where it was: equal ones keep their order.
template <class Key>
struct SortEntry {
  Key key;
  std::uint32_t place;
};

struct SortCall {
  bool descends = false;
  bool merges = false;
  Arithmetic arithmetic = Arithmetic::kF32;
  Element element = Element::kF32;
  Element output_element = Element::kF32;
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t* places = nullptr;
  std::uint32_t lines = 0, length = 0, kept = 0;
  FastDivisor inner;  // lines are (outer, inner)
  // A sort: pieces of a line, of `entries` elements of a block as many as fit; piece is a power of two. A merge: runs
  // of a line.
  FastDivisor pieces;
  std::uint32_t piece = 0;
  std::uint32_t entries = 0;
  std::uint32_t run = 0;     // entries of what a merge reads, for each piece
  std::uint32_t merged = 0;  // and of what it, or a sort, leaves
  const void* runs = nullptr;
  void* left = nullptr;  // null: the values and places themselves
};

constexpr std::int64_t SortEntryBytes(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kF32 ? sizeof(SortEntry<std::uint32_t>) : sizeof(SortEntry<std::uint64_t>);
}

}  // namespace infimum::cuda
