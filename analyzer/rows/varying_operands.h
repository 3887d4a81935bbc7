// The operands of a workload for which its candidates state layouts: those that vary from one inference to the next, in
// the order in which the candidates name them.
//
//   Conv 1x64x8x8 with weights, 32 channels out   reads {place 0: 1x64x8x8}, writes {1x32x8x8}
//   region Conv + Add                             lists {input, weights, residual}, states {input, residual}:
//                                                 reads {place 0: 1x64x8x8, place 2: 1x32x8x8}
#pragma once

#include <cstddef>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

struct VaryingOperands {
  struct Read {
    std::size_t place = 0;  // in Layer::operand_inputs, or FusableRegion::operands
    Shape shape;            // as the workload sees it
  };
  std::vector<Read> reads;
  std::vector<Shape> writes;
  bool keeps_order = false;  // element-wise: any order does that all its tensors have
};

VaryingOperands VaryingOperandsOf(const Workload& workload);

}  // namespace infimum
