// The operators of a trace that stand for layers, with the device work that each of them started.
//
//   aten::conv2d > aten::convolution > aten::_convolution > aten::cudnn_convolution > 3 kernels
//     -> layer aten::conv2d with 3 pieces of work
//
// Of the operators around a piece of work the outermost is taken whose kind is known (match_by_shape.h); where there
// is none, the outermost that is an operator with a namespace; else the innermost. In a backward pass it is the
// outermost call of that pass, so that the products within are not taken for the model's. Work that no operator started
// stands for itself: kernels of a CUDA graph. Without any device work operators take the host's time.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/alignment/work_origin.h"
#include "analyzer/trace/traced_operators.h"
#include "infimum/graph/timeline.h"

namespace infimum {

struct TracedLayer {
  std::uint32_t call = kNoCall;     // the operator; kNoCall: work that stands for itself
  std::vector<std::uint32_t> work;  // indices into Timeline::device_work, in order; empty on the host
  std::int64_t asked_ns = 0;  // when the host called it; of work that nobody is known to have asked for, its start
};

// Those with work on `device`, or, where the timeline has no device work at all, on the host; in the order of asking.
std::vector<TracedLayer> TracedLayers(const Timeline& timeline, const TracedNames& names,
                                      const std::vector<WorkOrigin>& origins, std::int64_t device);

}  // namespace infimum
