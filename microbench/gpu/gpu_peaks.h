// What a GPU can do at most, as measured: bandwidth over working sets, arithmetic of f32 and f64 on the plain units, of
// every type by large products of cuBLASLt, on Tensor Cores where it has them, and launches.
//
//   MeasureGpuPeaks(gpu, libraries, "memory")        read, write and copy at 1 MiB, 2 MiB ... 4 GiB
//   MeasureGpuPeaks(gpu, libraries, "bf16 product")  8192 x 8192 x 8192 on random operands
//   MeasureGpuPeaks(gpu, libraries, "launches")      empty kernels in one graph
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infimum/measurement/device.h"
#include "microbench/gpu/device/gpu_libraries.h"

namespace infimum::cuda {

std::vector<std::string> GpuPeakProbes();

// Of one probe; empty where the device has nothing of the kind.
Result<std::vector<PeakRate>> MeasureGpuPeaks(Gpu& gpu, GpuLibraries& libraries, std::string_view probe);

}  // namespace infimum::cuda
