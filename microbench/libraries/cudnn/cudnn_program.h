// One plan of cuDNN's graph as a program: {tensors of the graph} -> the handle's stream.
#pragma once

#include <memory>

#include "microbench/gpu/device/gpu_program.h"
#include "microbench/libraries/cudnn/cudnn_candidates.h"

namespace infimum::cuda {

// Builds the graph and compiles the plan. "unsupported: ..." with cuDNN's words where it refuses either.
Result<std::unique_ptr<GpuProgram>> MakeCudnnProgram(Gpu& gpu, std::shared_ptr<CudnnHandle> handle,
                                                     const cpu::ValuedRegion& problem, const CudnnChoice& choice);

}  // namespace infimum::cuda
