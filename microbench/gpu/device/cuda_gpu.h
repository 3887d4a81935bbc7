// A GPU through the CUDA runtime, which is linked statically: the program starts on every machine and can say what is
// missing.
//
//   Result<std::unique_ptr<Gpu>> gpu = OpenCudaGpu({.device = 0, .most_memory = Bytes{8LL << 30}});
#pragma once

#include <memory>

#include "microbench/gpu/device/gpu.h"
#include "microbench/gpu/device/nvml.h"

namespace infimum::cuda {

// One line that says what is missing where there is no driver, or no such device.
Result<std::unique_ptr<Gpu>> OpenCudaGpu(const GpuOptions& options);

}  // namespace infimum::cuda
