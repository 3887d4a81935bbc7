// A layer as what cuDNN's older calls compute (microbench/libraries/cudnn_legacy), in the plain values of
// cudnn_layer.h: for the runner, the enumerator and `infimum emit`.
//
//   convolution + bias, relu; pooling   as operations of the graph have them (cudnn_operations.h)
//   softmax in=12x128x128       {.call = "softmax", .mode = "softmax", .operands = {"in0"}, .dims = {1536, 128, 1, 1}}
//   normalization kind=lrn      {.call = "lrn", .window = {5}, .lrn_alpha = 1e-4F, ...}
//   recurrent kind=lstm         {.call = "rnn", .mode = "lstm", .operands = {"in0", "in1", "in2"}, ...}
#pragma once

#include "src/core/measurement/cudnn_operations.h"

namespace infimum::cuda {

// The error begins with "unsupported: " where cuDNN has no older call for the region.
// `values`: for each member, or empty.
Result<CudnnOperations> CudnnLegacyOf(const Region& region, const std::vector<CudnnValues>& values = {});

}  // namespace infimum::cuda
