// Several layers that together compute what one configuration says: found on a graph's steps, each by its own rule.
//
//   product-bias    matmul, add of a constant row                          ->  matmul bias=column
//                   convolution, add of a constant for each channel        ->  convolution bias=yes
//   activation      divide(x), erf, add 1, multiply(x), multiply 0.5       ->  pointwise kind=gelu_erf
//   normalization   mean, subtract, square, mean, add epsilon, root, divide, scale, bias  ->  normalization kind=layer
//   attention       multiply, matmul(q, k), add mask, softmax, matmul(v)   ->  attention mask=full
//
// A step that a pattern makes reads and writes the same values as its layers, and none of the values between its
// layers is used elsewhere.
#pragma once

#include <string_view>
#include <vector>

#include "src/core/graph/fusion_steps.h"

namespace infimum {

struct FusionPattern {
  std::string_view rule;
  FusionStep step;
};

// One for each place where the pattern is found; of one rule none overlap.
std::vector<FusionPattern> FindBiasPatterns(const FusionSteps& steps);
std::vector<FusionPattern> FindActivationPatterns(const FusionSteps& steps);
std::vector<FusionPattern> FindNormalizationPatterns(const FusionSteps& steps);
std::vector<FusionPattern> FindAttentionPatterns(const FusionSteps& steps);

// The one layer that reads the value, where nothing else does and it does not leave the graph.
std::optional<FusionStep> OnlyReader(const FusionSteps& steps, ValueId value);
// The step's configuration, where there is a step and it is of that kind; else null.
const PointwiseConfig* AsPointwise(const std::optional<FusionStep>& step, PointwiseKind kind);
const MovementConfig* AsMovement(const std::optional<FusionStep>& step, MovementKind kind);
// Whether a Slice's result begins where what it reads does.
bool StartsAtZero(const FusionSteps& steps, const FusionStep& slice);

}  // namespace infimum
