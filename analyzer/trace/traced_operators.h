// What the name of a traced call says: which operator of a framework it is, with which operands.
//
//   aten::conv2d                                              operator aten::conv2d, a convolution
//   aten::linear, seq = 5, sizes = [[4, 197, 768], [768]]     the same of a range of PyTorch's emit_nvtx
//   autograd::engine::evaluate_function: AddmmBackward0       a backward pass: no layer, whatever it calls
//   ProfilerStep#6, enumerate(DataLoader)#...                 ranges around operators
//   void cutlass::Kernel2<...>(...)                           kernel class cutlass::Kernel2
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/alignment/match_by_shape.h"
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

}  // namespace infimum
