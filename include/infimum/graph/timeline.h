// What happened when, in one profiled process: calls on the host's threads, work on the devices' streams, and which
// call started which work. The one form that traces of every profiler are read into (Kineto, Nsight Systems, ONNX
// Runtime with CUDA), as plain values; what they mean is the analyzer's business.
//
//   aten::linear   ----------------           host call, operator, thread 0
//     cudaLaunchKernel  ---                   host call, runtime, thread 0, correlation 77
//                            gemm  --------   device work, kernel, stream 0, correlation 77
//
// Made for millions of entries: a name is stored once, an entry takes 48 bytes or less. Times are nanoseconds since an
// origin of the trace's own, exact to what the profiler wrote (a double would lose 0.25 us of a clock that counts from
// 1970).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "src/core/graph/name_table.h"

namespace infimum {

enum class HostCallKind : std::uint8_t {
  kOperator,    // of the framework: "aten::linear", a node of ONNX Runtime
  kRuntime,     // of the CUDA, driver or HIP interface: "cudaLaunchKernel"
  kAnnotation,  // a range that a person named: record_function, NVTX
};

enum class DeviceWorkKind : std::uint8_t { kKernel, kCopy, kSet };

struct HostCall {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t correlation = -1;  // of a runtime call: the work with the same number was started by it; else -1
  std::int64_t external_id = -1;  // of an operator: its number; of a runtime call: the operator's that called; else -1
  NameId name = kNoName;
  NameId shapes = kNoName;   // of an operator: its operands' shapes as the profiler wrote them: "[[1,64,56,56],[64]]"
  std::uint32_t thread = 0;  // index into Timeline::threads
  HostCallKind kind = HostCallKind::kOperator;
};

struct DeviceWork {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t correlation = -1;
  std::int64_t external_id = -1;
  NameId name = kNoName;
  NameId launch = kNoName;   // of a kernel: "grid [50,1,1] block [256,1,1]"; kNoName where it is not recorded
  std::uint32_t stream = 0;  // index into Timeline::streams
  DeviceWorkKind kind = DeviceWorkKind::kKernel;
};

struct TimelineThread {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  friend bool operator==(const TimelineThread&, const TimelineThread&) = default;
};

struct TimelineStream {
  std::int64_t device = 0;  // as the profiler numbers them
  std::int64_t stream = 0;
  friend bool operator==(const TimelineStream&, const TimelineStream&) = default;
};

struct TimelineDevice {
  std::int64_t number = 0;
  std::string name;                  // "NVIDIA H100 80GB HBM3"
  std::int64_t multiprocessors = 0;  // 0: not known
};

struct Timeline {
  std::string profiler;  // "kineto", "nsys"
  NameTable names;
  // Deques, since growing one never copies: reading takes no more memory than what was read.
  std::deque<HostCall> host_calls;     // by start; of equal ones the longer first, so that a caller precedes
  std::deque<DeviceWork> device_work;  // by start
  std::vector<TimelineThread> threads;
  std::vector<TimelineStream> streams;
  std::vector<TimelineDevice> devices;
  // From the first to the last event of the trace, also of kinds that are not kept.
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::int64_t events = 0;           // in the file
  double skipped_share = 0;          // of the devices' time: of work that could not be read, about
  std::vector<std::string> remarks;  // what was passed over or forgiven, with numbers

  std::int64_t duration_ns() const { return last_ns - first_ns; }
};

// Puts calls and work into the order that Timeline promises.
void SortByStart(Timeline& timeline);

}  // namespace infimum
