#include "microbench/kernels/cuda/timing_body.h"

namespace infimum::cuda {

std::int64_t BytesMoved(const BandwidthCall& call) {
  return call.bytes * call.passes * (call.kind == BandwidthKind::kCopy ? 2 : 1);
}

std::int64_t OperationsOf(const ArithmeticCall& call, int blocks) {
  return OperationsOfThread(call.iterations) * kArithmeticThreads * blocks;
}

}  // namespace infimum::cuda
