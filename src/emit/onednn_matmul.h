// A matrix product as oneDNN's primitives see it: what matmul layers and 1x1 convolutions of one image share.
#pragma once

#include <string_view>

#include "src/core/layer/matmul.h"
#include "src/emit/onednn_attributes.h"

namespace infimum::emit {

struct MatrixProduct {
  OperandTypes types;
  Shape a, b, result;
  bool packed = true;  // b is constant, so that it may be prepared
  MatMulBias bias = MatMulBias::kNone;
  DataType bias_type = DataType::kF32;  // as the library takes it
  ProductNumbers numbers;
};

// The forms of dnnl::matmul: `function` describes it, its dimensions are constants named after `names` ("A", "B", "C",
// "Bias" behind it); patterns begin with `prefix`.
void AddMatMulForms(const MatrixProduct& product, std::string_view prefix, std::string_view function,
                    std::string_view names, OneDnnSource& source);

}  // namespace infimum::emit
