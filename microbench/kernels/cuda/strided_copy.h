// A copy between boxes with steps, before it is known in which units and by which kernel it is done.
//
//   a concatenation's second part    dims 3x2x49, from 98,49,1   to 392,49,1 at 245
//   merged                           dims 3x98    from 98,1      to 392,1
//   in units of 8 bytes (f32)        dims 3x49    from 49,1      to 196,1      at 245 elements: an odd number, so 4
//   bytes
#pragma once

#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {

struct StridedCopy {
  int element_bytes = 4;
  std::vector<std::int64_t> dims;                  // outermost first
  std::vector<std::int64_t> from_steps, to_steps;  // in elements
  std::int64_t from_at = 0, to_at = 0;             // of the first position
  CopyCall::Limit limit = CopyCall::Limit::kNone;
  std::vector<std::int64_t> begin, end;  // kBox: for each dimension

  std::int64_t count_bytes() const;

  // How calls are made: in elements of the tensor, or as wide as possible with so many units for a thread.
  struct Variant {
    bool widens = true;
    int units_per_thread = 4;
    bool streams = false;
  };
  // nullopt: too large for 32-bit positions.
  std::optional<KernelCall> Make(const Variant& variant, const void* from, void* to) const;

  // Through shared memory, `merged` elements a word, where the two sides' neighbours are different dimensions; fewer
  // where addresses or steps do not allow it.
  std::optional<KernelCall> MakeTransposed(int merged, const void* from, void* to) const;
  // The widest `merged` for aligned buffers; 0 where no tiles are possible.
  int MostMerged() const;
};

}  // namespace infimum::cuda
