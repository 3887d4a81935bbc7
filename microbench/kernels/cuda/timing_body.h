// What one thread of a bandwidth kernel does, and how operations are counted.
#pragma once

#include "microbench/kernels/cuda/copy_body.h"
#include "microbench/kernels/cuda/timing_kernels.h"

namespace infimum::cuda {

inline constexpr int kBandwidthThreads = 512;
inline constexpr int kArithmeticThreads = 256;
// Chains of dependent multiply-adds in one thread. With eight warps on each of a multiprocessor's four schedulers, some
// 30 cycles of latency would be hidden by one; more of them leave fewer instructions to the loop itself.
inline constexpr int kArithmeticChains = 8;
// Links of each chain in one turn of the loop.
inline constexpr int kArithmeticLinks = 16;

// One pass of thread `thread` of `threads` in all over the working set. Returns what was read, folded.
template <int kUnits>
INFIMUM_HOST_DEVICE inline std::uint32_t BandwidthPass(const BandwidthCall& call, std::int64_t thread,
                                                       std::int64_t threads, std::uint32_t pattern) {
  const auto* from = static_cast<const Bytes16*>(call.from);
  auto* to = static_cast<Bytes16*>(call.to);
  const std::int64_t units = call.bytes / 16;
  std::uint32_t folded = 0;
  for (std::int64_t first = thread; first < units; first += threads * kUnits) {
    Bytes16 held[kUnits];
    INFIMUM_UNROLL
    for (int i = 0; i < kUnits; ++i) {
      const std::int64_t at = first + i * threads;
      held[i] = Bytes16{{pattern, pattern, pattern, pattern}};
      if (call.kind != BandwidthKind::kWrite && at < units) held[i] = from[at];
    }
    INFIMUM_UNROLL
    for (int i = 0; i < kUnits; ++i) {
      const std::int64_t at = first + i * threads;
      if (call.kind == BandwidthKind::kRead) {
        folded += held[i].word[0] ^ held[i].word[1] ^ held[i].word[2] ^ held[i].word[3];
      } else if (at < units) {
        to[at] = held[i];
      }
    }
  }
  return folded;
}

inline std::int64_t OperationsOfThread(int iterations) {
  return 2 * std::int64_t{iterations} * kArithmeticLinks * kArithmeticChains;
}

}  // namespace infimum::cuda
