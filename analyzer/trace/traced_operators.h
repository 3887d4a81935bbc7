// What the name of a traced call says: which operator of a framework it is, with which operands.
//
//   aten::conv2d                                              operator aten::conv2d, a convolution
//   aten::linear, seq = 5, sizes = [[4, 197, 768], [768]]     the same of a range of PyTorch's emit_nvtx
//   autograd::engine::evaluate_function: AddmmBackward0       a backward pass: no layer, whatever it calls
//   ProfilerStep#6, enumerate(DataLoader)#...                 ranges around operators
//   void cutlass::Kernel2<...>(...)                           kernel class cutlass::Kernel2
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/alignment/match_by_shape.h"
#include "analyzer/alignment/work_origin.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"

namespace infimum {

struct TracedName {
  std::string_view op;         // without what a profiler appended; a view of the name
  std::string_view shapes;     // as emit_nvtx wrote them; empty: not there
  bool is_operator = false;    // of an annotation: a range that a framework wrote for an operator
  bool is_registered = false;  // "aten::mm", "_C::rms_norm": namespace and name
  bool is_backward = false;
  OperatorKind kind = OperatorKind::kOther;
};
TracedName ParseTracedName(std::string_view name);

// "[[4,197,768],[768,768],[]]" -> three tensors, the last without extents; lists within (of aten::cat) are taken apart.
// What is no list of extents gives none.
std::vector<ProfiledTensor> TensorsOf(std::string_view shapes);

// A kernel's function without arguments.
std::string_view KernelClass(std::string_view kernel);

// Each name of a timeline, looked at once.
class TracedNames {
 public:
  explicit TracedNames(const Timeline& timeline);

  const TracedName& of(const HostCall& call) const { return names_[static_cast<std::size_t>(call.name)]; }
  bool IsOperator(const HostCall& call) const {
    return call.kind == HostCallKind::kOperator || (call.kind == HostCallKind::kAnnotation && of(call).is_operator);
  }
  std::string_view ShapesOf(const Timeline& timeline, const HostCall& call) const {
    return call.shapes == kNoName ? of(call).shapes : timeline.names.text(call.shapes);
  }

 private:
  std::vector<TracedName> names_;  // by NameId
};

// The operators of a trace that stand for layers, with the device work that each of them started.
//
//   aten::conv2d > aten::convolution > aten::_convolution > aten::cudnn_convolution > 3 kernels
//     -> layer aten::conv2d with 3 pieces of work
//
// Of the operators around a piece of work the outermost is taken whose kind is known (match_by_shape.h); where there
// is none, the outermost that is an operator with a namespace; else the innermost. In a backward pass it is the
// outermost call of that pass, so that the matmuls within are not taken for the model's. Work that no operator started
// stands for itself: kernels of a CUDA graph. Without any device work operators take the host's time.
struct TracedLayer {
  std::uint32_t call = kNoCall;     // the operator; kNoCall: work that stands for itself
  std::vector<std::uint32_t> work;  // indices into Timeline::device_work, in order; empty on the host
  std::int64_t asked_ns = 0;  // when the host called it; of work that nobody is known to have asked for, its start
};

// Those with work on `device`, or, where the timeline has no device work at all, on the host; in the order of asking.
std::vector<TracedLayer> TracedLayers(const Timeline& timeline, const TracedNames& names,
                                      const std::vector<WorkOrigin>& origins, std::int64_t device);

}  // namespace infimum
