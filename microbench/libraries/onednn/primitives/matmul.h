// Matrix products: as matmul, and as the other primitives that compute the same.
//
//   gemm:jit                              matmul
//   gemm:jit/b-transposed                 b is laid out with k innermost
//   matmul-transposed/gemm:jit            B^T A^T, the result transposed
//   matmul-as-inner-product/gemm:jit
//   matmul-as-convolution/jit_1x1:avx2    rows as pixels of a 1x1 convolution
#pragma once

#include <string>
#include <vector>

#include "product.h"

namespace onednn {

struct MatMul {
  Types dtype;
  memory::dims a, b;              // batch, rows, depth; batch, depth, columns
  std::string bias = "no";        // "column": one number for each; "full": in the shape of the result
  std::string weights = "const";  // of b; or "variable"
  Scaling scaling{};
  std::vector<Step> steps{};  // behind it
  // How the layer's tensors look as matrices.
  Layout a_layout = Plain, b_layout = Plain, result_layout = Plain;
};

std::vector<Form> FormsOf(const MatMul& layer);

// Those of the primitive matmul alone.
std::vector<Form> MatMulForms(const MatMul& layer, const std::string& prefix);

}  // namespace onednn
