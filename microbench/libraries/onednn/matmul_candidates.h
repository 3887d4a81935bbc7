// Matrix products through oneDNN: as matmul, and as the other primitives that compute the same.
//
//   onednn/gemm:jit                              matmul
//   onednn/gemm:jit/b-transposed                 b lies with k innermost
//   onednn/matmul-transposed/gemm:jit            B^T A^T, the result transposed
//   onednn/matmul-as-inner-product/gemm:jit
//   onednn/matmul-as-convolution/jit_1x1:avx2    rows as pixels of a 1x1 convolution
#pragma once

#include <vector>

#include "microbench/libraries/onednn/epilogue.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"
#include "src/core/layer/convolution.h"
#include "src/core/layer/matmul.h"

namespace infimum::cpu {

std::vector<Offer> MatMulOffers(const MatMulConfig& config, const LayerValues& values = {},
                                const Epilogue& epilogue = {});

// A dense 1x1 convolution with stride one as a matrix product of its pixels; empty for any other.
std::vector<Offer> PointwiseConvolutionOffers(const ConvolutionConfig& config, const LayerValues& values = {});

}  // namespace infimum::cpu
