#include "microbench/kernels/cuda/timing_body.h"

namespace infimum::cuda {

std::int64_t BytesMoved(const BandwidthCall& call) {
  return call.bytes * call.passes * (call.kind == BandwidthKind::kCopy ? 2 : 1);
}

std::int64_t OperationsOf(const ArithmeticCall& call, int blocks) {
  return OperationsOfThread(call.iterations) * kArithmeticThreads * blocks;
}

void RunOnHost(const BandwidthCall& call) {
  // Threads enough for several turns of the loop, and for a last one that is not full.
  constexpr std::int64_t kThreads = 96;
  for (int pass = 0; pass < call.passes; ++pass) {
    for (std::int64_t thread = 0; thread < kThreads; ++thread) {
      switch (call.units_in_flight) {
        case 1:
          BandwidthPass<1>(call, thread, kThreads, static_cast<std::uint32_t>(pass));
          break;
        case 2:
          BandwidthPass<2>(call, thread, kThreads, static_cast<std::uint32_t>(pass));
          break;
        case 8:
          BandwidthPass<8>(call, thread, kThreads, static_cast<std::uint32_t>(pass));
          break;
        default:
          BandwidthPass<4>(call, thread, kThreads, static_cast<std::uint32_t>(pass));
          break;
      }
    }
  }
}

}  // namespace infimum::cuda
