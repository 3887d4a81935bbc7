// In which order a tensor's elements lie in memory, whatever shape it is seen in.
//
// Two programs may see one tensor differently: a convolution as 1x64x56x56, an element-wise layer as 200704 elements, a
// matrix product as 3136 rows of 64. Whether what one writes is what the other wants to read is decided by the runs
// of the order: from the row-major index, outermost first, how far a step moves.
//
//   1x64x56x56, channels last    described: row-major     runs {64 x 3136 -> 1}, {3136 x 1 -> 64}
//   the same as 3136 x 64 rows   described: transposed    runs {64 x 3136 -> 1}, {3136 x 1 -> 64}, so equal
//   row-major in any shape                                 one run {n x 1 -> 1}
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "infimum/layer/element_order.h"
#include "microbench/libraries/onednn/program/onednn_types.h"
#include "microbench/libraries/onednn/program/program.h"

namespace infimum::cpu {

struct MemoryOrder {
  // `described`: how row-major memory looks in the shape that a primitive sees; `wanted`: how it wants it to be.
  MemoryOrder(dnnl::memory::desc described, dnnl::memory::desc wanted);

  bool row_major() const;
  // Without padding: element-wise layers may go over it in the order of memory.
  bool dense() const { return exact; }
  // Of the whole tensor in that order, padding included.
  std::size_t BytesOf(DataType type) const;

  dnnl::memory::desc described, wanted;
  std::vector<ElementRun> runs;  // normalized
  bool exact = false;            // the runs say all: no padding, no layout that only the library knows
};

// Whether memory in the one order is memory in the other.
bool operator==(const MemoryOrder& a, const MemoryOrder& b);

using OrderOf = std::shared_ptr<const MemoryOrder>;  // null: row-major
// Without gaps, in one dimension for each run; null for row-major.
OrderOf OrderOfRuns(const std::vector<ElementRun>& runs);
bool SameOrder(const OrderOf& a, const OrderOf& b);

// What a copy from one to the other of so many elements goes through; nullopt where an order has padding, or the two
// split a dimension each in its own way.
std::optional<CommonDimensions> DimensionsOf(const MemoryOrder* from, const MemoryOrder* to, std::int64_t count);

// Whether a reorder can go from one to the other in one step. From and to row-major it always can.
bool HasReorder(const OrderOf& from, const OrderOf& to);

// Copies the elements of `source` into `target`, each in the order that it has. Both outlive the program.
MadeProgram MakeReorder(const HostTensor& source, const HostTensor& target);
// By the library: where one of them has padding, or runs of elements stay together.
bool IsReorderOfLibrary(const HostTensor& source, const HostTensor& target);

}  // namespace infimum::cpu
