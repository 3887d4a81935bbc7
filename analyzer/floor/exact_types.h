// The type in which a product's operands are exact, where that is narrower than the one that the model says.
//
//   x, w in f32, both made by DequantizeLinear of s8 -> Transpose -> MatMul      s8
//   q, k in f32, both made by Cast of f16                                        f16
//
// A program may multiply in it and lose nothing: products of such numbers are exact in the wider sums of its units. A
// value is followed back through what changes no number but its place, its sign or its being there (views, transposes,
// slices, Relu, MaxPool), to a DequantizeLinear or a Cast.
#pragma once

#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

// For each layer of a graph, not of its bodies; kNone where it is none of a product, or of its own types.
std::vector<DataType> FindExactTypes(const ModelGraph& graph);

}  // namespace infimum
