// The bytes that every execution of a model must move, whatever is fused, reordered or kept in caches:
// distinct weight and graph-input elements that are read, and graph-output elements that are written. No
// intermediates.
//
//   x[8x1000] -> MatMul(w[1000x10]) -> y[8x10] -> Relu -> z (graph output), f32
//   reads x 32,000 and w 40,000, writes z 320 bytes
//
// The rules, each of them on the side of too few bytes:
// - A value that a free layer makes is a view of its first input. Reading a view reads what is behind it.
// - A tensor that several layers read counts once, by the layer that reads most of it (tied weights).
// - A layer counts the elements it must read (`Work::operand_reads`): of a Gather's table the rows, as many as its
//   indices are distinct where they are known, else one.
// - What only constants go into is computed once, before the first inference: the smaller of its result
//   and its largest input counts, in that input's place (a dequantized weight: the quantized one); of an input that
//   has more elements than the result (a slice of that weight) only as many of them.
// - Masks and the like that are made from nothing (ConstantOfShape, EyeLike, Range, Trilu) are not read. A filled
//   tensor that only views and conversions lie behind is a stored weight's stand-in where it is a product's or a
//   convolution's operand, a normalization's or a gather's: models without weights have them so.
// - Where only a part of a value is used (needed_shares.h), the layers behind it count that part of what varies, and of
//   their constants all (a matmul's rows need all of its weights) unless they are element-wise or only move. Layers
//   that no output needs count nothing.
// - Of a Where only the condition counts: it decides which of the other operands is read.
// - If: what both branches read, and of what only one branch reads the branch that reads least.
// - Loop, Scan: their body's reads once where it runs at least once; what they hand to it slice by slice
//   is not counted.
// - Layers without a workload (unknown) count what every run reads at least (`Layer::least`), where that is known, and
//   the outputs that they make.
// - A graph output that is a view of an input or of a weight is not counted as written; of one that may be written over
//   an input (in_place.h) what changes counts.
#pragma once

#include "analyzer/floor/needed_shares.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

struct CompulsoryTraffic {
  double read = 0;  // bytes; doubles, since a hostile model's total may exceed any integer
  double written = 0;
  double inputs = 0;  // of `read` what is of the graph's inputs: caches of a decoder, say
};

CompulsoryTraffic FindCompulsoryTraffic(const ModelGraph& graph);
// The same where the shares are known already.
CompulsoryTraffic FindCompulsoryTraffic(const ModelGraph& graph, const NeededShares& needs);

}  // namespace infimum
