// Regions and attention in the operations of oneDNN Graph.
//
//   region [convolution ... in=1x16x14x14 out_channels=24 ...](in0,w0,w1) ;
//          [pointwise kind=add ... in=4704,4704](%0,in1) ; [pointwise kind=swish ... in=4704](%1)
//
//   tensors     0: in0 1x16x14x14   1: in1 1x24x14x14   2: w0   3: w1   4: %0   5: %1   6: %2   7: sigmoid of %1
//   operations  Convolution(0, 2, 3) -> 4   Add(4, 1) -> 5   Sigmoid(5) -> 7   Multiply(5, 7) -> 6
//
// All members are seen in one shape: that of the product they follow, or of the finest one that element-wise members
// speak of. What has no operation, or no common shape, is an error that begins with "unsupported: ".
#pragma once

#include <vector>

#include "infimum/layer/region.h"
#include "microbench/libraries/onednn/program/region_problem.h"
#include "microbench/libraries/onednn_graph/graph_partition.h"
#include "src/core/layer/attention.h"

namespace infimum::cpu {

enum class GraphLayout {
  kRowMajor,
  kChannelsLast,  // of a convolution's input, of its result and of what is added to it
};

struct RegionGraph {
  LibraryGraph graph;
  std::vector<RegionOperand> operands;  // tensors 0 to operands.size() - 1: in0, in1 ..., then w0, w1 ...
  std::size_t result = 0;
};

// Of regions with one output whose first member is a convolution or a matrix product, or that have neither; types are
// f32, f16 and bf16.
Result<RegionGraph> GraphOf(const Region& region, const RegionValues& values, GraphLayout layout);

// Operands as OperandsOf(config). `transposed`: through the order of heads within a token, as frameworks write
// attention, and back; with a mask of one zero where there is none. It is the only form that versions before 3.5 know.
Result<LibraryGraph> GraphOf(const AttentionConfig& config, const LayerValues& values, bool transposed);

}  // namespace infimum::cpu
