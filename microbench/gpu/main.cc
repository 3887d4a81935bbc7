// infimum-microbench-cuda: measures layers on an NVIDIA GPU.
#include <memory>

#include "microbench/gpu/device/cuda_gpu.h"
#include "microbench/gpu/gpu_backend.h"

int main(int argc, char** argv) {
  return infimum::RunnerMain(
      argc, argv, "cuda",
      [](const infimum::BackendOptions& options) {
        return std::unique_ptr<infimum::Backend>(std::make_unique<infimum::cuda::GpuBackend>(
            options, infimum::cuda::GpuParts{infimum::cuda::OpenCudaGpu, infimum::cuda::MakeCudaLibraries}));
      },
      {.has_device_memory = true});
}
