// The rules of 2019 (benanza_rules.h) for any model and device that a source has rows of: which rows stand for which
// layer, and what that makes of a bracket.
//
//   Conv with a bias     the convolution without one + the bias written out to the output's shape (what cudnnAddTensor
//                        with beta = 0 did); `benanza-2019-fused`: the fastest row of convolution and bias in one call,
//                        with a ReLU at its end or without
//   Add, Mul, Min, Max   of two tensors of the output's shape, also where one of them is broadcast
//   Gemm of many rows    adds a whole matrix, also where its C is one row
//   LeakyRelu            a ReLU
//   anything else        its own configuration
//
// Each takes the least of the candidates that ran. A layer without its rows is missing, with the reason; so is an
// operator that is neither of zero cost nor measurable (Dropout: the rows of 2019 are of training). A convolution
// whose bias has no row is missing too, and its forward time in the serial bound alone.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analyzer/bracket/bracket.h"
#include "infimum/graph/model_graph.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

// How the layers' times become bounds.
enum class BoundRules {
  kBracket,           // "bracket": bounds/variants.h
  kBenanza2019,       // "benanza-2019": this header
  kBenanza2019Fused,  // "benanza-2019-fused"
};
std::string_view Name(BoundRules rules);
std::optional<BoundRules> FindBoundRules(std::string_view name);
std::span<const std::string_view> BoundRulesNames();

// `bracket`, which is of the same model, with layers, coverage, roofline, environments and bounds by `rules` (not
// kBracket): a serial bound, and a parallel one where there is a path from the first to the last layer that has a time.
// Floors stay: they depend on no rules. `model` is to be read without rewrites: the tool of 2019
// folded nothing. Asks `source` once, or as often as ComputeBracket. Errors are ComputeBracket's.
Result<Bracket> ApplyBenanzaRules(Bracket bracket, const ModelGraph& model, MeasurementSource& source,
                                  BoundRules rules);

}  // namespace infimum
