// Layers of a model that engines run as one, though exporters write several: attention, and activations that are a
// formula.
//
//   Mul(q, s) ; Mul(k, s) ; MatMul ; Add(mask) ; Softmax ; MatMul     attention of q, k, v, with what turns these and
//   its
//                                                                     result
//   Div ; Erf ; Add(1) ; Mul(0.5) ; Mul(x)                            gelu of x
//   Sigmoid ; Mul(x)                                                  silu of x
//
// The same layers may be matched one by one where an engine runs them so.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/alignment/operator_kinds.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

struct LayerGroup {
  OperatorKind kind = OperatorKind::kOther;
  std::string_view function;        // of an activation
  std::vector<std::size_t> layers;  // ascending
  std::vector<ValueId> inputs;      // of attention q, k, v; of an activation x
  ValueId output{0};
};

// `readers`: for each layer those that read what it makes.
std::vector<LayerGroup> LayerGroupsOf(const ModelGraph& graph, const std::vector<std::vector<std::size_t>>& readers);

}  // namespace infimum
