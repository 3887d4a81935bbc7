// A call as a device runs it: which kernel template, with what text it is compiled, how many threads, and its argument.
//
//   LaunchOf(FlatCopyCall{...})   FlatCopyKernel<Bytes16, 8, false> of copy_kernels.cuh, 1,024 blocks of 256 threads
//   LaunchOf(PointwiseCall{...})  PointwiseKernel<PointwiseThread<float, 8, 2>, Program>, where `constants` define
//                                 Program: the steps, types and positions of this call
//   SourceOf(launch)              what NVRTC compiles, to be asked for the kernel by its name
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "microbench/kernels/cuda/kernel_call.h"
#include "microbench/kernels/cuda/timing_kernels.h"

namespace infimum::cuda {

struct KernelLaunch {
  std::string header;          // that has the kernel
  std::string name;            // as C++ writes it
  std::string known = {};      // "call.kind = RowKind(3); ...": INFIMUM_KNOWN(call)
  std::string constants = {};  // declarations that the name needs
  std::int64_t blocks[2] = {1, 1};
  int threads[2] = {1, 1};
  std::int64_t shared = 0;               // bytes of shared memory beside the kernel's own
  std::vector<std::byte> argument = {};  // the one parameter, by value

  // The same for launches of one compiled kernel.
  std::string key() const { return known + constants + header + "\n" + name; }
};

// nullopt where there is nothing to do. An empty name where no kernel is in this variant.
std::optional<KernelLaunch> LaunchOf(const KernelCall& call);
KernelLaunch LaunchOf(const EmptyCall& call);
KernelLaunch LaunchOf(const HoldCall& call);
KernelLaunch LaunchOf(const BandwidthCall& call);
KernelLaunch LaunchOf(const ArithmeticCall& call);

std::string SourceOf(const KernelLaunch& launch);

// Every text that a source may include, by the name that it is included by; standard headers too.
struct DeviceText {
  std::string_view name, text;
};
std::span<const DeviceText> DeviceTexts();

}  // namespace infimum::cuda
