// The CUDA runner on a GPU that is not there (pretended_gpu.h), with kernels of ours as its only library or, where
// PRETENDED_GPU says that graphs are computed, with the reference for products too (reference_library.h), which takes
// its time: the runner's own parts, processes and files are the real ones. Its times are pretended, and its clock is,
// so that a campaign takes no longer than the host needs for the arithmetic.
#include <memory>

#include "microbench/gpu/gpu_backend.h"
#include "tests/microbench/gpu/pretended_gpu.h"
#include "tests/microbench/gpu/reference_library.h"

int main(int argc, char** argv) {
  using namespace infimum;
  static FakeClock clock;
  const auto open = [](const cuda::GpuOptions& options) -> Result<std::unique_ptr<cuda::Gpu>> {
    return std::unique_ptr<cuda::Gpu>(std::make_unique<cuda::PretendedGpu>(options, &clock));
  };
  const auto libraries = [](cuda::Gpu& gpu) {
    auto& pretended = static_cast<cuda::PretendedGpu&>(gpu);
    return pretended.computes_in_graphs ? cuda::MakeReferenceLibrary(pretended) : cuda::MakeOwnLibrary();
  };
  const auto make = [&](const BackendOptions& options) {
    return std::unique_ptr<Backend>(
        std::make_unique<cuda::GpuBackend>(options, cuda::GpuParts{open, libraries, &clock}));
  };
  return RunnerMain(argc, argv, "cuda-rehearsal", make, {.has_device_memory = true});
}
