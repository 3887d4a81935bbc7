// Kernels that move elements.
#include "microbench/kernels/cuda/copy_body.h"
#include "microbench/kernels/cuda/kernel_call.h"

namespace infimum::cuda {
namespace {

cudaStream_t StreamOf(void* stream) { return static_cast<cudaStream_t>(stream); }

template <class Unit, int kUnits, bool kStreams>
__global__ void __launch_bounds__(kCopyThreads) FlatCopyKernel(const __grid_constant__ FlatCopyCall call) {
  FlatCopyThread<Unit, kUnits, kStreams>(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

template <class Unit>
__global__ void __launch_bounds__(kCopyThreads) FillKernel(const __grid_constant__ FillCall call) {
  FillThread<Unit>(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

template <class Unit, int kUnits, CopyCall::Limit kLimit>
__global__ void __launch_bounds__(kCopyThreads) CopyKernel(const __grid_constant__ CopyCall call) {
  CopyThread<Unit, kUnits, kLimit>(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

template <class Unit, int kUnits, bool kScatters>
__global__ void __launch_bounds__(kCopyThreads) GatherKernel(const __grid_constant__ GatherCall call) {
  GatherThread<Unit, kUnits, kScatters>(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

__global__ void __launch_bounds__(kCopyThreads) OneHotKernel(const __grid_constant__ OneHotCall call) {
  OneHotThread(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

template <class Tile>
__global__ void __launch_bounds__(Tile::kLanes* Tile::kRows)
    TransposeKernel(const __grid_constant__ TransposeCall call) {
  __shared__ typename Tile::Word shared[Tile::kWords];
  Tile::Load(call, blockIdx.x, static_cast<int>(threadIdx.x), static_cast<int>(threadIdx.y), shared);
  __syncthreads();
  Tile::Store(call, blockIdx.x, static_cast<int>(threadIdx.x), static_cast<int>(threadIdx.y), shared);
}

template <class Unit, bool kStreams>
void LaunchFlatCopy(const FlatCopyCall& call, void* stream) {
  const auto blocks =
      static_cast<unsigned>(CopyBlocks(call.bytes / static_cast<std::int64_t>(sizeof(Unit)), UnitsPerThread(call)));
  if constexpr (sizeof(Unit) == 16) {
    if (UnitsPerThread(call) == 8 && !kStreams) {
      return FlatCopyKernel<Unit, 8, false><<<blocks, kCopyThreads, 0, StreamOf(stream)>>>(call);
    }
  }
  if constexpr (!kStreams) {
    if (UnitsPerThread(call) == 1) {
      return FlatCopyKernel<Unit, 1, false><<<blocks, kCopyThreads, 0, StreamOf(stream)>>>(call);
    }
  }
  FlatCopyKernel<Unit, 4, kStreams><<<blocks, kCopyThreads, 0, StreamOf(stream)>>>(call);
}

template <class Unit, int kUnits>
void LaunchCopy(const CopyCall& call, void* stream) {
  const auto blocks = static_cast<unsigned>(CopyBlocks(call.count, kUnits));
  if constexpr (kUnits == 4) {
    if (call.limit == CopyCall::Limit::kBox) {
      return CopyKernel<Unit, 4, CopyCall::Limit::kBox><<<blocks, kCopyThreads, 0, StreamOf(stream)>>>(call);
    }
    if (call.limit == CopyCall::Limit::kLowerTriangle) {
      return CopyKernel<Unit, 4, CopyCall::Limit::kLowerTriangle><<<blocks, kCopyThreads, 0, StreamOf(stream)>>>(call);
    }
  }
  CopyKernel<Unit, kUnits, CopyCall::Limit::kNone><<<blocks, kCopyThreads, 0, StreamOf(stream)>>>(call);
}

template <class Unit, int kUnits>
void LaunchGather(const GatherCall& call, void* stream) {
  const auto blocks = static_cast<unsigned>(CopyBlocks(call.count, kUnits));
  if constexpr (kUnits == 4) {
    if (call.scatters) {
      return GatherKernel<Unit, 4, true><<<blocks, kCopyThreads, 0, StreamOf(stream)>>>(call);
    }
  }
  GatherKernel<Unit, kUnits, false><<<blocks, kCopyThreads, 0, StreamOf(stream)>>>(call);
}

}  // namespace

int Launch(const FlatCopyCall& call, void* stream) {
  if (call.bytes == 0) return cudaSuccess;
  if (call.streams && call.unit_bytes == 16) {
    LaunchFlatCopy<Bytes16, true>(call, stream);
  } else {
    WithUnit(call.unit_bytes, [&](auto unit) { LaunchFlatCopy<decltype(unit), false>(call, stream); });
  }
  return cudaGetLastError();
}

int Launch(const FillCall& call, void* stream) {
  if (call.bytes == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(CopyBlocks(call.bytes / call.unit_bytes, kFillUnits));
  WithUnit(call.unit_bytes,
           [&](auto unit) { FillKernel<decltype(unit)><<<blocks, kCopyThreads, 0, StreamOf(stream)>>>(call); });
  return cudaGetLastError();
}

int Launch(const CopyCall& call, void* stream) {
  if (call.count == 0) return cudaSuccess;
  WithUnit(call.unit_bytes, [&](auto unit) {
    if (UnitsPerThread(call) == 1) {
      LaunchCopy<decltype(unit), 1>(call, stream);
    } else {
      LaunchCopy<decltype(unit), 4>(call, stream);
    }
  });
  return cudaGetLastError();
}

int Launch(const TransposeCall& call, void* stream) {
  if (call.tiles() == 0 || call.rows == 0 || call.columns == 0) return cudaSuccess;
  WithTile(call.element_bytes, call.merged, [&](auto tile) {
    using Tile = decltype(tile);
    const dim3 threads(Tile::kLanes, Tile::kRows);
    TransposeKernel<Tile><<<static_cast<unsigned>(call.tiles()), threads, 0, StreamOf(stream)>>>(call);
  });
  return cudaGetLastError();
}

int Launch(const GatherCall& call, void* stream) {
  if (call.count == 0) return cudaSuccess;
  WithUnit(call.unit_bytes, [&](auto unit) {
    if (UnitsPerThread(call) == 1) {
      LaunchGather<decltype(unit), 1>(call, stream);
    } else {
      LaunchGather<decltype(unit), 4>(call, stream);
    }
  });
  return cudaGetLastError();
}

int Launch(const OneHotCall& call, void* stream) {
  if (call.count == 0) return cudaSuccess;
  OneHotKernel<<<static_cast<unsigned>(CopyBlocks(call.count, 1)), kCopyThreads, 0, StreamOf(stream)>>>(call);
  return cudaGetLastError();
}

}  // namespace infimum::cuda
