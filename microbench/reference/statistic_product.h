// Sums and running sums as matrix products with a constant of ones, or a triangle of them, for machines whose matrix
// units are faster than their memory (Dakkak et al., arXiv 1811.09736).
//
//   reduction kind=mean in=1280x49 axes=1     [1280 x 49] x [49 x 1], of 1/49
//   reduction kind=sum in=4096x24 axes=0      [1 x 4096] x [4096 x 24], of 1
//   scan kind=sum in=64x256x1 axis=1          [64 x 256] x [256 x 256], 1 where the row is not behind the column
//
// Infinities and what is no number spread to the whole line of a scan.
#pragma once

#include <optional>

#include "infimum/layer/layer_config.h"
#include "infimum/measurement/candidate.h"
#include "microbench/reference/host_tensor.h"

namespace infimum::cpu {

struct StatisticProduct {
  MatMulConfig product;      // the layer's input, in its order, is one operand, its result the product's
  std::size_t constant = 1;  // the other operand: 0 is a, 1 is b

  std::size_t variable() const { return 1 - constant; }
  Result<HostTensor> Constant() const;

  bool is_triangle = false;
  double value = 1;
};

// nullopt for what is no sum of floating-point numbers, for several axes, for lines of a scan of more than 512
// elements, and for means whose factor the type does not hold.
std::optional<StatisticProduct> StatisticProductOf(const LayerConfig& config);

// What names of such candidates begin with, behind their library.
inline constexpr std::string_view kAsMatMul = "as-matmul/";

// The sum's candidate from its product's; nullopt where that has tensors that do not lie as the sum's do.
std::optional<Candidate> StatisticCandidate(const Candidate& product);

}  // namespace infimum::cpu
