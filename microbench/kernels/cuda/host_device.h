// What lets one function be a kernel's body under NVRTC and an ordinary function for the compiler of the host, so that
// arithmetic and indices are tested where there is no GPU.
//
//   INFIMUM_HOST_DEVICE inline float Square(float x) { return x * x; }
//   INFIMUM_ON_DEVICE     1 while code for a GPU is compiled, for the few places that use its own instructions
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define INFIMUM_HOST_DEVICE __host__ __device__
// For what is large and rarely called: inlined everywhere it would be most of the program.
#define INFIMUM_OUT_OF_LINE __noinline__
#else
#define INFIMUM_HOST_DEVICE
#define INFIMUM_OUT_OF_LINE
#endif

#if defined(__CUDA_ARCH__)
#define INFIMUM_ON_DEVICE 1
#define INFIMUM_UNROLL _Pragma("unroll")
#else
#define INFIMUM_ON_DEVICE 0
#define INFIMUM_UNROLL
#endif

// What is known of a kernel's call when it is compiled: statements that set it again, so that the compiler sees it
// (KernelLaunch::known).
#if !defined(INFIMUM_KNOWN)
#define INFIMUM_KNOWN(call)
#endif

namespace infimum::cuda {

// Dimensions of one call, after neighbouring ones were merged.
inline constexpr int kMostDims = 8;

// What one thread moves at a time at most.
struct alignas(16) Bytes16 {
  std::uint32_t word[4];
};

}  // namespace infimum::cuda
