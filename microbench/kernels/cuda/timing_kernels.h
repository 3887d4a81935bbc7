// Kernels that serve the timing of others, and those that measure what a device can do at most, as plain data
// (kernel_call.h).
#pragma once

#include <cstdint>

namespace infimum::cuda {

// One block that does nothing: the floor of a launch.
struct EmptyCall {};

// Holds the stream until the host sets *flag (host memory mapped into the device's addresses) to something but 0, or
// `most_ns` have passed by the device's global timer; a bound in clocks of the multiprocessor ends it even where that
// timer stands still. What was queued behind it then starts without waiting for the host.
struct HoldCall {
  const std::uint32_t* flag = nullptr;
  std::uint64_t most_ns = 0;
};

// What memory can do: each reads or writes `bytes` (a multiple of 16, aligned to 16) once, `passes` times in one
// launch, with all multiprocessors. A working set of less than half a second-level cache measures that one and
// the caches before it.
enum class BandwidthKind { kRead, kWrite, kCopy };
struct BandwidthCall {
  BandwidthKind kind = BandwidthKind::kRead;
  const void* from = nullptr;  // read and copy
  void* to = nullptr;          // write and copy; of a read 16 bytes, never written unless all elements are one
                               // number that no random data has
  std::int64_t bytes = 0;      // of each of them
  int passes = 1;
  int units_in_flight = 4;  // 16-byte loads of a thread: 1, 2, 4 or 8
  int blocks = 0;           // at least one; to a Gpu 0 is as many as it holds at a time
};
// Bytes that the launch moves: passes * bytes, twice that for a copy.
std::int64_t BytesMoved(const BandwidthCall& call);

// What arithmetic can do outside of Tensor Cores: chains of dependent multiply-adds, enough of them side by side to
// hide their latency. Narrower types reach their peaks in products alone, which the libraries have.
enum class ArithmeticPeak { kF32, kF64 };
struct ArithmeticCall {
  ArithmeticPeak kind = ArithmeticPeak::kF32;
  void* to = nullptr;  // 16 bytes; never written in practice, so that no work can be left out
  int iterations = 4096;
  int blocks = 0;  // likewise
};
// Operations of the launch with so many blocks: two for each multiply-add.
std::int64_t OperationsOf(const ArithmeticCall& call, int blocks);

}  // namespace infimum::cuda
