// Rewrites of a model whose layers are not lowered yet: what every runtime does before it runs a model,
// so that a bound does not charge for it. Each is a named pass that lists what it changed; the names of
// the layers that it folds stay in `origins` of the layer that they become a part of.
//
// In the order in which ApplyRewrites runs them:
//   drop-identity              Identity and Dropout are bypassed
//   fold-constant-padding      Pad with zeros before Conv or AveragePool becomes the layer's own padding
//   fold-channel-constants     BatchNormalization, Mul and Add with constants for each channel, behind Conv,
//                              ConvTranspose, Gemm or BatchNormalization
//   fuse-quantized             DequantizeLinear, operator, QuantizeLinear become the 8-bit operator
//   keep-stored-weights        DequantizeLinear of a product's weights, and views behind it, leave the graph
//   remove-dead-layers         layers and parts of a Split that are not read
//   nest-concatenations        Concat that begins with all operands of another one, and ends in what was made of it
#pragma once

#include "infimum/graph/model_graph.h"
#include "src/core/graph/run_time_quantities.h"

namespace infimum {

// One pass each: changes `graph` and returns what it changed.
RewritePass DropIdentity(ModelGraph& graph);
RewritePass FoldConstantPadding(ModelGraph& graph);
RewritePass FoldChannelConstants(ModelGraph& graph);
RewritePass FuseQuantized(ModelGraph& graph);
RewritePass KeepStoredWeights(ModelGraph& graph);
RewritePass RemoveDeadLayers(ModelGraph& graph);
RewritePass NestConcatenations(ModelGraph& graph);

// Not of every model: one that stores the weights of its products otherwise, s4 and s8 in blocks with a scale each.
RewritePass StoreWeightsAs(DataType type, ModelGraph& graph);

// Of a graph whose layers have their work: which experts a router chooses (rewrites/chosen_experts.cc).
void StateChosenExperts(ModelGraph& graph, const StatedQuantities& stated);

// All of them; those that changed something are appended to graph.passes.
void ApplyRewrites(ModelGraph& graph);

}  // namespace infimum
