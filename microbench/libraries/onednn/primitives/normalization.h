// Statistics over some of a tensor's elements: normalizations, softmax, reductions.
#pragma once

#include <string>
#include <vector>

#include "form.h"
#include "product.h"

namespace onednn {

struct Normalization {
  std::string kind;  // "batch", "layer", "lrn"
  Types dtype;       // weights: of scale and bias
  memory::dims in;
  memory::dim axis = 1;    // "layer": the dimensions from here on are one row
  memory::dim groups = 0;  // of kinds that oneDNN does not have
  memory::dim size = 0;    // "lrn": channels in a window
  bool scale = false, bias = false;
  std::vector<Step> steps{};  // "batch": what follows, of one operand each; oneDNN has relu
  // Parameters that the layer's text leaves open: they change results, not cost.
  float epsilon = 1e-5F;
  float response_alpha = 1e-4F, response_beta = 0.75F, response_k = 1;
};

struct Softmax {
  std::string kind;  // "softmax", "log_softmax"
  Types dtype;
  memory::dims in;
  memory::dim axis = 1;
};

struct Reduction {
  std::string kind;  // "sum", "mean", "max", "min", "product"
  Types dtype;
  memory::dims in;
  memory::dims axes;
};

std::vector<Form> FormsOf(const Normalization& layer);
std::vector<Form> FormsOf(const Softmax& layer);
std::vector<Form> FormsOf(const Reduction& layer);

}  // namespace onednn
