// A tensor of cuDNN's graph that lies in memory: its number there, and what of the workload it is.
#pragma once

#include <cstdint>
#include <optional>

#include "microbench/gpu/device/gpu_program.h"

namespace infimum::cuda {

struct CudnnTensor {
  std::int64_t uid = 0;
  GpuBinding binding;
  // Of a scalar that the graph needs and the workload does not have: the scale of 8-bit results. `binding` names no
  // operand then.
  std::optional<double> own_value;
};

}  // namespace infimum::cuda
