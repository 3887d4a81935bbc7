// Turns one ONNX node with known types and shapes into a workload (measurable), or gives the reason why it costs
// nothing (free) or cannot be expressed (unknown).
//
//   Lower(relu node, x of 1x64x56x56)  ->  measurable: pointwise kind=relu dtype=f32:-:f32 in=200704, {0}
//   Lower(Reshape node)                ->  free: "changes the shape, not the elements"
//   Lower(NonZero node)                ->  unknown: "how many elements it keeps depends on the data, ..."
//
// A pure function: the same view gives the same answer, and no view, however hostile, makes it crash. A
// node that breaks its operator's own rules (a stride of 0, a missing input, an attribute of another
// type) is unknown with that as the reason. How to add an operator: README.md beside this file.
#pragma once

#include <span>
#include <string_view>

#include "src/readers/onnx/parse/node_view.h"

namespace infimum {

Lowering Lower(const NodeView& node);

// What the table holds, for the tests that nothing is forgotten. "ai.onnx" is written as "".
bool HasLowering(std::string_view domain, std::string_view op);

struct UnknownOperator {
  std::string_view domain;
  std::string_view op;
  std::string_view reason;
};
// Operators that were looked at and have no workload, with the reason that their layers get.
std::span<const UnknownOperator> DeliberatelyUnknown();

// Whether an operator belongs to ONNX or to another domain that has lowerings. Any other may be private, and its name a
// secret. `op` as Layer::op has it.
//
//   "Conv", "com.microsoft.FusedConv"   known
//   "com.acme.Blend", "Blend"           not
bool IsKnownOperator(std::string_view op);

}  // namespace infimum
