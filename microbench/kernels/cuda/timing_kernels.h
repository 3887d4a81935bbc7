// Kernels that serve the timing of others, and those that measure what a device can do at most. All queue on `stream`
// (a cudaStream_t) and return a cudaError_t, 0 for success.
#pragma once

#include <cstdint>

namespace infimum::cuda {

// One block that does nothing: the floor of a launch.
int LaunchEmpty(void* stream);

// Writes `bytes` (a multiple of 16) of device memory, aligned to 16: with twice the second-level cache nothing of
// before is left in it.
int LaunchFlush(void* memory, std::int64_t bytes, void* stream);

// Holds the stream until the host sets *flag (host memory mapped into the device's addresses) to something but 0, or
// `most_ns` have passed by the device's global timer; a bound in clocks of the multiprocessor ends it even where that
// timer stands still. What was queued behind it then starts without waiting for the host.
int LaunchHold(const std::uint32_t* flag, std::uint64_t most_ns, void* stream);

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
  int blocks = 0;           // 0: as many as the device holds at a time
};
int LaunchBandwidth(const BandwidthCall& call, void* stream);
// Bytes that the launch moves: passes * bytes, twice that for a copy.
std::int64_t BytesMoved(const BandwidthCall& call);

// What arithmetic can do outside of Tensor Cores: chains of dependent multiply-adds, enough of them side by side to
// hide their latency. Narrower types reach their peaks in products alone, which the libraries have.
enum class ArithmeticPeak { kF32, kF64 };
struct ArithmeticCall {
  ArithmeticPeak kind = ArithmeticPeak::kF32;
  void* to = nullptr;  // 16 bytes; never written in practice, so that no work can be left out
  int iterations = 4096;
  int blocks = 0;  // 0: as many as the device holds at a time
};
int LaunchArithmetic(const ArithmeticCall& call, void* stream);
// Operations of the launch with so many blocks: two for each multiply-add.
std::int64_t OperationsOf(const ArithmeticCall& call, int blocks);
// What `blocks = 0` becomes on the current device: multiprocessors * blocks that one of them holds. 0 without a device.
int ArithmeticBlocks(ArithmeticPeak kind);

}  // namespace infimum::cuda
