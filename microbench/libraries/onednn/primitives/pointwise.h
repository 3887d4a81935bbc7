// Element-wise layers of one or two operands, and the same as steps behind a product.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "product.h"

namespace onednn {

// Parameters that a layer's text leaves open: they change results, not cost.
struct EltwiseValues {
  double leaky_slope = 0.01;
  double elu_alpha = 1;
  double quick_gelu_alpha = 1.702;
  double clip_low = 0, clip_high = 6;
  double hard_sigmoid_alpha = 0.2, hard_sigmoid_beta = 0.5;
};

// oneDNN's algorithm for a kind of one operand, with its parameters; for one of two. Absent where it has none.
std::optional<Step> FindEltwise(std::string_view kind, const EltwiseValues& values = {});
std::optional<dnnl::algorithm> FindBinary(std::string_view kind);

// A sum of 8-bit tensors: each operand by its scale in steps of the result, then all zero points at once.
struct ScaledSum {
  float first = 1, second = 1, shift = 0;
};

struct Pointwise {
  std::string kind;
  Types dtype;                   // weights: of a second operand, undef where it is the first one's
  std::vector<memory::dims> in;  // aligned at the last dimension, 1 broadcasts
  EltwiseValues values{};
  std::optional<ScaledSum> scaled_sum{};
};

std::vector<Form> FormsOf(const Pointwise& layer);

}  // namespace onednn
