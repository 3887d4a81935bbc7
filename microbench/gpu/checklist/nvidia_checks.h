// Checks that ask NVIDIA's own libraries (checklist.h).
#pragma once

#include "microbench/gpu/checklist/checklist.h"

namespace infimum::cuda {

// libraries: which were found, and where; properties: kept as cuDNN reads them; deviceless: cuDNN lists for the device
// what it lists for its properties; legacy: the eight algorithms of a convolution; cublaslt: its answers kept as a
// recording; cupti: times against those of kernels by CUPTI.
std::vector<Check> NvidiaChecks();

}  // namespace infimum::cuda
