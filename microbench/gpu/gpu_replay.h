// A whole model on a GPU: weights where each candidate wants them, intermediates in device memory, steps and changes of
// layout captured as one CUDA graph, which is what is timed and whose outputs are compared.
//
//   INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<PreparedReplay> replay,
//                            PrepareGpuReplay(gpu, libraries, schedule, &folder, {.streams = 2}));
//   replay->TimeParts(0, replay->parts().size(), 20);    // 20 inferences back to back, by the device's clock
//
// With several streams independent branches run beside each other; intermediates then share no memory, and each stream
// has scratch memory of its own.
#pragma once

#include <memory>

#include "infimum/microbench/backend.h"
#include "microbench/gpu/device/gpu_libraries.h"

namespace infimum::cuda {

struct GpuReplayOptions {
  std::uint64_t seed = 1;  // of which elements are compared
  std::size_t streams = 1;
};

// `gpu` and `libraries` live longer.
Result<std::unique_ptr<PreparedReplay>> PrepareGpuReplay(Gpu& gpu, GpuLibraries& libraries,
                                                         const ReplaySchedule& schedule, const TensorFolder* folder,
                                                         const GpuReplayOptions& options);

}  // namespace infimum::cuda
