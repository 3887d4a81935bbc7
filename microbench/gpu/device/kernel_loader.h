// Kernels of ours on a device: compiled when they are first launched (kernel_compiler.h), loaded by the driver,
// launched.
//
//   KernelLoader loader(900);
//   loader.Launch(*LaunchOf(call), stream);
//
// In the context that is current, which is the CUDA runtime's where cudaSetDevice was called. Results are the driver's
// codes, which are those of the runtime's errors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "microbench/gpu/device/kernel_compiler.h"
#include "microbench/kernels/cuda/kernel_launch.h"

namespace infimum::cuda {

class KernelLoader {
 public:
  explicit KernelLoader(std::int64_t compute_capability);
  KernelLoader(const KernelLoader&) = delete;
  KernelLoader& operator=(const KernelLoader&) = delete;
  ~KernelLoader();

  // Queues it on `stream` (a cudaStream_t; null is the default stream) and never waits; the first launch of a kernel
  // compiles and loads it, which cannot be captured. The driver's code of the launch itself, 0 for success; an error
  // where there is no kernel to launch, and why.
  Result<int> Launch(const KernelLaunch& launch, void* stream);
  // How many of its blocks one multiprocessor holds at a time.
  Result<int> BlocksOfMultiprocessor(const KernelLaunch& launch);

 private:
  struct Driver;
  using Function = void*;  // a CUfunction
  Status Open();
  Result<Function> Find(const KernelLaunch& launch);

  std::int64_t compute_capability_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<KernelCompiler> compiler_;
  std::optional<Error> missing_;  // why there are none
  struct Loaded {
    Function function = nullptr;
    std::int64_t shared = 0;  // that a block may ask for
  };
  std::map<std::string, Loaded, std::less<>> functions_;  // by KernelLaunch::key
};

}  // namespace infimum::cuda
